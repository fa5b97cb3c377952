//! One service the operator configured.

use core::marker::PhantomData;

use super::{Changes, Handle, HandleFamily, HandleKind, OnDevice, Reads, Targetless, sealed};
use crate::call::Call;

/// A method an endpoint kind may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HttpMethod {
    /// Reads.
    Get,
    /// Changes.
    Post,
}

/// A kind of service: its configured name and every method and path that may ever be sent to it.
///
/// ```
/// use capability_core::handle::{EndpointKind, HttpMethod, Reads};
///
/// /// The household's metasearch.
/// struct Searxng;
/// impl EndpointKind for Searxng {
///     const NAME: &'static str = "searxng";
///     type Power = Reads;
///     const ALLOWED: &'static [(HttpMethod, &'static str)] = &[(HttpMethod::Get, "/search")];
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of endpoint, and `#[capability]` lends no other: a kind is a type of yours that says which service it is and what may be sent there\nhelp: write `impl capability_core::handle::EndpointKind for {Self} {{ .. }}` for a type of yours",
    label = "not a kind of endpoint"
)]
pub trait EndpointKind: Send + Sync + 'static {
    /// The name under which the operator configures it.
    const NAME: &'static str;
    /// [`Reads`] or [`Changes`]: a kind that only reads allows only [`HttpMethod::Get`], and only a kind that changes is
    /// kept from `read_only` capabilities.
    type Power: EndpointPower;
    /// Everything the broker will send, by method and path; anything else is refused before a connection exists.
    const ALLOWED: &'static [(HttpMethod, &'static str)];
}

/// [`Reads`] or [`Changes`].
pub trait EndpointPower: sealed::Sealed {
    /// Whether methods that change something may be allowed.
    #[doc(hidden)]
    const MAY_CHANGE: bool;
}
impl sealed::Sealed for Reads {}
impl sealed::Sealed for Changes {}
impl EndpointPower for Reads {
    const MAY_CHANGE: bool = false;
}
impl EndpointPower for Changes {
    const MAY_CHANGE: bool = true;
}

/// Whether everything that is allowed only reads.
#[expect(clippy::indexing_slicing, reason = "const fn: iterators are not const, and every index is below the length")]
const fn only_reads(allowed: &[(HttpMethod, &str)]) -> bool {
    let mut at = 0;
    while at < allowed.len() {
        if !matches!(allowed[at].0, HttpMethod::Get) {
            return false;
        }
        at += 1;
    }
    true
}

/// The service of kind `K` that the operator configured. The broker speaks with it and keeps credential and session.
///
/// What it reaches counts as outside the device unless the operator's configuration says `device`, and only such an
/// endpoint binds to a `local` capability; both are checked when the binding is made, not here.
///
/// A host without a broker for it does not serve it: a capability that takes it is then refused at policy with
/// `missing_runtime_binding`, visible to operators.
pub struct Endpoint<K>(
    #[expect(dead_code, reason = "the lease under which a broker will be asked")] Call,
    PhantomData<K>,
);

impl<K> core::fmt::Debug for Endpoint<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Endpoint")
    }
}

impl<K> sealed::Sealed for Endpoint<K> {}
impl<K: EndpointKind> Handle for Endpoint<K> {
    const KIND: HandleKind = {
        assert!(
            K::Power::MAY_CHANGE || only_reads(K::ALLOWED),
            "an endpoint kind whose `Power` is `Reads` allows `HttpMethod::Get` only\nhelp: write `type Power = Changes;`"
        );
        HandleKind::new(HandleFamily::Endpoint, K::NAME)
    };
    type Reach = OnDevice;
    type Power = K::Power;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone(), PhantomData)
    }
}

//! A secret the operator bound.

use core::marker::PhantomData;

use super::{Handle, HandleFamily, HandleKind, OnDevice, Reads, Targetless, sealed};
use crate::call::Call;

/// A kind of secret: the name under which the operator binds it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of secret, and `#[capability]` lends no other: a kind is a type of yours that says which secret the operator binds\nhelp: write `impl capability_core::handle::SecretKind for {Self} {{ const NAME: &'static str = \"..\"; }}` for a type of yours",
    label = "not a kind of secret"
)]
pub trait SecretKind: Send + Sync + 'static {
    /// The configured name. The audit holds this name, never the value.
    const NAME: &'static str;
}

/// The secret of kind `K`. It has no `Debug` of its value, no `Display` and no `Serialize`.
///
/// A host without a secret broker does not serve it: a capability that takes it is then refused at policy with
/// `missing_runtime_binding`, visible to operators.
pub struct Secret<K>(
    #[expect(dead_code, reason = "the lease under which a broker will be asked")] Call,
    PhantomData<K>,
);

impl<K> core::fmt::Debug for Secret<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secret")
    }
}

impl<K> sealed::Sealed for Secret<K> {}
impl<K: SecretKind> Handle for Secret<K> {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Secret, K::NAME);
    type Reach = OnDevice;
    type Power = Reads;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone(), PhantomData)
    }
}

//! The approved public host.

use super::{Handle, HandleFamily, HandleKind, OffDevice, Reads, Targets, sealed};
use crate::call::Call;

/// Connects only to the host and port that this invocation's `target` named when it was judged and approved.
///
/// A host without a network broker does not serve it: a capability that takes it is then refused at policy with
/// `missing_runtime_binding`, visible to operators.
#[derive(Debug)]
pub struct Http(#[expect(dead_code, reason = "the lease under which a network broker will be asked")] Call);

impl sealed::Sealed for Http {}
impl Handle for Http {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Http, "");
    type Reach = OffDevice;
    type Power = Reads;
    type Scope = Targets;

    fn lend(call: &Call) -> Self {
        Self(call.clone())
    }
}

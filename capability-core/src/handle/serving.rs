//! Whoever stands behind the handles.

use super::{BrokerFault, BrokerReply, BrokerRequest, HandleKind, Lease};
use crate::audit::SecretSource;
use crate::contract::Class;
use crate::future::BoxFuture;

/// Serves the handles of every invocation. The host implements it; a capability never sees it.
pub trait Broker: Send + Sync + 'static {
    /// Whether a capability of this class that holds `kind` can run here. Asked before anything runs: what is not served is
    /// refused at policy with `missing_runtime_binding`. A `local` capability is not served by an endpoint that the
    /// operator did not place on the device.
    fn serves(&self, kind: HandleKind, class: Class) -> bool;

    /// Whether the secret of that name can be bound to a command now. Asked at policy; what cannot is refused with
    /// `secret_unbound`.
    fn binds_secret(&self, _name: &str) -> bool {
        false
    }

    /// Where the secret of that name comes from, for the record that it is bound; none where that is not told.
    fn secret_source(&self, _name: &str) -> Option<SecretSource> {
        None
    }

    /// Serves one request under a lease. [`Call::ask`](crate::Call::ask) has made sure that the lease's entry declares the
    /// handle, that the call is confirmed where it must be, and that it has not ended.
    fn serve(&self, lease: &Lease, request: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>>;
}

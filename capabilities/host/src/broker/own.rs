//! What happened in a subject's name, and the tools of providers: requests that name neither subject nor tool, because the lease does.

use std::sync::Arc;

use capability_core::BoxFuture;
use capability_core::audit::Receipt;
use capability_core::contract::TargetKind;
use capability_core::handle::{BrokerFault, BrokerReply, Lease, OwnCalls};
use capability_core::provider::ProviderType;

use super::{HostBroker, Own, refused};
use crate::audit_log::own_calls;

impl HostBroker {
    /// A result of the lease's own session: there is nothing in the request that could name another.
    pub(super) fn recall(
        &self,
        lease: &Lease,
        receipt: Receipt,
    ) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        let Some(Own { results, .. }) = &self.own else { return refused(BrokerFault::Unserved) };
        let identity = lease.identity();
        let found = results.find(identity.id, &identity.subject, receipt, self.environment.now());
        Box::pin(async move {
            let found = found.await.map_err(|_| BrokerFault::Unavailable)?;
            Ok(BrokerReply::Recalled(found.map(Box::new)))
        })
    }

    /// What the lease's own subject asked for.
    pub(super) fn reflect(
        &self,
        lease: &Lease,
        wanted: OwnCalls,
    ) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        let Some(Own { log, .. }) = self.own.clone() else { return refused(BrokerFault::Unserved) };
        let subject = lease.identity().subject.clone();
        self.carried(lease, async move {
            let read = tokio::task::spawn_blocking(move || own_calls(&log, &subject, &wanted)).await;
            let calls = read.ok().and_then(Result::ok).ok_or(BrokerFault::Unavailable)?;
            Ok(BrokerReply::Reflected(calls))
        })
    }

    /// The tool and the arguments are those that were judged: nothing else is named.
    pub(super) fn call_tool(&self, lease: &Lease) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        let (Some(providers), Some((decision, arguments))) = (self.providers.clone(), lease.provided()) else {
            return refused(BrokerFault::Unserved);
        };
        if decision.provider_type != ProviderType::Mcp {
            let edges = self.edges.as_ref();
            let called = edges.and_then(|edges| edges.call_tool(decision, arguments, lease.identity()));
            let Some(called) = called else { return refused(BrokerFault::Unserved) };
            return self.carried(lease, async move { called.await.map(|reply| BrokerReply::Called(Box::new(reply))) });
        }
        let (decision, arguments) = (Arc::clone(decision), arguments.to_vec());
        let who = lease.identity().clone();
        self.carried(lease, async move {
            let called = providers.call(&decision, &arguments, &who).await;
            called.map(|reply| BrokerReply::Called(Box::new(reply)))
        })
    }

    pub(super) fn connect_provider(&self, lease: &Lease) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        let (Some(providers), Some((TargetKind::Text, name))) = (self.providers.clone(), lease.target()) else {
            return refused(BrokerFault::Unserved);
        };
        let (name, who) = (name.to_owned(), lease.identity().clone());
        self.carried(lease, async move { providers.connect(&name, Some(&who)).await.map(BrokerReply::Connected) })
    }
}

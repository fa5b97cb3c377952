//! What the broker does for agents and for trees.

use std::sync::Arc;

use capability_core::BoxFuture;
use capability_core::handle::{BrokerFault, BrokerReply, BrokerRequest, Lease, TreeMove};

use super::{HostBroker, refused};

impl HostBroker {
    /// Agents: what one is, a turn of one, and what became of those that were started.
    pub(super) fn of_agents(
        &self,
        lease: &Lease,
        request: BrokerRequest,
    ) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        let Some(agents) = self.agents.clone() else { return refused(BrokerFault::Unserved) };
        let leased = lease.clone();
        self.carried(lease, async move {
            match request {
                BrokerRequest::Agent { agent } => {
                    agents.look(&leased, &agent).map(|seen| BrokerReply::Agent(Box::new(seen)))
                }
                BrokerRequest::RunAgent { agent, task } => {
                    let answer = agents.run(&leased, &agent, task).await;
                    answer.map(|answer| BrokerReply::AgentAnswered(Box::new(answer)))
                }
                BrokerRequest::SpawnAgent { agent, task } => {
                    agents.spawn(&leased, &agent, task).map(BrokerReply::AgentStarted)
                }
                BrokerRequest::AgentRuns => Ok(BrokerReply::AgentRuns(agents.list(leased.identity()))),
                BrokerRequest::StopAgent { run } => {
                    agents.stop(leased.identity(), run).await.map(|()| BrokerReply::Done)
                }
                _ => Err(BrokerFault::Unserved),
            }
        })
    }

    /// What a tree's move would do, or the move itself where `sink` is there to record it.
    pub(super) fn in_trees(
        &self,
        lease: &Lease,
        (tree, wanted): (String, TreeMove),
        makes: bool,
    ) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        let (trees, leased, environment) = (Arc::clone(&self.trees), lease.clone(), Arc::clone(&self.environment));
        let Some(sink) = self.sink.clone() else { return refused(BrokerFault::Unserved) };
        self.carried(lease, async move {
            let act = move || {
                if !makes {
                    return trees.plan(&tree, &wanted).map(|plan| BrokerReply::TreePlan(Box::new(plan)));
                }
                trees.make(&tree, &wanted, &leased, (&*sink, &*environment)).map(BrokerReply::TreeMoved)
            };
            tokio::task::spawn_blocking(act).await.unwrap_or(Err(BrokerFault::Unavailable))
        })
    }
}

//! What operators see of the turns that are under way, and how they end one.

use capability_core::audit::RunKind;
use capability_core::handle::BrokerFault;
use capability_core::session::SessionId;

use super::{Agents, ENDING, Live};
use crate::host::Running;

impl Agents {
    /// The turns that are under way, whoever started them.
    pub fn running(&self) -> Vec<Running> {
        self.turns().live.values().map(told).collect()
    }

    /// Ends one, whoever started it, and waits until it is gone.
    pub async fn end(&self, run: SessionId) -> Result<(), BrokerFault> {
        let gone = {
            let turns = self.turns();
            let live = turns.live.values().find(|live| live.session.identity().id == run);
            let live = live.ok_or(BrokerFault::UnknownRun)?;
            live.stop.cancel();
            live.gone.clone()
        };
        tokio::time::timeout(ENDING, gone.cancelled()).await.map_err(|_| BrokerFault::TimedOut)
    }
}

fn told(live: &Live) -> Running {
    let identity = live.session.identity();
    Running {
        id: identity.id.to_string(),
        kind: RunKind::Agent,
        what: live.chain.last().cloned().unwrap_or_default(),
        subject: identity.subject.clone(),
        acts_for: Some(live.parent.clone()),
        since: live.began_at,
        ends_at: live.ends_at,
        invocation: live.invocation,
    }
}

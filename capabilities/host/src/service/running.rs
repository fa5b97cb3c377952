//! `running`.

use rustix::process::Pid;
use serde_json::json;

use super::{Service, document};
use crate::protocol::{Fault, Reply, RunningRequest, RunningShown};

impl Service {
    pub(super) async fn of_running(&self, request: &RunningRequest, peer: Option<Pid>) -> Result<Reply, Fault> {
        match request {
            RunningRequest::List(proof) => {
                let running = self.host.running(&self.operator(proof, peer)?);
                document(&running.into_iter().map(RunningShown::from).collect::<Vec<_>>())
            }
            RunningRequest::Stop(proof, id) => {
                let operator = self.operator(proof, peer)?;
                let kind = self.host.stop_running(&operator, id).await.map_err(|error| Fault::told(4, &error))?;
                document(&json!({ "stopped": id, "kind": kind }))
            }
        }
    }
}

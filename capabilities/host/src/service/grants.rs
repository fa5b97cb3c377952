//! `grants`: standing answers.

use capability_core::approval::{ApprovalId, Grant, GrantId, GrantLimit, Operator};
use capability_core::executor::GrantFault;
use serde_json::{Value, json};

use super::Service;
use super::approvals::{broken, refused};
use crate::protocol::Fault;

impl Service {
    pub(crate) async fn grant(&self, operator: &Operator, id: ApprovalId, limit: GrantLimit) -> Result<Grant, Fault> {
        let given = self.granted(operator, id, limit).await;
        given.map_err(|fault| match fault {
            GrantFault::Answer(fault) => refused(fault),
            GrantFault::Half => Fault::broken(fault.to_string(), fault.help()),
            _ => Fault::refused(fault.to_string(), fault.help()),
        })
    }

    /// A standing answer, whichever way it came.
    pub(crate) async fn granted(
        &self,
        operator: &Operator,
        id: ApprovalId,
        limit: GrantLimit,
    ) -> Result<Grant, GrantFault> {
        let given = self.host.executor().grant(operator, id, limit).await;
        if matches!(given, Ok(_) | Err(GrantFault::Half)) {
            self.remember(operator, id, "approved");
        }
        given
    }

    pub(crate) async fn grants(&self, operator: &Operator) -> Result<Vec<Grant>, Fault> {
        self.host.executor().grants(operator).await.map_err(broken)
    }

    pub(crate) async fn revoke(&self, operator: &Operator, id: Option<GrantId>) -> Result<Value, Fault> {
        let revoked = self.host.executor().revoke(operator, id).await.map_err(|fault| match fault {
            capability_core::executor::AnswerFault::Not(_) => {
                Fault::refused("no grant of that id is alive", "see those that are with `capability grants list`")
            }
            fault => refused(fault),
        })?;
        Ok(json!({ "revoked": revoked }))
    }
}

//! `approvals`: what waits, a person's answers, and waiting for them.

use core::time::Duration;

use capability_core::Session;
use capability_core::approval::{
    ApprovalId, ApprovalSummary, DenialLoop, DenialReason, HistoryEntry, MAX_NOTE_BYTES, Operator,
};
use capability_core::audit::Receipt;
use capability_core::executor::AnswerFault;
use capability_core::session::Subject;
use capability_core::store::{Answer, Found, StoreFault};

use serde_json::{Value, json};

use super::answered::AnsweredBy;
use super::{DOCTOR, Service};
use crate::protocol::{ApprovalDetail, EditReply, Fault, Waited};

/// How many may wait for an answer at a time.
pub(super) const MAX_WAITERS: usize = 32;
/// How long one of them waits before it has to ask anew.
const WAIT: Duration = Duration::from_secs(30);

impl Service {
    pub(crate) async fn waiting(&self, operator: &Operator) -> Result<Vec<ApprovalSummary>, Fault> {
        self.host.executor().waiting(operator).await.map_err(broken)
    }

    pub(crate) async fn show(&self, operator: &Operator, id: ApprovalId) -> Result<ApprovalDetail, Fault> {
        let executor = self.host.executor();
        let found = executor.approval(operator, id).await.map_err(broken)?;
        let Some(Found { summary, filed, successor, .. }) = found else {
            return Err(Fault::refused("no approval has that id", LIST));
        };
        let (grant, last_approved) = match &filed {
            None => (None, None),
            Some(_) => {
                let ApprovalSummary { identity, capability, version, .. } = &summary;
                let last = executor.last_approved(operator, &identity.subject, capability, *version);
                (executor.grant_preview(operator, id).await.map_err(broken)?, last.await.map_err(broken)?)
            }
        };
        let content = filed.map(|filed| filed.approval);
        let foreign = content.as_ref().and_then(|pending| self.foreign_tool(pending));
        let failing = content.as_ref().map(|pending| self.failing(pending, foreign.as_ref())).unwrap_or_default();
        Ok(ApprovalDetail { summary, content, successor, grant, last_approved, foreign, failing })
    }

    pub(super) async fn approve(&self, operator: &Operator, id: ApprovalId) -> Result<Value, Fault> {
        self.answer(operator, id, Answer::Approve).await
    }

    pub(super) async fn deny(
        &self,
        operator: &Operator,
        id: ApprovalId,
        reason: Option<DenialReason>,
        note: &Option<String>,
    ) -> Result<Value, Fault> {
        if note.as_ref().is_some_and(|note| note.len() > MAX_NOTE_BYTES) {
            return Err(Fault::usage("that note is too long", "write at most 1 KiB"));
        }
        self.answer(operator, id, Answer::Deny { reason, note: note.clone() }).await
    }

    async fn answer(&self, operator: &Operator, id: ApprovalId, answer: Answer) -> Result<Value, Fault> {
        let status = word(&answer);
        let receipt = self.answered(operator, id, answer).await.map_err(refused)?;
        Ok(json!({ "approval": id, "status": status, "receipt": receipt }))
    }

    /// An operator's answer, whichever way it came.
    pub(crate) async fn answered(
        &self,
        operator: &Operator,
        id: ApprovalId,
        answer: Answer,
    ) -> Result<Receipt, AnswerFault> {
        let answered = word(&answer);
        let receipt = self.host.executor().answer(operator, id, answer).await?;
        self.remember(operator, id, answered);
        Ok(receipt)
    }

    /// Keeps who answered at hand.
    pub(super) fn remember(&self, operator: &Operator, id: ApprovalId, answer: &'static str) {
        let (operator, at) = (operator.name().clone(), self.host.environment().now());
        self.answered.remember(id, AnsweredBy { operator, answer, at });
    }

    /// Who answered it, for whoever comes second.
    pub(crate) fn answered_by(&self, id: ApprovalId) -> Option<AnsweredBy> {
        self.answered.of(id)
    }

    /// Puts a call with other arguments in a pending one's place, as its subject could ask for it now.
    pub(crate) async fn edit(&self, operator: &Operator, id: ApprovalId, arguments: &str) -> Result<EditReply, Fault> {
        let executor = self.host.executor();
        let found = executor.approval(operator, id).await.map_err(broken)?;
        let found = found.ok_or_else(|| Fault::refused("no approval has that id", LIST))?;
        let (identity, slot) = (found.summary.identity, found.filed.and_then(|filed| filed.approval.slot));
        let session = self.session_for(identity.subject, slot.as_ref(), identity.mode, identity.turn, None)?;
        let edited = executor.edit(operator, &session, id, arguments.as_bytes()).await.map_err(refused)?;
        let (successor, superseded) = (edited.successor(), edited.superseded);
        if superseded {
            self.remember(operator, id, "edited");
        }
        let outcome = serde_json::to_value(&edited.outcome).map_err(|_| super::unsaid())?;
        Ok(EditReply { outcome, superseded, successor })
    }

    pub(crate) async fn erase_retained(&self, operator: &Operator, subject: Option<&Subject>) -> Result<Value, Fault> {
        let erased = self.host.executor().erase_retained(operator, subject).await.map_err(refused)?;
        Ok(json!({ "subject": subject, "erased": erased }))
    }

    pub(crate) async fn denial_loops(&self, operator: &Operator) -> Result<Vec<DenialLoop>, Fault> {
        self.host.executor().denial_loops(operator).await.map_err(broken)
    }

    pub(crate) async fn clear_denials(&self, operator: &Operator, subject: &Subject) -> Result<Value, Fault> {
        let cleared = self.host.executor().clear_denials(operator, subject).await.map_err(refused)?;
        Ok(json!({ "subject": subject, "cleared": cleared }))
    }

    /// Waits for an answer, for a while, where there is room to.
    pub(super) async fn wait(&self, session: &Session, id: ApprovalId) -> Result<Waited, Fault> {
        let Ok(_room) = self.waiters.try_acquire() else { return Ok(Waited { pending: true, crowded: true }) };
        match tokio::time::timeout(WAIT, self.host.executor().answered(session, id)).await {
            Ok(answered) => answered.map(|()| Waited { pending: false, crowded: false }).map_err(broken),
            Err(_) => Ok(Waited { pending: true, crowded: false }),
        }
    }

    pub(super) async fn history(&self, session: &Session, most: u32) -> Result<Vec<HistoryEntry>, Fault> {
        self.host.executor().history(session, most.min(super::MOST_ENTRIES)).await.map_err(broken)
    }
}

pub(super) const LIST: &str = "see what waits with `capability approvals list`";

pub(super) fn broken(error: StoreFault) -> Fault {
    Fault::broken(error.to_string(), DOCTOR)
}

pub(super) fn refused(fault: AnswerFault) -> Fault {
    match fault {
        AnswerFault::Not(_) => Fault::refused(fault.to_string(), LIST),
        AnswerFault::Store | AnswerFault::Audit => Fault::broken(fault.to_string(), DOCTOR),
    }
}

const fn word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Approve => "approved",
        Answer::Deny { .. } => "denied",
    }
}

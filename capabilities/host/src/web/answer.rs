//! Answers to what waits, with the same conditions whichever way they come: shown, long enough, and named where it is grave.

use core::time::Duration;
use std::sync::Arc;

use capability_core::approval::{
    ApprovalId, ApprovalStatus, DenialReason, Grant, GrantLimit, MAX_NOTE_BYTES, PendingApproval,
};
use capability_core::audit::Receipt;
use capability_core::contract::Risk;
use capability_core::executor::{AnswerFault, GrantFault};
use capability_core::policy::Verdict;
use capability_core::store::{Answer, Moved};
use sha2::{Digest, Sha256};

use super::Shared;
use super::guard::Who;
use super::refused::Refused;
use super::seal::{Stamp, Version};
use crate::display::needs_a_second_look;
use crate::display::target::target;
use crate::protocol::{ApprovalDetail, EditReply};
use crate::service::Service;

/// How long a card is shown before it can be approved: a click that was meant for something else comes sooner.
pub const ARM: Duration = Duration::from_millis(700);

/// What comes along with a yes.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Consent {
    /// What the card carried: that it was shown to this session, and when.
    pub stamp: String,
    /// The word that the card asks for, where it asks for one.
    #[serde(default)]
    pub typed: Option<String>,
}

/// The call that a card shows and where it stands, as one number. What is told beside it about other calls is left out: it
/// may change while somebody reads.
pub fn version(detail: &ApprovalDetail) -> Version {
    let shown = (&detail.summary, &detail.content);
    Sha256::digest(serde_json::to_vec(&shown).unwrap_or_default()).into()
}

/// Whether only a fresh answer to this very call meets what is asked.
pub fn is_fresh(pending: &PendingApproval) -> bool {
    pending.verdict > Verdict::Ask
}

/// The word that is typed to approve it: where it is grave, or where something in it hides or looks like something else.
/// It is the part of the target that tells it from others, or the capability's own last name; written as it is shown.
pub fn word(pending: &PendingApproval) -> Option<String> {
    let grave = is_fresh(pending) && pending.risk >= Risk::High;
    if !grave && !needs_a_second_look(pending) {
        return None;
    }
    let label = pending.target.as_ref().and_then(|(kind, text)| target(*kind, text).last_label());
    let own = || pending.capability.rsplit('.').next().unwrap_or(&pending.capability).to_owned();
    Some(label.unwrap_or_else(own))
}

/// An approval that waits, for whoever is about to answer it.
pub async fn detail(web: &Shared, who: &Who, id: ApprovalId) -> Result<ApprovalDetail, Refused> {
    web.service().show(&web.operator(who), id).await.map_err(|fault| match fault.exit {
        4 => Refused::not_found(fault.message, "see what waits in the queue"),
        _ => fault.into(),
    })
}

/// Says yes, when it was shown as it is, long enough, and named where it is grave.
pub async fn approve(web: &Shared, who: &Who, id: ApprovalId, consent: &Consent) -> Result<Receipt, Refused> {
    check(web, who, id, consent).await?;
    answer(web, who, id, Answer::Approve).await
}

/// Says yes, and gives a standing answer for its like. The conditions are those of a yes.
pub async fn grant(
    web: &Shared,
    who: &Who,
    id: ApprovalId,
    consent: &Consent,
    limit: GrantLimit,
) -> Result<Grant, Refused> {
    check(web, who, id, consent).await?;
    let (service, operator) = (Arc::clone(web.service()), web.operator(who));
    web.whole(async move {
        service.granted(&operator, id, limit).await.map_err(|fault| match fault {
            GrantFault::Answer(fault) => not_answered(&service, id, fault),
            GrantFault::Half => crate::protocol::Fault::broken(fault.to_string(), fault.help()).into(),
            _ => Refused::conflict("no_grant", fault.to_string(), fault.help()),
        })
    })
    .await
}

/// Puts a call with other arguments in its place, approved. The conditions are those of a yes.
pub async fn edit(
    web: &Shared,
    who: &Who,
    id: ApprovalId,
    consent: &Consent,
    arguments: String,
) -> Result<EditReply, Refused> {
    let detail = check(web, who, id, consent).await?;
    let (service, operator) = (Arc::clone(web.service()), web.operator(who));
    web.whole(async move {
        let edited = service.edit(&operator, id, &arguments).await;
        edited.map_err(|fault| match service.answered_by(id) {
            Some(_) => second(&service, id, detail.summary.status),
            None => fault.into(),
        })
    })
    .await
}

/// What every yes needs: that it was shown as it is, long enough, and named where it is grave.
async fn check(web: &Shared, who: &Who, id: ApprovalId, consent: &Consent) -> Result<ApprovalDetail, Refused> {
    let detail = detail(web, who, id).await?;
    let Some(pending) = detail.content.as_ref().filter(|_| detail.summary.status == ApprovalStatus::Pending) else {
        return Err(second(web.service(), id, detail.summary.status));
    };
    match web.seal().read(&who.id, &version(&detail), &consent.stamp) {
        Stamp::Shown(since) if since >= ARM => {}
        Stamp::Shown(_) => {
            return Err(Refused::conflict(
                "too_soon",
                "the answer came sooner than the card can be read",
                "look at the card again, and answer then",
            ));
        }
        Stamp::Other => {
            return Err(Refused::conflict(
                "not_as_shown",
                "what waits is not what was shown, or was shown to somebody else",
                "look at the card again, and answer what it shows",
            ));
        }
    }
    let typed = consent.typed.as_deref().map(str::trim).unwrap_or_default();
    if word(pending).is_some_and(|word| word != typed) {
        return Err(Refused::conflict(
            "not_named",
            "this call is approved by typing what the card asks for",
            "look at the card again, and type the word that it shows",
        ));
    }
    Ok(detail)
}

/// Says no. That needs no more than to be an operator.
pub async fn deny(
    web: &Shared,
    who: &Who,
    id: ApprovalId,
    reason: Option<DenialReason>,
    note: Option<String>,
) -> Result<Receipt, Refused> {
    if note.as_ref().is_some_and(|note| note.len() > MAX_NOTE_BYTES) {
        return Err(Refused::malformed("that note is too long", "write at most 1 KiB"));
    }
    let note = note.map(|note| note.trim().to_owned()).filter(|note| !note.is_empty());
    answer(web, who, id, Answer::Deny { reason, note }).await
}

async fn answer(web: &Shared, who: &Who, id: ApprovalId, answer: Answer) -> Result<Receipt, Refused> {
    let (service, operator) = (Arc::clone(web.service()), web.operator(who));
    web.whole(async move {
        service.answered(&operator, id, answer).await.map_err(|fault| not_answered(&service, id, fault))
    })
    .await
}

fn not_answered(service: &Service, id: ApprovalId, fault: AnswerFault) -> Refused {
    match fault {
        AnswerFault::Not(Moved::Not(status)) => second(service, id, status),
        AnswerFault::Not(_) => Refused::not_found(fault.to_string(), "see what waits in the queue"),
        AnswerFault::Store | AnswerFault::Audit => {
            crate::protocol::Fault::broken(fault.to_string(), "look at the host with `capability doctor`").into()
        }
    }
}

/// For whoever comes second: who was first.
fn second(service: &Service, id: ApprovalId, status: ApprovalStatus) -> Refused {
    let message = match service.answered_by(id) {
        Some(by) => format!("already {} by {} at {}", by.answer, by.operator, by.at),
        None => format!("that approval is {status}: only a pending one can be answered"),
    };
    Refused::conflict("already_answered", message, "see what waits in the queue")
}

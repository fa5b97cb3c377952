//! The same for programs: an operator's own, with the token of an operator session or a session of the pages.

use core::num::NonZeroU32;
use core::time::Duration;

use axum::extract::{Path, State};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use capability_core::Timestamp;
use capability_core::approval::{ApprovalStatus, DenialReason, GrantLimit, PendingApproval};
use capability_core::audit::Receipt;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::{self, Consent};
use super::board::Waiting;
use super::forms::{Asked, Document, Named};
use super::guard::Who;
use super::pages::audit::{self, Chain, Filter};
use super::pages::grants::take_back;
use super::pages::policy::{self, About, Call};
use super::refused::Refused;
use super::{Shared, api_document, inbox, opt_in};
use crate::display::target::Brief;
use crate::protocol::{Fault, InboxPart, ProvidersShown, Row, Switch};
use crate::skill::SkillTold;

/// One operation: how it is asked for, and what the document says of it.
pub struct Operation {
    pub method: &'static str,
    pub path: &'static str,
    pub summary: &'static str,
    /// What the body holds.
    pub takes: Option<Shape>,
    /// What stands after the question mark.
    pub asks: Option<Shape>,
    /// What it answers.
    pub gives: Shape,
    handler: fn() -> MethodRouter<Shared>,
}

/// A shape, as a schema.
pub type Shape = fn(&mut SchemaGenerator) -> Schema;

fn shape<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Every operation: what is not here is not served, and what is here is in the document.
pub const OPERATIONS: [Operation; 19] = [
    Operation {
        method: "get",
        path: "/api/openapi.json",
        summary: "This document",
        takes: None,
        asks: None,
        gives: shape::<Value>,
        handler: || get(document),
    },
    Operation {
        method: "get",
        path: "/api/approvals",
        summary: "What waits: the gravest first, and of those what expires first",
        takes: None,
        asks: None,
        gives: shape::<Queue>,
        handler: || get(queue),
    },
    Operation {
        method: "get",
        path: "/api/approvals/{id}",
        summary: "One approval with its content, and the stamp that an approval brings along",
        takes: None,
        asks: None,
        gives: shape::<Card>,
        handler: || get(card),
    },
    Operation {
        method: "post",
        path: "/api/approvals/{id}/approve",
        summary: "Approve this very call, once: 700 ms after its card was read, or later",
        takes: Some(shape::<Consent>),
        asks: None,
        gives: shape::<AnsweredNow>,
        handler: || post(approve),
    },
    Operation {
        method: "post",
        path: "/api/approvals/{id}/deny",
        summary: "Deny it, for good",
        takes: Some(shape::<Denial>),
        asks: None,
        gives: shape::<AnsweredNow>,
        handler: || post(deny),
    },
    Operation {
        method: "post",
        path: "/api/approvals/{id}/edit",
        summary: "Put a call with other arguments in its place, checked from the start and approved once",
        takes: Some(shape::<Edit>),
        asks: None,
        gives: shape::<Edited>,
        handler: || post(edit),
    },
    Operation {
        method: "post",
        path: "/api/approvals/{id}/grant",
        summary: "Approve this call, and its like for a while, where grants are on",
        takes: Some(shape::<Standing>),
        asks: None,
        gives: shape::<Value>,
        handler: || post(grant),
    },
    Operation {
        method: "get",
        path: "/api/grants",
        summary: "Every standing answer, ended ones for a day",
        takes: None,
        asks: None,
        gives: shape::<Vec<Value>>,
        handler: || get(grants),
    },
    Operation {
        method: "post",
        path: "/api/grants/revoke",
        summary: "Take one standing answer back, or all of them",
        takes: Some(shape::<Which>),
        asks: None,
        gives: shape::<Value>,
        handler: || post(revoke),
    },
    Operation {
        method: "get",
        path: "/api/capabilities",
        summary: "Every capability of this build",
        takes: None,
        asks: None,
        gives: shape::<Vec<Row>>,
        handler: || get(capabilities),
    },
    Operation {
        method: "get",
        path: "/api/providers",
        summary: "Who carries out calls beside this host, whether each is there, and how tools have been doing",
        takes: None,
        asks: None,
        gives: shape::<ProvidersShown>,
        handler: || get(providers),
    },
    Operation {
        method: "get",
        path: "/api/skills",
        summary: "Every skill: where it stands, its tools, and what it requires of policy",
        takes: None,
        asks: None,
        gives: shape::<Vec<SkillTold>>,
        handler: || get(skills),
    },
    Operation {
        method: "get",
        path: "/api/policy/matrix",
        summary: "What each subject may, within the year that comes",
        takes: None,
        asks: Some(shape::<About>),
        gives: shape::<Value>,
        handler: || get(matrix),
    },
    Operation {
        method: "get",
        path: "/api/policy/explain",
        summary: "One call, with everything that has a say in it",
        takes: None,
        asks: Some(shape::<Call>),
        gives: shape::<Value>,
        handler: || get(explain),
    },
    Operation {
        method: "get",
        path: "/api/optins",
        summary: "Which families may reach outside the device",
        takes: None,
        asks: None,
        gives: shape::<Vec<Switch>>,
        handler: || get(opt_ins),
    },
    Operation {
        method: "post",
        path: "/api/optins/{family}",
        summary: "Turn a family on or off",
        takes: Some(shape::<OnOff>),
        asks: None,
        gives: shape::<Value>,
        handler: || post(set_opt_in),
    },
    Operation {
        method: "get",
        path: "/api/inbox",
        summary: "What came in from outside for a subject: data, whoever wrote it, and no instruction to anybody",
        takes: None,
        asks: Some(shape::<inbox::Part>),
        gives: shape::<InboxPart>,
        handler: || get(inbox::inbox),
    },
    Operation {
        method: "get",
        path: "/api/audit",
        summary: "The newest records of the audit log, newest first",
        takes: None,
        asks: Some(shape::<Filter>),
        gives: shape::<Vec<Value>>,
        handler: || get(records),
    },
    Operation {
        method: "get",
        path: "/api/audit/chain",
        summary: "Whether the chain of the audit log holds, as of the last minute",
        takes: None,
        asks: None,
        gives: shape::<Chain>,
        handler: || get(chain),
    },
];

/// Every operation as a route.
pub fn routes() -> Router<Shared> {
    OPERATIONS.iter().fold(Router::new(), |router, operation| router.route(operation.path, (operation.handler)()))
}

async fn document(State(web): State<Shared>, _: Who) -> Json<Value> {
    Json(web.document.get_or_init(api_document::document).clone())
}

/// What waits.
#[derive(Serialize, JsonSchema)]
struct Queue {
    /// For an answer.
    waiting: Vec<Listed>,
    /// For its run.
    answered: Vec<Listed>,
}

/// What an approval is about.
#[derive(Serialize, JsonSchema)]
struct Listed {
    id: String,
    /// `pending`, `approved`, `denied`, `expired` or `consumed`.
    status: &'static str,
    capability: String,
    version: u32,
    risk: &'static str,
    side_effect: &'static str,
    network: &'static str,
    /// Who asked.
    subject: String,
    created_at: Timestamp,
    expires_at: Timestamp,
    /// What it acts on: foreign text, cut where it is long. The arguments hold all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Target>,
}

/// What a call acts on.
#[derive(Serialize, JsonSchema)]
struct Target {
    kind: &'static str,
    text: String,
    /// How many characters are cut off.
    left_out: usize,
}

impl Listed {
    fn of(waiting: &Waiting) -> Self {
        let Waiting { summary, target, .. } = waiting;
        Self {
            id: summary.id.to_string(),
            status: summary.status.as_str(),
            capability: summary.capability.clone(),
            version: summary.version.get(),
            risk: summary.risk.as_str(),
            side_effect: summary.class.side_effect.as_str(),
            network: summary.class.network.as_str(),
            subject: summary.identity.subject.to_string(),
            created_at: summary.created_at,
            expires_at: summary.expires_at,
            target: target.as_ref().map(|target| Target {
                kind: target.kind().as_str(),
                text: target.text(),
                left_out: target.left_out,
            }),
        }
    }
}

async fn queue(State(web): State<Shared>, who: Who) -> Result<Json<Queue>, Refused> {
    let looked = web.board.look(web.service(), &web.operator(&who)).await;
    let snapshot = looked.map_err(|fault| Refused::from(Fault::told(6, &fault)))?;
    let waiting = snapshot.waiting.iter().flatten().map(Listed::of).collect();
    Ok(Json(Queue { waiting, answered: snapshot.answered.iter().map(Listed::of).collect() }))
}

/// One approval. What a caller wrote is there until the approval is final.
#[derive(Serialize, JsonSchema)]
struct Card {
    #[serde(flatten)]
    listed: Listed,
    #[serde(flatten)]
    content: Option<Content>,
    /// Brought along by an approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    stamp: Option<String>,
    /// What an approval brings along as `typed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    word: Option<String>,
}

/// What a caller wrote.
#[derive(Serialize, JsonSchema)]
struct Content {
    /// For whom it is asked, the nearest first: a subject, with its slot behind a `/` and the agent in parentheses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    acts_for: Vec<String>,
    /// The exact text that would run: JSON.
    arguments: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<String>,
    /// Why it is asked.
    because: Vec<&'static str>,
    /// What the proposer claims. Nobody has checked it.
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_reason: Option<String>,
    /// What the proposer claims. Nobody has checked it.
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_evidence: Option<String>,
}

impl Content {
    fn of(pending: &PendingApproval) -> Self {
        Self {
            acts_for: pending.behind.iter().map(ToString::to_string).collect(),
            arguments: String::from_utf8_lossy(&pending.arguments).into_owned(),
            preview: pending.preview.as_ref().map(|preview| preview.text.clone()),
            because: pending.because.iter().map(|code| code.as_str()).collect(),
            claimed_reason: pending.claims.reason.clone(),
            claimed_evidence: pending.claims.evidence.clone(),
        }
    }
}

async fn card(State(web): State<Shared>, who: Who, Named(id): Named) -> Result<Json<Card>, Refused> {
    let detail = answer::detail(&web, &who, id).await?;
    let pending = detail.content.as_ref();
    let waits = detail.summary.status == ApprovalStatus::Pending;
    let stamp = waits.then(|| web.seal().stamp(&who.id, &answer::version(&detail)));
    let word = pending.filter(|_| waits).and_then(answer::word);
    let content = pending.map(Content::of);
    let target = pending.and_then(|pending| pending.target.as_ref()).map(|(kind, target)| Brief::of(*kind, target));
    Ok(Json(Card { listed: Listed::of(&Waiting::new(detail.summary, target)), content, stamp, word }))
}

/// An answer that took effect.
#[derive(Serialize, JsonSchema)]
struct AnsweredNow {
    approval: String,
    status: &'static str,
    /// The number and hash of its record.
    receipt: Value,
}

impl AnsweredNow {
    fn new(Named(id): Named, status: &'static str, receipt: &Receipt) -> Json<Self> {
        let receipt = serde_json::to_value(receipt).unwrap_or_default();
        Json(Self { approval: id.to_string(), status, receipt })
    }
}

async fn approve(
    State(web): State<Shared>,
    who: Who,
    Named(id): Named,
    Document(consent): Document<Consent>,
) -> Result<Json<AnsweredNow>, Refused> {
    let receipt = answer::approve(&web, &who, id, &consent).await?;
    Ok(AnsweredNow::new(Named(id), "approved", &receipt))
}

/// A no.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Denial {
    /// Why, as a word.
    #[serde(default)]
    reason: Option<Reason>,
    /// A sentence for the proposer, at most 1 KiB.
    #[serde(default)]
    note: Option<String>,
}

async fn deny(
    State(web): State<Shared>,
    who: Who,
    Named(id): Named,
    Document(denial): Document<Denial>,
) -> Result<Json<AnsweredNow>, Refused> {
    let receipt = answer::deny(&web, &who, id, denial.reason.map(Reason::into), denial.note).await?;
    Ok(AnsweredNow::new(Named(id), "denied", &receipt))
}

/// Why a call is denied.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Reason {
    /// It may be right later.
    NotNow,
    /// Right, and on the wrong thing.
    WrongTarget,
    /// It does more than it has to.
    TooBroad,
    /// There is no need for it.
    NotNeeded,
    /// It could do harm.
    Unsafe,
}

impl From<Reason> for DenialReason {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::NotNow => Self::NotNow,
            Reason::WrongTarget => Self::WrongTarget,
            Reason::TooBroad => Self::TooBroad,
            Reason::NotNeeded => Self::NotNeeded,
            Reason::Unsafe => Self::Unsafe,
        }
    }
}

/// Another call in its place.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// What the card carried.
    stamp: String,
    /// The word that the card asks for, where it asks for one.
    #[serde(default)]
    typed: Option<String>,
    /// The text of the other arguments: a JSON object.
    arguments: String,
}

/// What became of an edit.
#[derive(Serialize, JsonSchema)]
struct Edited {
    /// The changed call's own outcome.
    outcome: Value,
    /// Whether the original has ended.
    superseded: bool,
    /// The changed call, for its subject to resume.
    #[serde(skip_serializing_if = "Option::is_none")]
    successor: Option<String>,
}

async fn edit(
    State(web): State<Shared>,
    who: Who,
    Named(id): Named,
    Document(Edit { stamp, typed, arguments }): Document<Edit>,
) -> Result<Json<Edited>, Refused> {
    let edited = answer::edit(&web, &who, id, &Consent { stamp, typed }, arguments).await?;
    let successor = edited.successor.map(|id| id.to_string());
    Ok(Json(Edited { outcome: edited.outcome, superseded: edited.superseded, successor }))
}

/// A yes to a call and its like, for a while.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Standing {
    /// What the card carried.
    stamp: String,
    /// The word that the card asks for, where it asks for one.
    #[serde(default)]
    typed: Option<String>,
    /// How long, in seconds.
    seconds: NonZeroU32,
    /// How often.
    uses: NonZeroU32,
}

async fn grant(
    State(web): State<Shared>,
    who: Who,
    Named(id): Named,
    Document(Standing { stamp, typed, seconds, uses }): Document<Standing>,
) -> Result<Json<Value>, Refused> {
    let limit = GrantLimit { longest: Duration::from_secs(seconds.get().into()), uses };
    let grant = answer::grant(&web, &who, id, &Consent { stamp, typed }, limit).await?;
    Ok(Json(serde_json::to_value(&grant).unwrap_or_default()))
}

async fn grants(State(web): State<Shared>, who: Who) -> Result<Json<Value>, Refused> {
    let grants = web.service().grants(&web.operator(&who)).await?;
    Ok(Json(serde_json::to_value(&grants).unwrap_or_default()))
}

/// Which grant; all of them without one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// Its id.
    #[serde(default)]
    grant: Option<String>,
}

async fn revoke(
    State(web): State<Shared>,
    who: Who,
    Document(Which { grant }): Document<Which>,
) -> Result<Json<Value>, Refused> {
    let none = |_| Refused::not_found("no grant has that id", "see those that are alive with `/api/grants`");
    let id = grant.map(|id| id.parse().map_err(none)).transpose()?;
    take_back(&web, &who, id).await.map(Json)
}

async fn capabilities(State(web): State<Shared>, _: Who) -> Json<Vec<Row>> {
    Json(web.service().list())
}

async fn providers(State(web): State<Shared>, _: Who) -> Json<ProvidersShown> {
    Json(web.service().providers_shown())
}

async fn skills(State(web): State<Shared>, _: Who) -> Result<Json<Vec<SkillTold>>, Refused> {
    Ok(Json(web.service().skills()?))
}

async fn opt_ins(State(web): State<Shared>, _: Who) -> Json<Vec<Switch>> {
    Json(web.service().switches())
}

/// A switch.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OnOff {
    on: bool,
}

async fn set_opt_in(
    State(web): State<Shared>,
    who: Who,
    Path(family): Path<String>,
    Document(OnOff { on }): Document<OnOff>,
) -> Result<Json<Value>, Refused> {
    opt_in(&web, &who, family, on).await.map(Json)
}

async fn records(State(web): State<Shared>, _: Who, Asked(filter): Asked<Filter>) -> Result<Json<Vec<Value>>, Refused> {
    audit::records(&web, &filter).map(Json)
}

async fn chain(State(web): State<Shared>, _: Who) -> Json<Chain> {
    Json(audit::chain(&web))
}

async fn matrix(State(web): State<Shared>, _: Who, Asked(about): Asked<About>) -> Result<Json<Value>, Refused> {
    let matrix = crate::blocking::blocking(|| policy::table(&web, &about))?;
    Ok(Json(serde_json::to_value(&matrix).unwrap_or_default()))
}

async fn explain(State(web): State<Shared>, _: Who, Asked(call): Asked<Call>) -> Result<Json<Value>, Refused> {
    Ok(Json(serde_json::to_value(policy::explained(&web, call)?).unwrap_or_default()))
}

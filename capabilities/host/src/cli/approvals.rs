//! `approvals` and `grants`.

use std::path::Path;

use capability_core::approval::{ApprovalSummary, DenialLoop, Grant, GrantLimit};
use serde_json::Value;

use super::arguments::{Approvals, Grants};
use super::commands::{Proofs, document, show};
use super::output::Output;
use super::program::own;
use super::{render, terminal};
use crate::connection::Connection;
use crate::protocol::{ApprovalDetail, EditReply, Fault, Request};

/// `approvals`.
pub async fn perform(
    connection: &Connection<'_>,
    command: Approvals,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    let proof = proofs.operator().await?;
    match command {
        Approvals::List => {
            show::<Vec<ApprovalSummary>>(connection, &Request::ApprovalList(proof), output, |shown| {
                render::approvals(shown)
            })
            .await
        }
        Approvals::Show { id } => {
            show::<ApprovalDetail>(connection, &Request::ApprovalShow(proof, id), output, render::approval).await
        }
        Approvals::Approve { id, lasting, uses, session: _ } => match (lasting, uses) {
            (Some(lasting), Some(uses)) => {
                let limit = GrantLimit { longest: lasting.0, uses };
                show::<Grant>(connection, &Request::GrantCreate { proof, id, limit }, output, |grant| {
                    own(&format!(
                        "approved once; `capability resume {id}` finishes it\n\
                         and its like {} times until {}; `capability grants revoke {}` takes that back\n",
                        grant.max_uses, grant.expires_at, grant.id
                    ))
                    .into_owned()
                })
                .await
            }
            _ => {
                show::<Value>(connection, &Request::Approve(proof, id), output, |_| {
                    own(&format!("approved once; `capability resume {id}` finishes it\n")).into_owned()
                })
                .await
            }
        },
        Approvals::Deny { id, reason, note } => {
            let request = Request::Deny { proof, id, reason: reason.map(Into::into), note };
            show::<Value>(connection, &request, output, |_| "denied, for good\n".into()).await
        }
        Approvals::Edit { id, arguments } => {
            let request = Request::ApprovalEdit { proof, id, arguments: read(&arguments).await? };
            edited(document(connection.ask(&request).await?)?, output)
        }
        Approvals::Loops { clear: None } => {
            show::<Vec<DenialLoop>>(connection, &Request::DenialLoops(proof), output, |shown| render::loops(shown))
                .await
        }
        Approvals::Loops { clear: Some(subject) } => {
            show::<Value>(connection, &Request::DenialsClear(proof, subject), output, render::plain).await
        }
        Approvals::Erase { subject } => {
            show::<Value>(connection, &Request::ApprovalErase(proof, subject), output, render::plain).await
        }
    }
}

/// `grants`.
pub async fn grants(
    connection: &Connection<'_>,
    command: Grants,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    let proof = proofs.operator().await?;
    match command {
        Grants::List => {
            show::<Vec<Grant>>(connection, &Request::GrantList(proof), output, |shown| render::grants(shown)).await
        }
        Grants::Revoke { id, all: _ } => {
            show::<Value>(connection, &Request::GrantRevoke(proof, id), output, render::plain).await
        }
    }
}

/// Tells what became of an edit: 0 when the changed call is approved, 4 when it was refused.
fn edited(reply: EditReply, output: Output) -> Result<u8, Fault> {
    output.print(&reply, |EditReply { outcome, superseded, successor }| match successor {
        Some(by) => own(&format!("approved as changed, once; `capability resume {by}` finishes it\n")).into_owned(),
        None if *superseded => {
            format!("{}the original is refused with it, and its subject is told\n", render::outcome(outcome))
        }
        None => format!("{}the original waits as before\n", render::outcome(outcome)),
    });
    Ok(if reply.successor.is_some() { 0 } else { 4 })
}

/// The text of a file, or of standard input: one byte more than is taken, so that the executor refuses what is too large.
async fn read(path: &Path) -> Result<String, Fault> {
    let read = if path == Path::new("-") {
        terminal::input(capability_core::MAX_ARGUMENT_BYTES as u64 + 1).await
    } else {
        std::fs::read_to_string(path)
    };
    read.map_err(|error| {
        Fault::usage(format!("the arguments cannot be read: {error}"), "write one JSON object as UTF-8 text")
    })
}

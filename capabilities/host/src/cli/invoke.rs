//! `invoke` and `resume`.

use core::num::NonZeroU32;
use core::time::Duration;

use capability_core::approval::{ApprovalId, Claims, HistoryEntry};
use capability_core::session::SessionId;
use serde_json::{Map, Value, json};

use super::arguments::{CallerArgs, Invoke};
use super::commands::{Proofs, document, show};
use super::output::{Output, note};
use super::program::own as own_words;
use super::{render, terminal};
use crate::connection::Connection;
use crate::display::needs_a_second_look;
use crate::environment::random;
use crate::protocol::{ApprovalDetail, Caller, Fault, McpRequest, Reply, Request, Waited};

/// Asks for something; on a terminal also asks the operator, when a person must answer.
pub async fn invoke(connection: &Connection<'_>, invoke: Invoke, proofs: &Proofs, output: Output) -> Result<u8, Fault> {
    let arguments = arguments(&invoke).await?;
    let call = |name: &str, version, arguments, own: &Own| Call {
        name: name.to_owned(),
        version,
        arguments,
        own: own.clone(),
        wait: invoke.wait,
    };
    let (name, version) = (invoke.capability.name.clone(), invoke.capability.version);
    if invoke.with.is_empty() {
        let call = call(&name, version, arguments, &Own::default());
        return Ok(finish(asked(connection, call, &invoke, proofs, output).await?, output));
    }
    let id = random().map(SessionId::from_bytes);
    let id = id.map_err(|_| Fault::broken("the operating system gives no random bytes", "look at this machine"))?;
    let own = Own { session: Some(id), with: invoke.with.clone() };
    let caller = async || caller(&invoke.caller, &own, proofs).await;
    // Which of them there are is said before anything is asked.
    document::<Value>(connection.ask(&Request::Mcp(McpRequest::Stay(caller().await?))).await?)?;
    let staying = Request::Mcp(McpRequest::Stay(caller().await?));
    connection.leaves_with(Request::Mcp(McpRequest::Leave(caller().await?)));
    let waits = |call| Call { wait: invoke.wait || !terminal::is_there(), ..call };
    let all = async {
        for server in &own.with {
            let connect = call("mcp.connect", None, json!({ "server": server }).to_string(), &own);
            let outcome = asked(connection, waits(connect), &invoke, proofs, output).await?;
            if outcome.get("outcome").and_then(Value::as_str) != Some("executed") {
                return Ok(outcome);
            }
        }
        asked(connection, waits(call(&name, version, arguments, &own)), &invoke, proofs, output).await
    };
    let outcome = tokio::select! {
        outcome = all => outcome,
        never = connection.stay(&staying) => match never {},
    };
    Ok(finish(outcome?, output))
}

/// What a call has of its own: a session, and servers in it.
#[derive(Clone, Default)]
struct Own {
    session: Option<SessionId>,
    with: Vec<String>,
}

/// One call, and whether it is waited for.
struct Call {
    name: String,
    version: Option<NonZeroU32>,
    arguments: String,
    own: Own,
    wait: bool,
}

/// Asks for one call, to whatever comes of it.
async fn asked(
    connection: &Connection<'_>,
    call: Call,
    invoke: &Invoke,
    proofs: &Proofs,
    output: Output,
) -> Result<Value, Fault> {
    let Call { name, version, arguments, own, wait } = call;
    let request = Request::Invoke {
        name,
        version,
        arguments,
        claims: Claims { reason: invoke.reason.clone(), evidence: invoke.evidence.clone() },
        caller: Caller { entry: invoke.entry, ..caller(&invoke.caller, &own, proofs).await? },
    };
    let outcome = outcome(connection.ask(&request).await?)?;
    let pending = outcome.pointer("/approval/id").and_then(Value::as_str).and_then(|id| id.parse().ok());
    let Some(id) = pending else { return Ok(outcome) };
    if wait {
        if !output.json {
            note(&own_words(&format!("a person must answer: `capability approvals show {id}`\n")));
        }
        return answered(connection, id, (&invoke.caller, &own), proofs, output).await;
    }
    if !output.json && terminal::is_there() {
        return Ok(answered_here(connection, id, (&invoke.caller, &own), proofs).await?.unwrap_or(outcome));
    }
    Ok(outcome)
}

/// Waits for somebody's answer elsewhere, and goes on with it; with what came in the call's place, when that is the answer.
async fn answered(
    connection: &Connection<'_>,
    mut id: ApprovalId,
    (args, own): (&CallerArgs, &Own),
    proofs: &Proofs,
    output: Output,
) -> Result<Value, Fault> {
    loop {
        let waited = connection.ask(&Request::Wait { id, caller: caller(args, own, proofs).await? }).await?;
        let Waited { pending, crowded } = document(waited)?;
        if crowded {
            tokio::time::sleep(CROWDED).await;
        }
        if pending {
            continue;
        }
        let outcome =
            outcome(connection.ask(&Request::Resume { id, caller: caller(args, own, proofs).await? }).await?)?;
        match outcome.get("successor").and_then(Value::as_str).and_then(|id| id.parse().ok()) {
            Some(successor) => {
                if !output.json {
                    note("a person put another call in its place; going on with that\n");
                }
                id = successor;
            }
            None => return Ok(outcome),
        }
    }
}

/// How long to stay away from a host that has no room for one more who waits.
const CROWDED: Duration = Duration::from_secs(1);

/// Goes on with a call that waited.
pub async fn resume(
    connection: &Connection<'_>,
    id: ApprovalId,
    wait: bool,
    args: &CallerArgs,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    let outcome = if wait {
        answered(connection, id, (args, &Own::default()), proofs, output).await?
    } else {
        outcome(connection.ask(&Request::Resume { id, caller: caller(args, &Own::default(), proofs).await? }).await?)?
    };
    Ok(finish(outcome, output))
}

/// What a subject wrote down, and what operators did about its calls.
pub async fn history(
    connection: &Connection<'_>,
    most: u32,
    args: &CallerArgs,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    let request = Request::History { most, caller: caller(args, &Own::default(), proofs).await? };
    show::<Vec<HistoryEntry>>(connection, &request, output, |entries| render::history(entries)).await
}

/// Shows the operator at this terminal exactly what would run, and goes on with the answer. `None` when nobody proved to
/// be one: the call stays pending.
async fn answered_here(
    connection: &Connection<'_>,
    id: ApprovalId,
    (args, own): (&CallerArgs, &Own),
    proofs: &Proofs,
) -> Result<Option<Value>, Fault> {
    note("this call needs a person's answer; an operator may give it here\n");
    let shown = match connection.ask(&Request::ApprovalShow(proofs.operator().await?, id)).await? {
        Reply::Fault(fault) => {
            note(&format!("{}: the call stays pending\n", fault.message));
            return Ok(None);
        }
        reply => document::<ApprovalDetail>(reply)?,
    };
    let unread = |_| Fault::broken("the terminal cannot be read", "answer with `capability approvals`");
    let Some(pending) = &shown.content else {
        return Ok(None);
    };
    terminal::show(pending).map_err(unread)?;
    let mut yes = terminal::yes("run exactly this, once?").await.map_err(unread)?;
    if yes && needs_a_second_look(pending) {
        note("there are characters in it that hide or look like others; their codes stand in their place above\n");
        yes = terminal::yes("run it all the same?").await.map_err(unread)?;
    }
    let answer = if yes {
        Request::Approve(proofs.operator().await?, id)
    } else {
        Request::Deny { proof: proofs.operator().await?, id, reason: None, note: None }
    };
    document::<Value>(connection.ask(&answer).await?)?;
    outcome(connection.ask(&Request::Resume { id, caller: caller(args, own, proofs).await? }).await?).map(Some)
}

async fn caller(args: &CallerArgs, own: &Own, proofs: &Proofs) -> Result<Caller, Fault> {
    let proof = match args.subject {
        Some(_) => Some(proofs.operator().await?),
        None => None,
    };
    let (subject, slot, mode) = (args.subject.clone(), args.slot.clone(), args.mode.map(Into::into));
    let Own { session: own, with } = own.clone();
    Ok(Caller { subject, slot, mode, turn: args.turn, entry: None, proof, client: None, own, with })
}

fn outcome(reply: Reply) -> Result<Value, Fault> {
    match reply {
        Reply::Outcome(outcome) => Ok(outcome),
        Reply::Fault(fault) => Err(fault),
        Reply::Document(_) => {
            Err(Fault::broken("the host answered something else", "use the same version on both sides"))
        }
    }
}

/// Prints the outcome and turns it into the exit code.
fn finish(mut outcome: Value, output: Output) -> u8 {
    if let Some(Value::String(help)) = outcome.get_mut("help") {
        *help = own_words(help).into_owned();
    }
    output.print(&outcome, render::outcome);
    let word = |key: &str| outcome.get(key).and_then(Value::as_str).unwrap_or_default();
    match (word("outcome"), word("stage")) {
        ("executed", _) => 0,
        ("pending", _) => 3,
        ("rejected", "audit") | ("withheld", _) => 6,
        ("rejected" | "denied" | "expired" | "superseded" | "cancelled", _) => 4,
        _ => 5,
    }
}

/// The argument bytes: from the word, from standard input, or from `--arg`s.
async fn arguments(invoke: &Invoke) -> Result<String, Fault> {
    match invoke.arguments.as_deref() {
        Some("-") => {
            // One byte more than is taken, so that the executor refuses what is too large, not we.
            let text = terminal::input(capability_core::MAX_ARGUMENT_BYTES as u64 + 1).await;
            text.map_err(|_| Fault::usage("standard input is not UTF-8 text", "send one JSON object"))
        }
        Some(text) => Ok(text.to_owned()),
        None => {
            let mut object = Map::new();
            for pair in &invoke.arg {
                let Some((key, value)) = pair.split_once('=') else {
                    return Err(Fault::usage(format!("`--arg {pair}` has no value"), "write `--arg key=value`"));
                };
                let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
                if object.insert(key.to_owned(), value).is_some() {
                    return Err(Fault::usage(format!("`--arg {key}` is given twice"), "give each argument once"));
                }
            }
            Ok(Value::Object(object).to_string())
        }
    }
}

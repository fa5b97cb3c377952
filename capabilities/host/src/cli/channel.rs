//! `channel` and `inbox`: what comes in from outside.

use std::io::Read as _;

use base64ct::{Base64, Encoding as _};
use capability_core::approval::ApprovalId;
use capability_core::session::Subject;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::commands::{Proofs, document, show};
use super::output::Output;
use super::terminal::visible_json;
use crate::channel::MAX_BODY;
use crate::connection::{Connection, interrupted};
use crate::protocol::{Caller, ChannelCode, Delivered, Fault, InboxPart, InboxRow, Request};
use crate::service::MOST_TOLD;
use crate::words::counted;

/// `channel`.
#[derive(Debug, Subcommand)]
pub enum Channel {
    /// Take in a mail from standard input, as a mail server hands it on
    ///
    /// Ends with 0 when the mail need not be handed on again, whether or not it was taken in; with 75 when it is to be
    /// tried later; and with 4 when the channel is none.
    Deliver {
        /// The channel
        name: String,
        /// The address that the mail server took the mail in for
        #[arg(long, value_name = "ADDRESS")]
        recipient: Option<String>,
    },
    /// Show a code by which somebody at a channel may answer a pending call, once (operators)
    Code {
        /// The approval id
        id: ApprovalId,
        /// The channel
        #[arg(long, value_name = "NAME")]
        channel: String,
        /// Whose answer, as the channel's platform writes it; one of the channel's `operators`
        #[arg(long, value_name = "ID")]
        sender: String,
    },
}

/// `inbox`.
#[derive(Debug, Args)]
pub struct Inbox {
    /// Whose; needs the operator credential
    #[arg(long, value_name = "NAME")]
    pub subject: Option<Subject>,
    /// Only what came after the entry of this number
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub after: i64,
    /// How many entries, at most 100
    #[arg(short = 'n', long = "entries", default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_TOLD)))]
    pub count: u32,
    /// Go on with what comes from now on, until interrupted; with `--json` one document a line
    #[arg(short, long, conflicts_with = "erase")]
    pub follow: bool,
    /// Erase the whole inbox, on record (operators)
    #[arg(long, requires = "subject")]
    pub erase: bool,
}

/// What a mail server takes for: try again later.
const TRY_LATER: u8 = 75;

/// `channel`.
pub async fn channel(
    connection: &Connection<'_>,
    command: Channel,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    match command {
        Channel::Deliver { name, recipient } => deliver(connection, name, recipient, output).await,
        Channel::Code { id, channel, sender } => {
            let request = Request::ChannelCode { proof: proofs.operator().await?, id, channel, sender };
            show::<ChannelCode>(connection, &request, output, |shown| {
                let ChannelCode { code, expires_at } = shown;
                format!("until {expires_at}, once: `approve {code}` or `deny {code}`\n")
            })
            .await
        }
    }
}

async fn deliver(
    connection: &Connection<'_>,
    channel: String,
    recipient: Option<String>,
    output: Output,
) -> Result<u8, Fault> {
    // One byte more than is taken, so that the channel refuses what is too large, on record.
    let limit = MAX_BODY as u64 + 1;
    let read = crate::blocking::blocking(|| {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes).map(|_| bytes)
    });
    let bytes = read.map_err(|_| Fault::usage("standard input cannot be read", "send the mail to it"))?;
    let message = Base64::encode_string(&bytes);
    let told: Value = document(connection.ask(&Request::ChannelDeliver { channel, recipient, message }).await?)?;
    let delivered = serde_json::from_value(told.get("delivered").cloned().unwrap_or_default());
    output.print(&told, |_| String::new());
    Ok(match delivered {
        Ok(Delivered::Done | Delivered::Refused) => 0,
        Ok(Delivered::Later) | Err(_) => TRY_LATER,
    })
}

/// `inbox`.
pub async fn inbox(connection: &Connection<'_>, asked: Inbox, proofs: &Proofs, output: Output) -> Result<u8, Fault> {
    if let (true, Some(subject)) = (asked.erase, asked.subject.clone()) {
        let request = Request::InboxErase(proofs.operator().await?, subject);
        return show::<Value>(connection, &request, output, super::render::plain).await;
    }
    let request = async |after, wait| {
        let proof = match asked.subject {
            Some(_) => Some(proofs.operator().await?),
            None => None,
        };
        let caller = Caller { subject: asked.subject.clone(), proof, ..Caller::default() };
        Ok::<_, Fault>(Request::Inbox { after, most: asked.count, wait, caller })
    };
    if !asked.follow {
        return show::<InboxPart>(connection, &request(asked.after, false).await?, output, whole).await;
    }
    let mut after = asked.after;
    let mut interrupted = core::pin::pin!(interrupted());
    loop {
        let next = request(after, true).await?;
        let part: InboxPart = tokio::select! {
            biased;
            () = &mut interrupted => return Ok(0),
            reply = connection.ask(&next) => document(reply?)?,
        };
        let Some(last) = part.entries.last() else {
            // A host without room for one more who waits answers at once.
            tokio::time::sleep(core::time::Duration::from_millis(100)).await;
            continue;
        };
        after = last.seq;
        if !output.lines(&part.entries, |rows| rows.iter().map(one).collect()) {
            return Ok(0);
        }
    }
}

/// Some entries, below a line that says what they are.
fn whole(part: &InboxPart) -> String {
    if part.entries.is_empty() {
        return format!("nothing came in for `{}`\n", part.subject);
    }
    let total = counted(part.total, "entry", "entries");
    let head = format!("{} of {total} for `{}`, untrusted text:\n", part.entries.len(), part.subject);
    part.entries.iter().map(one).fold(head, |text, one| text + &one)
}

/// One entry: everything that somebody else wrote is inset.
fn one(row: &InboxRow) -> String {
    let InboxRow { seq, at, channel, kind, observation, .. } = row;
    let content = observation.get("result").cloned().unwrap_or_else(|| json!({}));
    let inset = visible_json(&content).lines().map(|line| format!("    {line}\n")).collect::<String>();
    format!("{seq}  {at}  {channel} ({kind})\n{inset}")
}

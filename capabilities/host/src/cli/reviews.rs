//! `reviews` and `state`: what subjects left for people to look at, and what they keep.

use capability_core::session::Subject;
use clap::Subcommand;
use serde_json::Value;

use super::commands::{Proofs, show};
use super::output::Output;
use super::render;
use crate::connection::Connection;
use crate::display::text::written_out;
use crate::protocol::{Fault, Request, ReviewShown, StateShown};

/// What to do with reviews.
#[derive(Debug, Subcommand)]
pub enum Reviews {
    /// Show what is open: untrusted text, in the subjects' own words
    List,
    /// Close one, on record, and erase what it says; nothing else comes of it
    Close {
        /// Its number
        number: u64,
    },
}

/// What to do with what a subject keeps.
#[derive(Debug, Subcommand)]
pub enum State {
    /// Show everything that a subject keeps: untrusted text, in its own words
    Show {
        /// Whose
        subject: Subject,
    },
    /// Erase everything that a subject keeps, on record
    Erase {
        /// Whose
        subject: Subject,
    },
}

pub async fn reviews(
    connection: &Connection<'_>,
    command: Reviews,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    let proof = proofs.operator().await?;
    match command {
        Reviews::List => {
            show::<Vec<ReviewShown>>(connection, &Request::ReviewList(proof), output, |open| list(open)).await
        }
        Reviews::Close { number } => {
            show::<Value>(connection, &Request::ReviewClose(proof, number), output, render::plain).await
        }
    }
}

pub async fn state(connection: &Connection<'_>, command: State, proofs: &Proofs, output: Output) -> Result<u8, Fault> {
    let proof = proofs.operator().await?;
    match command {
        State::Show { subject } => {
            show::<Vec<StateShown>>(connection, &Request::StateShow(proof, subject), output, |kept| entries(kept)).await
        }
        State::Erase { subject } => {
            show::<Value>(connection, &Request::StateErase(proof, subject), output, render::plain).await
        }
    }
}

/// A subject's own lines are inset, so that none of them looks like one of ours.
fn inset(text: &str) -> String {
    text.lines().map(|line| format!("    {}\n", written_out(line))).collect()
}

fn list(open: &[ReviewShown]) -> String {
    if open.is_empty() {
        return "nothing waits for a review\n".to_owned();
    }
    let one = |review: &ReviewShown| {
        let ReviewShown { number, subject, kind, about, reason, at } = review;
        format!(
            "{number}  {at}  {kind} by `{subject}`, untrusted text:\n{}    because:\n{}",
            inset(about),
            inset(reason)
        )
    };
    open.iter().map(one).collect()
}

fn entries(kept: &[StateShown]) -> String {
    if kept.is_empty() {
        return "nothing is kept\n".to_owned();
    }
    let one = |entry: &StateShown| {
        format!("{} {}  {}, untrusted text:\n{}", entry.scope, entry.key, entry.at, inset(&entry.value))
    };
    kept.iter().map(one).collect()
}

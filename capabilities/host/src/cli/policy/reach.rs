//! `policy reach`: whether a subject can ever do something, and without anybody being asked.

use capability_core::policy::analysis::{Possible, Reach};
use capability_core::session::{SlotPath, Subject};
use clap::Args;

use super::super::commands;
use super::super::output::{NAME, Output, styled};
use crate::connection::Connection;
use crate::display::text::written_out;
use crate::protocol::{Fault, PolicyQuestion, Reached, Request};

/// `policy reach`.
#[derive(Debug, Args)]
pub struct ReachArgs {
    /// The capability [default: every one]
    #[arg(value_name = "NAME")]
    pub capability: Option<String>,
    /// Who [default: the local subject]
    #[arg(long, value_name = "NAME")]
    pub subject: Option<Subject>,
    /// In which slot of that subject's agent [default: in each of them, and in none]
    #[arg(long, value_name = "SLOT", requires = "subject")]
    pub slot: Option<SlotPath>,
    /// Without anybody being asked
    #[arg(long)]
    pub without_asking: bool,
}

/// Never, or by which call.
pub async fn reach(connection: &Connection<'_>, asked: ReachArgs, output: Output) -> Result<u8, Fault> {
    let ReachArgs { capability, subject, slot, without_asking } = asked;
    let subject = subject.unwrap_or_else(Subject::local);
    let unasked = if without_asking { "without being asked" } else { "asked or not" };
    let heading = format!("what {subject} can ever do, {unasked}\n");
    let request = Request::Policy(PolicyQuestion::Reach { subject, slot, capability, unasked: without_asking });
    commands::show::<Vec<Reached>>(connection, &request, output, |told| {
        told.iter().fold(heading, |text, reached| text + &line(reached))
    })
    .await
}

fn line(reached: &Reached) -> String {
    let slot = reached.slot.as_ref().map(|slot| format!(" in {slot}")).unwrap_or_default();
    let name = styled(NAME, &format!("{:<24}", format!("{}{slot}", reached.capability)));
    match &reached.reach {
        Reach::NotDecided => format!("{name} not decided: its rules tell too many cases apart\n"),
        Reach::Never { because } => {
            let reasons: Vec<_> = because.iter().map(reason).collect();
            format!("{name} never\n{}", indented(&reasons))
        }
        Reach::Yes { first } => {
            let by = format!("such as {}", first.witness);
            format!("{name} {}\n{}", first.verdict, indented(&[by]))
        }
    }
}

fn reason(possible: &Possible) -> String {
    let rules: Vec<_> = possible.rules.iter().map(ToString::to_string).collect();
    if rules.is_empty() {
        possible.code.message().to_owned()
    } else {
        format!("{}: {}", possible.code.message(), rules.join(", "))
    }
}

fn indented(lines: &[String]) -> String {
    lines.iter().map(|line| format!("  {}\n", written_out(line))).collect()
}

//! `skills`: packages of instructions, and which of them are in use.

use clap::Subcommand;
use serde_json::Value;

use super::commands::{Proofs, document, show};
use super::output::{BAD, GOOD, NAME, Output, WARN, note, styled};
use super::table::layout;
use crate::connection::Connection;
use crate::display::diff::{self, LinePart, Parts, Side};
use crate::display::text::written_out;
use crate::protocol::{Fault, Request, SkillQuestion};
use crate::skill::{PartChange, SkillState, SkillTold, SkillWhole};

/// Packages of instructions.
#[derive(Debug, Subcommand)]
pub enum Skills {
    /// List every skill and where it stands
    List,
    /// Show one skill: its tools, what it requires, what differs from what was accepted, and its text (operators)
    Show {
        /// Its name
        name: String,
    },
    /// Check whether skills are ones, and can be used here; exit code 4 when one is not
    Check {
        /// One skill; every one without
        name: Option<String>,
    },
    /// Show what differs, and take the skill into use exactly as it is now (operators)
    Accept {
        /// Its name
        name: String,
    },
    /// Take a skill out of use, and with it what it requires of policy (operators)
    Remove {
        /// Its name
        name: String,
    },
}

/// Performs one of them.
pub async fn perform(
    connection: &Connection<'_>,
    command: Skills,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    let ask = Request::Skills;
    match command {
        Skills::List => show::<Vec<SkillTold>>(connection, &ask(SkillQuestion::List), output, |told| list(told)).await,
        Skills::Show { name } => {
            let proof = proofs.operator().await?;
            show::<SkillWhole>(connection, &ask(SkillQuestion::Show { proof, name }), output, whole).await
        }
        Skills::Check { name } => check(connection, name.as_deref(), output).await,
        Skills::Accept { name } => {
            let proof = proofs.operator().await?;
            let question = SkillQuestion::Show { proof, name: name.clone() };
            let shown: SkillWhole = document(connection.ask(&ask(question)).await?)?;
            let Some(digest) = shown.told.digest.clone().filter(|_| shown.told.state != SkillState::Loaded) else {
                return Err(Fault::refused(
                    "nothing waits to be accepted: the skill is what was accepted",
                    "see where it stands with `capability skills list`",
                ));
            };
            if !output.json {
                note(&whole(&shown));
            }
            let proof = proofs.operator().await?;
            let request = ask(SkillQuestion::Accept { proof, name, digest });
            show::<Value>(connection, &request, output, |told| {
                let word = |key: &str| told.get(key).and_then(Value::as_str).unwrap_or_default();
                format!("accepted: {} as {}\n", word("skill"), word("accepted"))
            })
            .await
        }
        Skills::Remove { name } => {
            let proof = proofs.operator().await?;
            let request = ask(SkillQuestion::Remove { proof, name: name.clone() });
            show::<Value>(connection, &request, output, |_| format!("out of use: {name}\n")).await
        }
    }
}

/// Tells what keeps skills from being used, and with its exit code whether anything does.
async fn check(connection: &Connection<'_>, name: Option<&str>, output: Output) -> Result<u8, Fault> {
    let told: Vec<SkillTold> = document(connection.ask(&Request::Skills(SkillQuestion::List)).await?)?;
    let told: Vec<_> = told.into_iter().filter(|one| name.is_none_or(|name| name == one.name)).collect();
    if let (Some(name), true) = (name, told.is_empty()) {
        let what = format!("there is no skill `{}`", name.escape_default());
        return Err(Fault::refused(what, "see those that are there with `capability skills list`"));
    }
    let fails = |one: &SkillTold| matches!(one.state, SkillState::Refused | SkillState::Gone);
    let exit = if told.iter().any(fails) { 4 } else { 0 };
    output.print(&told, |told| list(told));
    Ok(exit)
}

fn list(told: &[SkillTold]) -> String {
    if told.is_empty() {
        return "there are no skills; name their folder as `folder` under `[skills]` in `config.toml`\n".to_owned();
    }
    let cells: Vec<_> = told
        .iter()
        .map(|one| {
            let ready = one.tools.iter().filter(|tool| tool.state == "ready").count();
            [
                written_out(&one.name),
                one.version.clone().unwrap_or_default(),
                one.state.as_str().to_owned(),
                format!("{ready} of {}", one.tools.len()),
                one.requires.len().to_string(),
            ]
        })
        .collect();
    let mut text = layout(["SKILL", "VERSION", "IS", "TOOLS READY", "RULES"], &cells);
    for one in told {
        if let Some(why) = &one.why {
            text += &styled(WARN, &format!("{}: {}\n", written_out(&one.name), lines(why)));
        }
    }
    text
}

/// Our own line breaks stay; what is quoted between them is written out.
fn lines(text: &str) -> String {
    text.lines().map(written_out).collect::<Vec<_>>().join("\n")
}

fn whole(shown: &SkillWhole) -> String {
    let SkillWhole { told, instructions, changes } = shown;
    let style = if told.state == SkillState::Loaded { GOOD } else { BAD };
    let mut text = format!(
        "{} {}  {}\n",
        styled(NAME, &written_out(&told.name)),
        told.version.as_deref().unwrap_or_default(),
        styled(style, told.state.as_str())
    );
    let mut row = |key: &str, value: &str| text += &format!("  {key:<12}{}\n", written_out(value));
    row("is for", told.description.as_deref().unwrap_or_default());
    row("written for", told.compatible.as_deref().unwrap_or_default());
    row("now", told.digest.as_deref().unwrap_or_default());
    row("accepted", told.accepted.as_deref().unwrap_or("nothing yet"));
    for server in &told.servers {
        row("binds", server);
    }
    for tool in &told.tools {
        let message = tool.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
        row("uses", &format!("{} ({}{message})", tool.named, tool.state));
    }
    for rule in &told.requires {
        row("requires", rule);
    }
    for (path, bytes) in &told.resources {
        row("brings", &format!("{path}, {bytes} bytes"));
    }
    if let Some(why) = &told.why {
        text += &styled(WARN, &format!("  {}\n", lines(why).replace('\n', "\n  ")));
    }
    if !changes.is_empty() {
        text += "\nwhat is not as it was accepted:\n";
        changes.iter().for_each(|change| text += &changed(change));
    }
    text += "\nits author's instructions:\n";
    text.extend(instructions.lines().map(|line| format!("  | {}\n", written_out(line))));
    text
}

/// One file, line by line.
fn changed(change: &PartChange) -> String {
    let (before, now) = (change.accepted.as_deref().unwrap_or_default(), change.now.as_deref().unwrap_or_default());
    let what = match (&change.accepted, &change.now) {
        (None, Some(_)) => "new",
        (Some(_), None) => "gone",
        _ => "changed",
    };
    let mut text = format!("  {} ({what})\n", written_out(&change.path));
    let mut line = |side: Side, line: &str| {
        let sign = match side {
            Side::Both => ' ',
            Side::Before => '-',
            Side::After => '+',
        };
        text += &format!("    {sign} {}\n", written_out(line));
    };
    match diff::texts(before, now) {
        // Bytes that are no text, and are others.
        None => {}
        Some(Parts::TooMany) => text += "    in more lines than can be told one by one\n",
        _ if change.accepted.is_none() => now.lines().for_each(|own| line(Side::After, own)),
        Some(Parts::Words(_)) => {
            before.lines().for_each(|own| line(Side::Before, own));
            now.lines().for_each(|own| line(Side::After, own));
        }
        Some(Parts::Lines(parts)) => {
            for part in &parts {
                match part {
                    LinePart::Line(part) => line(part.side, &part.text),
                    LinePart::Skipped(count) => line(Side::Both, &format!("({count} more as before)")),
                }
            }
        }
    }
    text
}

//! `policy show`: what is in force.

use super::super::output::{NAME, WARN, styled};
use super::super::program::own;
use super::super::terminal::visible_lines;
use crate::display::text::written_out;
use crate::protocol::{PolicyShown, RuleShown};
use crate::words::counted;

/// The rules in force, each with what it is about and why it is there.
pub fn show(shown: &PolicyShown) -> String {
    let mut text = format!("{}; revision {}\n", counted(shown.rules.len(), "rule", "rules"), shown.revision);
    for RuleShown { id, source, effect, about, except, reason, max_grant } in &shown.rules {
        let about = if about.is_empty() { "everything" } else { about };
        let from = if source == "operator" { String::new() } else { format!("  (from a {source})") };
        text += &format!("\n{}  {effect}{from}\n  {}\n", styled(NAME, id), written_out(about));
        for exception in except {
            text += &format!("  except {}\n", written_out(exception));
        }
        if let Some(limit) = max_grant {
            text += &format!("  grants {}\n", written_out(limit));
        }
        if let Some(reason) = reason {
            text += &format!("  because {}\n", written_out(reason));
        }
    }
    for (label, lines) in [("strange:", &shown.strange[..]), ("not in force:", shown.problem.as_slice())] {
        for told in lines {
            text += &format!("\n{} {}\n", styled(WARN, label), visible_lines(&own(told)));
        }
    }
    text
}

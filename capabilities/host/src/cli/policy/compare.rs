//! `policy compare` and `policy accept`: what a file of rules is to those in force, and letting it come into force.

use std::path::PathBuf;

use capability_core::policy::analysis::{Comparison, Difference, MAX_DIFFERENCES, Relation};
use serde_json::{Value, json};

use super::super::commands::{self, Proofs, document};
use super::super::output::{GOOD, Output, WARN, note, styled};
use crate::connection::Connection;
use crate::display::text::written_out;
use crate::protocol::{Compared, Fault, PolicyQuestion, Request};

/// Compares a file, or the one in the data directory, with what is in force; changes nothing.
pub async fn compare(connection: &Connection<'_>, file: Option<PathBuf>, output: Output) -> Result<u8, Fault> {
    let file = match file {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(&path).map_err(|error| {
                Fault::usage(format!("`{}` cannot be read: {error}", path.display()), "name a file of rules")
            })?;
            Some((path.display().to_string(), text))
        }
    };
    let request = Request::Policy(PolicyQuestion::Compare { file });
    commands::show::<Compared>(connection, &request, output, told).await
}

/// Shows what waits for an operator, has the operator prove to be one, and accepts exactly that.
pub async fn accept(connection: &Connection<'_>, proofs: &Proofs, output: Output) -> Result<u8, Fault> {
    let request = Request::Policy(PolicyQuestion::Compare { file: None });
    let compared: Compared = document(connection.ask(&request).await?)?;
    if !compared.waits {
        return Err(Fault::refused(
            "nothing waits to be accepted: the rules in force are those in the file",
            "change `policy.toml` first; see what a file is to what is in force with `capability policy compare FILE`",
        ));
    }
    if !output.json {
        note(&told(&compared));
    }
    let proof = proofs.operator().await?;
    let request = Request::Policy(PolicyQuestion::Accept { proof, digest: compared.digest });
    let accepted: Value = document(connection.ask(&request).await?)?;
    let revision = accepted.get("revision").and_then(Value::as_str).unwrap_or_default().to_owned();
    output.print(&json!({ "revision": revision, "comparison": compared.comparison }), |_| {
        format!("accepted; revision {revision} is in force\n")
    });
    Ok(0)
}

fn told(compared: &Compared) -> String {
    let Compared { revision, in_force, waits, comparison, .. } = compared;
    let Comparison { relation, wider, narrower, undecided } = comparison;
    let style = if relation.only_narrows() { GOOD } else { WARN };
    let mut text = format!("{} revision {revision}, beside {in_force} in force\n", styled(style, relation.as_str()));
    for (list, heading) in [(wider, "takes less than before"), (narrower, "takes more than before")] {
        if !list.is_empty() {
            text += &format!("\n{heading}\n");
        }
        list.iter().for_each(|difference| text += &shown(difference));
        if list.len() == MAX_DIFFERENCES {
            text += "  and perhaps more\n";
        }
    }
    if !undecided.is_empty() {
        text += &format!("\nnot decided, with too many cases: {}\n", undecided.join(", "));
    }
    if *waits {
        text += "\nnot in force until an operator accepts it\n";
    } else if *relation == Relation::Equal {
        text += "every call ends the same\n";
    }
    text
}

fn shown(difference: &Difference) -> String {
    let Difference { call, before, after, rules_before, rules_after } = difference;
    let of = |rules: &[capability_core::policy::analysis::RuleName]| {
        let names: Vec<_> = rules.iter().map(ToString::to_string).collect();
        if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
    };
    let moved = if before == after {
        format!("{before}, with another limit for grants")
    } else {
        format!("{before}{} -> {after}{}", of(rules_before), of(rules_after))
    };
    format!("  {}\n    {}\n", written_out(&call.to_string()), written_out(&moved))
}

//! `surface`: what a model is shown.

use serde_json::Value;

use super::table::layout;
use crate::display::text::written_out;
use crate::protocol::SurfaceShown;
use crate::skill::SkillToolTold;

/// The surface for people.
pub fn shown(surface: &SurfaceShown) -> String {
    let SurfaceShown { subject, profile, bytes, budget, tools, .. } = surface;
    let slot = surface.slot.as_ref().map(|slot| format!("/{slot}")).unwrap_or_default();
    let mut text = format!("{subject}{slot}: {} tools for {profile}; {bytes} of {budget} bytes\n\n", tools.len());
    let rows: Vec<[String; 3]> = tools
        .iter()
        .map(|tool| {
            let of = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
            let strict = match tool.get("strict") {
                Some(Value::Bool(true)) => ", strict",
                _ => "",
            };
            let first = of("description").lines().next().unwrap_or_default();
            [written_out(of("name")), format!("{} bytes{strict}", tool.to_string().len()), written_out(first)]
        })
        .collect();
    text += &layout(["NAME", "SIZE", "SUMMARY"], &rows);
    section(&mut text, "cannot be called now, or less well", facts(&surface.facts));
    section(
        &mut text,
        "skills in use",
        surface.skills.iter().map(|skill| {
            let tool = |tool: &SkillToolTold| format!("{} {}", tool.tool.as_ref().unwrap_or(&tool.named), tool.state);
            let tools = skill.tools.iter().map(tool).collect::<Vec<_>>().join(", ");
            let rules = crate::words::counted(skill.requires.len(), "rule", "rules");
            let version = skill.version.as_deref().unwrap_or_default();
            written_out(&format!("{} {version}  requires {rules}; {tools}", skill.name))
        }),
    );
    section(
        &mut text,
        "found by a search",
        surface.deferred.iter().map(|row| {
            let whose = if row.foreign { " (a provider's words)" } else { "" };
            format!("{}  {}{whose}", written_out(&row.name), written_out(&row.summary))
        }),
    );
    section(
        &mut text,
        "not shown",
        surface.unshown.iter().map(|unshown| match unshown.bytes {
            Some(bytes) => format!("{}: its {bytes} bytes do not fit; pin it, or leave it to the search", unshown.tool),
            None => format!("{}: its schema is at fault; see `capability contract check`", unshown.tool),
        }),
    );
    section(
        &mut text,
        "pins that name no tool",
        surface
            .unknown_pins
            .iter()
            .map(|pin| format!("{}: see the names here and in `capability list`", written_out(pin))),
    );
    section(
        &mut text,
        "names that two tools would have",
        surface.collisions.iter().map(|name| format!("{name}: give one of the providers another name")),
    );
    section(
        &mut text,
        "what this profile cannot say",
        surface.losses.iter().map(|lost| {
            let place = if lost.path.is_empty() { "its root".to_owned() } else { written_out(&lost.path) };
            let out = if lost.left_out { " (left out)" } else { "" };
            format!("{}{out}: `{}` at {place}: {}", written_out(&lost.tool), lost.construct, lost.why)
        }),
    );
    text
}

fn facts(facts: &Value) -> Vec<String> {
    let said = |fact: &Value| {
        let word = fact.get("admission").and_then(Value::as_str).unwrap_or_default();
        let message = fact.get("message").and_then(Value::as_str).unwrap_or_default();
        let axis = |axis| fact.get("class").and_then(|class| class.get(axis)).and_then(Value::as_str);
        let class = axis("side_effect").zip(axis("network"));
        let class = class.map(|(effect, network)| format!("counts as {effect} + {network} now  ")).unwrap_or_default();
        written_out(format!("{word}  {class}{message}").trim_end())
    };
    let tools = facts.get("tools").and_then(Value::as_object).into_iter().flatten();
    let mut lines: Vec<String> = tools.map(|(name, fact)| format!("{}  {}", written_out(name), said(fact))).collect();
    for fact in facts.get("deferred").and_then(Value::as_array).into_iter().flatten() {
        let source = fact.get("source").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let source = source.collect::<Vec<_>>().join(" ");
        let tools = fact.get("tools").and_then(Value::as_u64).unwrap_or_default();
        lines.push(format!("{tools} of {}  {}", written_out(&source), said(fact)));
    }
    lines
}

fn section(text: &mut String, heading: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_some() {
        text.push_str(&format!("\n{heading}:\n"));
        lines.for_each(|line| text.push_str(&format!("  {line}\n")));
    }
}

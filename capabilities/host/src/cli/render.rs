//! What people read.

use capability_core::approval::{
    ApprovalSummary, DenialLoop, Grant, GrantLimit, GrantScope, HistoryEntry, OperatorAct, PendingApproval, Successor,
};
use capability_core::executor::GrantPreview;
use serde_json::Value;

use super::card::card;
use super::output::{BAD, GOOD, NAME, WARN, styled};
use super::table::layout;
use super::terminal::{visible_json, visible_lines};
use crate::display::text::written_out;
use crate::protocol::{ApprovalDetail, Description, Entry, JournalPart, Probe, ProbeState, Row, Switch};
use crate::words::counted;

/// `list`.
pub fn list(rows: &[Row]) -> String {
    let cells: Vec<_> = rows
        .iter()
        .map(|row| {
            [
                format!("{}@{}", row.name, row.version),
                format!("{} + {}", row.side_effect, row.network),
                row.confirmation.clone(),
                row.status.clone(),
                bounds(row),
                format!("{}/{}", row.isolation, row.deadline),
                if row.needs.is_empty() { "nothing".to_owned() } else { row.needs.join(", ") },
                row.summary.clone(),
            ]
        })
        .collect();
    let heading =
        ["CAPABILITY", "CLASS", "CONFIRMATION", "STATUS", "BOUNDS", "ISOLATION/DEADLINE", "NEEDS", "WHAT IT DOES"];
    layout(heading, &cells)
}

/// How long, how much, how often in a turn; whole seconds and kibibytes where it is that.
fn bounds(row: &Row) -> String {
    let time = if row.timeout_ms.is_multiple_of(1000) {
        format!("{} s", row.timeout_ms / 1000)
    } else {
        format!("{} ms", row.timeout_ms)
    };
    let size = if row.max_result.is_multiple_of(1024) {
        format!("{} KiB", row.max_result / 1024)
    } else {
        format!("{} B", row.max_result)
    };
    format!("{time}, {size}, {}/turn", row.per_turn)
}

/// `describe`.
pub fn describe(found: &Description) -> String {
    let row = &found.row;
    let mut text = styled(NAME, &format!("{}@{}", row.name, row.version));
    if let Some(title) = &found.title {
        text += &format!("  {title}");
    }
    text += &format!("\n\n{}\n\n", found.description.trim());
    let target = match &found.target_argument {
        Some(argument) => format!("{} named by `{argument}`", found.target),
        None => found.target.clone(),
    };
    let said = |set: bool, words: &str| if set { words.to_owned() } else { String::new() };
    let handles = if found.handles.is_empty() { "none".to_owned() } else { found.handles.join(", ") };
    for (key, value) in [
        ("class", format!("{} + {}", row.side_effect, row.network)),
        ("confirmation", format!("{} (computed from the class)", row.confirmation)),
        ("status", row.status.clone()),
        ("bounds", format!("{} ms, {} bytes of result, {} per turn", row.timeout_ms, row.max_result, row.per_turn)),
        ("isolation", format!("{}, deadline {}", row.isolation, row.deadline)),
        ("target", target),
        ("handles", handles),
        ("needs", row.needs.join(", ")),
        ("bound to", found.bound_to.join("\n                ")),
        ("risk", found.risk.clone()),
        ("default", found.default.clone()),
        ("resident", said(found.resident, "it wants to be among the tools a model always sees")),
        ("idempotent", said(found.idempotent, "doing it twice is doing it once")),
        ("from", format!("{} at {}", found.package, found.location)),
    ] {
        if !value.is_empty() {
            text += &format!("  {key:<13} {value}\n");
        }
    }
    for (what, schema) in [("arguments", &found.arguments), ("result", &found.result)] {
        let pretty = serde_json::to_string_pretty(schema).unwrap_or_default();
        text += &format!("\n{}\n{pretty}\n", styled(NAME, what));
    }
    text
}

/// An invocation's outcome: the result as JSON, or what happened and what to do.
pub fn outcome(outcome: &Value) -> String {
    let word = |key: &str| outcome.get(key).and_then(Value::as_str).unwrap_or_default();
    if let Some(result) = outcome.get("result") {
        return visible_json(result) + "\n" + &beside(outcome);
    }
    let kind = word("outcome");
    let style = if kind == "pending" { WARN } else { BAD };
    let mut text = styled(style, kind);
    if !word("stage").is_empty() {
        text += &format!(" at {} ({})", word("stage"), word("code"));
    }
    text += &format!(": {}\n", visible_lines(word("message")));
    if !word("help").is_empty() {
        text += &format!("help: {}\n", visible_lines(word("help")));
    }
    text += &format!("effect: {}\n", word("effect"));
    if let Some(approval) = outcome.get("approval") {
        let part = |key: &str| approval.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        text += &format!("approval: {} (expires {})\n", part("id"), part("expires_at"));
    }
    text + &beside(outcome)
}

/// What is told beside an outcome: that another provider served, which of the seven ways it went, how the tool has been doing.
fn beside(outcome: &Value) -> String {
    let word = |path: &str| outcome.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let mut text = String::new();
    if !word("/notice").is_empty() {
        text += &styled(WARN, &format!("notice: {}\n", visible_lines(word("/notice"))));
    }
    if !word("/diagnostic/kind").is_empty() {
        text += &format!("{}: {}\n", word("/diagnostic/kind"), word("/diagnostic/message"));
    }
    if !word("/guidance").is_empty() {
        text += &styled(WARN, &format!("guidance: {}\n", word("/guidance")));
    }
    text
}

/// `approvals list`.
pub fn approvals(waiting: &[ApprovalSummary]) -> String {
    if waiting.is_empty() {
        return "nothing waits for an answer\n".into();
    }
    let cells: Vec<_> = waiting
        .iter()
        .map(|one| {
            [
                one.id.to_string(),
                one.status.to_string(),
                format!("{}@{}", one.capability, one.version),
                one.risk.as_str().to_owned(),
                one.identity.subject.to_string(),
                one.expires_at.to_string(),
            ]
        })
        .collect();
    layout(["APPROVAL", "STATUS", "CAPABILITY", "RISK", "ASKED BY", "EXPIRES"], &cells)
}

/// `web link`, and what `serve` says of the approval centre.
pub fn link(said: &Value) -> String {
    let text = |key: &str| said.get(key).and_then(Value::as_str).unwrap_or_default();
    let (address, link) = (text("web"), text("link"));
    format!("approval centre at {address}\nlog one browser in, once, within ten minutes: {link}\n")
}

/// `approvals show`.
pub fn approval(detail: &ApprovalDetail) -> String {
    let Some(pending) = &detail.content else {
        let ApprovalSummary { capability, version, identity, status, .. } = &detail.summary;
        let successor = match detail.successor {
            Some(Successor::By(by)) => format!("; `{by}` came in its place"),
            Some(Successor::Refused(code)) => format!("; what it was changed to was refused ({code})"),
            None => String::new(),
        };
        return format!(
            "{capability}@{version} asked by {} is {status}: its content was erased{successor}\n",
            identity.subject
        );
    };
    let mut text = card(pending, super::terminal::columns(std::io::stdout()));
    if let Some(tool) = &detail.foreign {
        text += &super::providers::foreign(tool);
    }
    for failing in &detail.failing {
        text += &styled(WARN, &format!("  {}\n", failing.sentence()));
    }
    if let Some(preview) = &detail.grant {
        text += &granting(pending, preview);
    }
    match &detail.last_approved {
        Some(last) if last.arguments == pending.arguments => {
            text += &format!("  as at {}, the last time that this was approved: the same arguments\n", last.at);
        }
        Some(last) => {
            text += &format!("  the last time that this was approved, at {}, the arguments were:\n", last.at);
            let arguments: Value = serde_json::from_slice(&last.arguments).unwrap_or_default();
            text.extend(visible_json(&arguments).lines().map(|line| format!("    {line}\n")));
        }
        None => {}
    }
    text
}

/// What `approve --session` would cover.
fn granting(pending: &PendingApproval, preview: &GrantPreview) -> String {
    let GrantLimit { longest, uses } = preview.limit;
    let what = match (preview.scope, &pending.target) {
        (GrantScope::Target, Some((_, target))) => format!("`{}` on `{}`", pending.capability, written_out(target)),
        (GrantScope::Target | GrantScope::Exact, _) => format!("exactly this call of `{}`", pending.capability),
    };
    let past = match (preview.covered.len(), preview.not_covered.len()) {
        (0, 0) => String::new(),
        (covered, not) => format!("; it would have covered {covered} of {} retained calls", covered + not),
    };
    format!(
        "  a grant with `--session --for SPAN --uses N` covers {what} in this session, for {} minutes and {uses} uses at most{past}\n",
        longest.as_secs() / 60
    )
}

/// `grants list`.
pub fn grants(grants: &[Grant]) -> String {
    if grants.is_empty() {
        return "there is no standing answer\n".into();
    }
    let cells: Vec<_> = grants
        .iter()
        .map(|grant| {
            let what = match (&grant.target, grant.scope) {
                (Some((_, target)), GrantScope::Target) => written_out(target),
                (_, GrantScope::Target) => "-".to_owned(),
                (_, GrantScope::Exact) => "exactly one call".to_owned(),
            };
            let used = grant.last_used_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
            [
                grant.id.to_string(),
                grant.ended.map_or("live", |why| why.as_str()).to_owned(),
                format!("{}@{}", grant.capability, grant.version),
                what,
                grant.subject.to_string(),
                grant.expires_at.to_string(),
                format!("{} of {}", grant.used, grant.max_uses),
                used,
            ]
        })
        .collect();
    layout(["GRANT", "STATE", "CAPABILITY", "ON", "FOR", "EXPIRES", "USED", "LAST USED"], &cells)
}

/// `approvals loops`.
pub fn loops(loops: &[DenialLoop]) -> String {
    if loops.is_empty() {
        return "nobody asks again for what was denied\n".into();
    }
    let cells: Vec<_> = loops
        .iter()
        .map(|one| {
            [
                one.subject.to_string(),
                format!("{}@{}", one.capability, one.version),
                one.denials.to_string(),
                one.last_at.to_string(),
                one.until.to_string(),
            ]
        })
        .collect();
    layout(["SUBJECT", "CAPABILITY", "DENIALS", "LAST", "UNTIL"], &cells)
}

/// `journal show`: what a subject wrote, below a line that says so.
pub fn journal(part: &JournalPart) -> String {
    let (subject, shown) = (&part.subject, part.entries.len());
    let total = counted(part.total, "entry", "entries");
    let mut text = match u64::try_from(shown) {
        Ok(0) => return format!("the journal of `{subject}` is empty\n"),
        Ok(shown) if shown < part.total => format!("the newest {shown} of {total} by `{subject}`, untrusted text:\n"),
        _ => format!("{total} by `{subject}`, untrusted text:\n"),
    };
    for Entry { seq, entry } in &part.entries {
        text += &format!("{seq}  {}", happened(entry));
    }
    text
}

/// `history`: the same, as the subject itself reads it.
pub fn history(entries: &[HistoryEntry]) -> String {
    if entries.is_empty() {
        return "nothing has been written down\n".to_owned();
    }
    entries.iter().map(happened).collect()
}

/// One entry: the lines of a text that its subject wrote are inset, so that none of them looks like an operator's act.
fn happened(entry: &HistoryEntry) -> String {
    let inset = |text: &str| text.lines().map(|line| format!("    {}\n", written_out(line))).collect::<String>();
    match entry {
        HistoryEntry::Subject { at, text } => format!("{at}\n{}", inset(text)),
        HistoryEntry::Operator(act) => {
            let OperatorAct { at, deed, capability, version, reason, note, .. } = act;
            let reason = reason.map_or_else(String::new, |reason| format!(": {}", reason.sentence()));
            let note = note.as_deref().map(inset).unwrap_or_default();
            format!("{at}  an operator {deed} {capability}@{version}{reason}\n{note}")
        }
    }
}

/// `optin show`.
pub fn switches(switches: &[Switch]) -> String {
    if switches.is_empty() {
        return "no capability of this build reaches outside the device\n".into();
    }
    let cells: Vec<_> = switches
        .iter()
        .map(|switch| [switch.family.clone(), switch.state.clone(), switch.capabilities.join(", ")])
        .collect();
    layout(["FAMILY", "STATE", "CAPABILITIES"], &cells)
}

const RECORD: [&str; 6] = ["SEQ", "AT", "EVENT", "CAPABILITY", "WHAT", "DETAIL"];

/// `audit tail`: time, event, and what it was about.
pub fn records(records: &[Value]) -> String {
    layout(RECORD, &cells(records))
}

/// `audit tail --follow`: what comes later, without the heading.
pub fn more(records: &[Value]) -> String {
    // As wide as most records are, since what is to come is not known.
    let columns = ["000000", "0000-00-00T00:00:00.000000Z", "policy_decision", "capability.name@1", "executed", ""];
    layout(columns, &cells(records)).split_once('\n').map_or_else(String::new, |(_, rows)| rows.to_owned())
}

fn cells(records: &[Value]) -> Vec<[String; 6]> {
    records
        .iter()
        .map(|record| {
            let word = |key: &str| match record.get(key) {
                // A log that somebody changed may hold anything.
                Some(Value::String(text)) => written_out(text),
                Some(Value::Null) | None => String::new(),
                Some(other) => other.to_string(),
            };
            let capability = match (word("capability"), word("version")) {
                (name, _) if name.is_empty() => "-".to_owned(),
                (name, version) => format!("{name}@{version}"),
            };
            let what = ["verdict", "outcome", "step", "setting", "kind", "rule"].map(word).concat();
            let on = match record.get("on") {
                Some(Value::Bool(on)) => if *on { "on" } else { "off" }.to_owned(),
                _ => word("on"),
            };
            let of = if word("event") == "configuration" { word("subject") } else { String::new() };
            let detail = [
                "family",
                "stage",
                "code",
                "effect",
                "approval",
                "successor",
                "grant",
                "why",
                "reason",
                "left",
                "count",
                "bytes",
            ]
            .map(word);
            let detail = detail.into_iter().chain([on, of]).filter(|part| !part.is_empty());
            [word("seq"), word("at"), word("event"), capability, what, detail.collect::<Vec<_>>().join(" ")]
        })
        .collect()
}

/// `audit stats`: one line a count.
pub fn stats(stats: &Value) -> String {
    let counts = |key: &str| {
        let Some(Value::Object(counts)) = stats.get(key) else {
            return String::new();
        };
        counts.iter().fold(String::new(), |text, (of, count)| {
            let words = |key: &str| match count.get(key) {
                Some(Value::Object(counts)) => {
                    counts.iter().map(|(word, count)| format!("{word} {count}")).collect::<Vec<_>>().join(", ")
                }
                _ => String::new(),
            };
            let count = match (count.get("asked"), words("rejected")) {
                (None, _) => count.to_string(),
                (Some(asked), stages) if stages.is_empty() => format!("{asked}: {}", words("outcomes")),
                (Some(asked), stages) => format!("{asked}: {} (rejected at {stages})", words("outcomes")),
            };
            text + &format!("  {of:<24} {count}\n")
        })
    };
    let records = stats.get("records").and_then(Value::as_u64).unwrap_or_default();
    let mut text = counted(records, "record", "records") + "\n";
    for (key, title) in [
        ("outcomes", "outcomes"),
        ("rejected", "rejected at"),
        ("codes", "because"),
        ("capabilities", "capabilities"),
        ("events", "events"),
    ] {
        let counted = counts(key);
        if !counted.is_empty() {
            text += &format!("{}\n{counted}", styled(NAME, title));
        }
    }
    text
}

/// `doctor`.
pub fn probes(probes: &[Probe]) -> String {
    let width = probes.iter().map(|probe| probe.name.chars().count()).max().unwrap_or(0);
    probes.iter().fold(String::new(), |text, probe| {
        let state = match probe.state {
            ProbeState::Ok => styled(GOOD, "ok    "),
            ProbeState::Weak => styled(WARN, "weak  "),
            ProbeState::Failed => styled(BAD, "failed"),
        };
        let below = format!("\n{:width$}          ", "");
        let inset = |text: &str| text.lines().map(written_out).collect::<Vec<_>>().join(&below);
        let help = probe.help.as_ref().map_or(String::new(), |help| format!("{below}help: {}", inset(help)));
        let ways = probe.answers.iter().fold(String::new(), |text, way| {
            text + &format!("{below}{}: {} ({})", written_out(&way.tried), written_out(&way.answer), way.profile)
        });
        text + &format!("{state}  {:width$}  {}{help}{ways}\n", probe.name, inset(&probe.found))
    })
}

/// Any document without a form of its own: its keys, aligned.
pub fn plain(document: &Value) -> String {
    match document {
        Value::Object(map) => map.iter().fold(String::new(), |text, (key, value)| match value {
            Value::String(value) => text + &format!("{key}: {value}\n"),
            other => text + &format!("{key}: {other}\n"),
        }),
        other => format!("{other}\n"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::protocol::{Probe, ProbeState};

    #[test]
    fn a_refusal_says_stage_reason_and_what_to_do() {
        let refused = json!({"outcome": "rejected", "effect": "not_started", "stage": "policy", "code": "opt_in_off",
            "message": "off", "help": "turn it on"});
        let text = anstream::adapter::strip_str(&super::outcome(&refused)).to_string();
        assert_eq!(text, "rejected at policy (opt_in_off): off\nhelp: turn it on\neffect: not_started\n");
    }

    #[test]
    fn a_record_says_what_it_is_about() {
        let id = "0123456789abcdef0123456789abcdef";
        let text = super::records(&[
            json!({"seq": 1, "event": "configuration", "setting": "opt_in", "family": "lamp", "on": false}),
            json!({"seq": 2, "event": "approval", "step": "denied", "approval": id}),
            json!({"seq": 3, "event": "recovery", "kind": "unfinished_intents", "count": 2}),
            json!({"seq": 4, "event": "expiry", "approval": id}),
            json!({"event": "unreadable", "count": 17}),
        ]);
        let lines: Vec<_> = text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
        assert_eq!(lines[0], ["1", "configuration", "-", "opt_in", "lamp", "off"]);
        assert_eq!(lines[1], ["2", "approval", "-", "denied", id]);
        assert_eq!(lines[2], ["3", "recovery", "-", "unfinished_intents", "2"]);
        assert_eq!(lines[3], ["4", "expiry", "-", id]);
        assert_eq!(lines[4], ["unreadable", "-", "17"]);
    }

    #[test]
    fn a_finding_of_several_lines_stays_in_its_column() {
        let probe = |name: &str, found: &str| Probe {
            name: name.into(),
            state: ProbeState::Weak,
            found: found.into(),
            help: Some("do\nthis".into()),
            answers: vec![],
        };
        let text = super::probes(&[probe("one", "first\nsecond"), probe("another", "only")]);
        let text = anstream::adapter::strip_str(&text).to_string();
        let columns: Vec<_> = text.lines().map(|line| line.chars().skip(17).collect::<String>()).collect();
        assert_eq!(columns, ["first", "second", "help: do", "this", "only", "help: do", "this"]);
    }

    #[test]
    fn another_way_than_the_caller_thought_is_told_in_a_word_and_in_words() {
        for way in capability_core::provider::Diagnostic::ALL {
            let refused = json!({
                "outcome": "rejected", "stage": "policy", "code": "locked", "message": "no", "help": "never", "effect": "not_started",
                "diagnostic": { "kind": way, "message": way.message() },
            });
            let told = format!("\n{}: {}\n", way.as_str(), way.message());
            assert!(super::outcome(&refused).contains(&told), "{told}");
        }
        let served = json!({ "outcome": "executed", "result": 1, "notice": "`desk` is gone\u{1b}[2J" });
        let told = anstream::adapter::strip_str(&super::outcome(&served)).to_string();
        assert!(told.starts_with("1\nnotice: `desk` is gone") && !told.contains('\u{1b}'), "{told}");
    }

    #[test]
    fn a_result_is_printed_as_it_is() {
        assert_eq!(super::outcome(&json!({"outcome": "executed", "result": {"a": 1}})), "{\n  \"a\": 1\n}\n");
    }
}

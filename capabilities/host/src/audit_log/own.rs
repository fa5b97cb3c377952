//! What one subject asked for and what became of it, out of the log.

use std::collections::HashMap;
use std::path::Path;

use capability_core::audit::InvocationId;
use capability_core::handle::{Because, OwnCall, OwnCalls};
use capability_core::policy::Verdict;
use capability_core::session::Subject;
use serde::Deserialize;

use super::error::AuditLogError;
use super::tail::tail;

/// How many records are looked at, from the newest on. What is older is the operator's to look at.
const RECORDS: usize = 4_000;

/// The newest calls of `subject` that are `wanted`, the newest first. Nothing of the log is verified for it.
///
/// # Errors
/// [`AuditLogError`] when the log cannot be read.
pub fn own_calls(dir: &Path, subject: &Subject, wanted: &OwnCalls) -> Result<Vec<OwnCall>, AuditLogError> {
    let lines = tail(dir, RECORDS)?;
    let most = usize::try_from(wanted.most).unwrap_or(usize::MAX);
    let mut calls: Vec<OwnCall> = Vec::new();
    // What is asked for first; then, further up, what policy said of it.
    let mut waiting: HashMap<InvocationId, usize> = HashMap::new();
    for line in lines.iter().rev() {
        // A cheap look first: most lines of a busy host are somebody else's.
        if !line.contains(subject.as_str()) {
            continue;
        }
        let Ok(record) = serde_json::from_str::<Head>(line) else { continue };
        if record.subject.as_ref() != Some(subject) {
            continue;
        }
        match record.event.as_str() {
            "outcome" if calls.len() < most => {
                let Some(call) = serde_json::from_str::<Ended>(line).ok().map(|ended| ended.call) else { continue };
                if is_wanted(&call, wanted) {
                    waiting.insert(call.invocation, calls.len());
                    calls.push(call);
                }
            }
            "policy_decision" => {
                let Some(at) = record.invocation.and_then(|invocation| waiting.remove(&invocation)) else { continue };
                if let (Some(call), Ok(decided)) = (calls.get_mut(at), serde_json::from_str::<Decided>(line)) {
                    call.verdict = Some(decided.verdict);
                    call.because =
                        decided.contributions.into_iter().filter(|said| said.verdict > Verdict::Allow).collect();
                }
            }
            _ => {}
        }
        if calls.len() >= most && waiting.is_empty() {
            break;
        }
    }
    Ok(calls)
}

fn is_wanted(call: &OwnCall, wanted: &OwnCalls) -> bool {
    wanted.seq.is_none_or(|seq| call.seq == seq)
        && wanted.capability.as_ref().is_none_or(|name| call.capability.as_ref() == Some(name))
        && wanted.outcome.is_none_or(|outcome| call.outcome == outcome)
        && wanted.since.is_none_or(|since| call.at >= since)
        && wanted.until.is_none_or(|until| call.at < until)
}

/// What decides whether a record is looked at any further.
#[derive(Deserialize)]
struct Head {
    event: String,
    subject: Option<Subject>,
    invocation: Option<InvocationId>,
}

/// An outcome's record as an [`OwnCall`]: the fields of both have the same names.
struct Ended {
    call: OwnCall,
}

impl<'de> Deserialize<'de> for Ended {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // What only a decision has is absent here.
        let mut record = serde_json::Map::deserialize(deserializer)?;
        record.insert("because".to_owned(), serde_json::Value::Array(Vec::new()));
        let call = serde_json::from_value(serde_json::Value::Object(record)).map_err(serde::de::Error::custom)?;
        Ok(Self { call })
    }
}

#[derive(Deserialize)]
struct Decided {
    verdict: Verdict,
    contributions: Vec<Because>,
}

#[cfg(test)]
mod tests {
    use capability_core::audit::OutcomeKind;
    use capability_core::handle::OwnCalls;

    use super::own_calls;

    const POLICY: &str = r#"{"at":"2026-11-30T14:12:09.740358Z","capability":"web.fetch","contributions":[{"code":"clear","contributor":"locked","verdict":"allow"},{"code":"floor_required","contributor":"floor","verdict":"ask_fresh"}],"event":"policy_decision","invocation":"ID","mode":"live","prev":"00","seq":1,"subject":"SUBJECT","verdict":"ask_fresh","version":1}"#;
    const OUTCOME: &str = r#"{"at":"2026-11-30T14:12:09.874871Z","capability":"web.fetch","duration_us":34,"effect":"not_started","event":"outcome","invocation":"ID","outcome":"pending","prev":"00","seq":2,"stage":"confirm","subject":"SUBJECT","version":1}"#;

    fn line(form: &str, id: u8, subject: &str, seq: u64) -> String {
        let seq = format!(r#""seq":{seq},"#);
        let form = form.replace(r#""seq":1,"#, &seq).replace(r#""seq":2,"#, &seq);
        form.replace("ID", &format!("{id:02x}").repeat(16)).replace("SUBJECT", subject)
    }

    #[test]
    fn only_the_subjects_own_calls_and_why_they_ended_so() {
        let dir = tempfile::tempdir().unwrap();
        let lines = [
            line(POLICY, 1, "agent:a", 1),
            line(POLICY, 2, "agent:ab", 2),
            line(OUTCOME, 1, "agent:a", 3),
            line(OUTCOME, 2, "agent:ab", 4),
            line(OUTCOME, 3, "agent:a", 5),
            // A name that holds another's, and a line that is none of ours.
            r#"{"event":"outcome","capability":"agent:a","subject":"local"}"#.to_owned(),
            "agent:a".to_owned(),
        ];
        let file = dir.path().join("seg-00000000000000000001.jsonl");
        std::fs::write(&file, lines.join("\n") + "\n").unwrap();
        // Whatever the files of a log are called, the reader finds this one or the test says so.
        let all = |wanted: &OwnCalls| own_calls(dir.path(), &"agent:a".parse().unwrap(), wanted).unwrap();
        let calls = all(&OwnCalls { most: 9, ..OwnCalls::default() });
        assert_eq!(calls.iter().map(|call| call.seq).collect::<Vec<_>>(), [5, 3]);
        assert_eq!(calls[0].verdict, None);
        assert_eq!(calls[1].because.iter().map(|said| said.contributor.as_str()).collect::<Vec<_>>(), ["floor"]);
        assert_eq!(calls[1].outcome, OutcomeKind::Pending);
        let one = |wanted: OwnCalls| all(&OwnCalls { most: 9, ..wanted }).len();
        assert_eq!(one(OwnCalls { seq: Some(3), ..OwnCalls::default() }), 1);
        assert_eq!(one(OwnCalls { seq: Some(4), ..OwnCalls::default() }), 0);
        assert_eq!(one(OwnCalls { outcome: Some(OutcomeKind::Executed), ..OwnCalls::default() }), 0);
        assert_eq!(one(OwnCalls { capability: Some("web.search".into()), ..OwnCalls::default() }), 0);
        assert_eq!(all(&OwnCalls { most: 1, ..OwnCalls::default() }).len(), 1);
    }
}

//! What a rule must say and must not.

use core::time::Duration;

use super::{ExampleTarget, MaxGrant, Rule, RuleEffect};

fn rule(json: &str) -> Result<Rule, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[test]
fn a_whole_rule() {
    let rule = rule(
        r#"{"id":"no-admin","effect":"ask_fresh","subject":"agent:a","capability":"web.fetch","action":"read_only",
            "origin":"channel","target":{"host":"router.lan"},"when":{"days":["sat-sun"],"tz":"Europe/Berlin"},
            "except":[{"subject":"local"}],"max_grant":{"duration":"30m","uses":5},
            "match":[{"target":"http://router.lan"}],"not_match":[{"target":["git","status"]}]}"#,
    )
    .unwrap();
    assert_eq!((rule.id.as_str(), rule.effect), ("no-admin", RuleEffect::AskFresh));
    assert_eq!((rule.except.len(), rule.matching.len(), rule.not_matching.len()), (1, 1, 1));
    let target = rule.not_matching[0].target.as_ref().unwrap();
    assert_eq!(target, &ExampleTarget::Argv(vec!["git".into(), "status".into()]));
    assert_eq!(target.as_text(), r#"["git","status"]"#);
    let Some(MaxGrant::Within { duration, uses }) = rule.max_grant else { panic!("it has a limit") };
    assert_eq!((duration, uses.map(u32::from)), (Some(Duration::from_secs(1800)), Some(5)));
}

#[test]
fn what_is_missing_or_too_much_is_said() {
    for (json, words) in [
        (r#"{"id":"a","capability":"web.fetch"}"#, "missing field `effect`"),
        (r#"{"effect":"ask"}"#, "missing field `id`"),
        (r#"{"id":"a","effect":"ALLOW"}"#, "unknown variant"),
        (r#"{"id":"A","effect":"ask"}"#, "is no rule's id"),
        (r#"{"id":"-a","effect":"ask"}"#, "is no rule's id"),
        (r#"{"id":"a","effect":"deny"}"#, "has no `reason`"),
        (r#"{"id":"a","effect":"allow"}"#, "has no `reason`"),
        (r#"{"id":"a","effect":"deny","reason":" "}"#, "`reason` is empty"),
        (r#"{"id":"a","effect":"deny","reason":"x\u202ey"}"#, "cannot be seen"),
        (r#"{"id":"a","effect":"allow","reason":"x","except":[{"subject":"b"}]}"#, "allows and has an `except`"),
        (r#"{"id":"a","effect":"ask","except":[{}]}"#, "never match"),
        (r#"{"id":"a","effect":"deny","reason":"x","max_grant":"never"}"#, "denies and has a `max_grant`"),
        (r#"{"id":"a","effect":"ask","max_grant":"always"}"#, "`max_grant` is `always`"),
        (r#"{"id":"a","effect":"ask","max_grant":{}}"#, "says nothing"),
        (r#"{"id":"a","effect":"ask","max_grant":{"uses":0}}"#, "nonzero"),
        (r#"{"id":"a","effect":"ask","max_grant":{"duration":"25h"}}"#, "no duration"),
        (r#"{"id":"a","effect":"ask","max_grant":{"duration":"m"}}"#, "no duration"),
        (r#"{"id":"a","effect":"ask","max_grant":{"duration":"5é"}}"#, "no duration"),
        (r#"{"id":"a","effect":"ask","target":{"path":"*.md"}}"#, "inside a segment"),
        (r#"{"id":"a","effect":"ask","priority":1}"#, "unknown field `priority`"),
    ] {
        let said = rule(json).unwrap_err();
        assert!(said.contains(words), "{json}: {said}");
    }
}

#[test]
fn the_stricter_of_two_limits_holds_part_by_part() {
    let limit = |json: &str| serde_json::from_str::<MaxGrant>(json).unwrap();
    let (long, often) = (limit(r#"{"duration":"1h","uses":2}"#), limit(r#"{"duration":"5m"}"#));
    assert_eq!(long.stricter(often), limit(r#"{"duration":"5m","uses":2}"#));
    assert_eq!(often.stricter(long), long.stricter(often));
    assert_eq!(long.stricter(limit(r#""never""#)), MaxGrant::Never);
}

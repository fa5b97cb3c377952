use super::{Blocking, Config, Counters, Counts, Period, Privacy, Summary, percentage, read, summary};
use capability_core::Timestamp;
use capability_core::handle::EndpointReply;

fn reply(status: u16, body: &str) -> EndpointReply {
    EndpointReply { status, content_type: Some("application/json".into()), body: body.into() }
}

fn of(counts: &str, counters: &str, privacy: Privacy) -> Summary {
    let counts: Counts = serde_json::from_str(counts).unwrap();
    let counters: Counters = serde_json::from_str(counters).unwrap();
    summary(Period::Today, Timestamp::from_micros(0), &counts, &counters, privacy).unwrap()
}

const COUNTS: &str = r#"{"sum_queries":400,"sum_blocked":50,"percent_blocked":99.9,"total_clients":7,"took":0.1}"#;
const COUNTERS: &str =
    r#"{"queries":{"total":1},"gravity":{"domains_being_blocked":80000,"last_update":1},"took":0.1}"#;

#[test]
fn counts_are_told_as_they_are() {
    let told = of(COUNTS, COUNTERS, Privacy::Clients);
    assert_eq!((told.queries_total, told.queries_blocked, told.unique_clients), (Some(400), Some(50), Some(7)));
    assert_eq!((told.blocked_percentage, told.blocklist_size), (Some(12.5), Some(80000)));
}

#[test]
fn what_a_privacy_level_hides_is_null_and_not_zero() {
    let told = of(COUNTS, COUNTERS, Privacy::Numbers);
    assert_eq!((told.queries_total, told.unique_clients, told.blocked_percentage), (Some(400), None, Some(12.5)));
    let none = r#"{"sum_queries":0,"sum_blocked":0,"percent_blocked":0,"total_clients":0}"#;
    let told = of(none, COUNTERS, Privacy::Nothing);
    assert_eq!((told.queries_total, told.queries_blocked, told.blocked_percentage), (None, None, None));
    assert_eq!((told.unique_clients, told.blocklist_size), (None, Some(80000)));
    let hidden = r#"{"sum_queries":-1,"sum_blocked":-1,"total_clients":-1}"#;
    let told = of(hidden, r#"{"gravity":{"domains_being_blocked":-2}}"#, Privacy::Clients);
    assert_eq!((told.queries_total, told.queries_blocked, told.blocked_percentage), (None, None, None));
    assert_eq!((told.unique_clients, told.blocklist_size), (None, None));
    let told = of(none, COUNTERS, Privacy::Untold);
    assert_eq!((told.queries_total, told.queries_blocked, told.unique_clients), (None, None, None));
    let told = of(COUNTS, COUNTERS, Privacy::Untold);
    assert_eq!((told.queries_total, told.unique_clients), (Some(400), None));
    // A quiet day is a number.
    assert_eq!(of(none, COUNTERS, Privacy::Clients).queries_total, Some(0));
}

#[test]
fn a_number_of_another_kind_is_no_count() {
    for odd in ["1.5", "\"7\"", "null", "[7]", "{\"a\":1}", "true", "1e999", "99999999999999999999"] {
        let counts = format!(r#"{{"sum_queries":{odd},"sum_blocked":1,"total_clients":{odd}}}"#);
        let Ok(counts) = serde_json::from_str::<Counts>(&counts) else {
            assert_eq!(odd, "1e999", "only what is no number at all is no answer");
            continue;
        };
        assert_eq!((counts.sum_queries.known(), counts.total_clients.known()), (None, None), "{odd}");
    }
}

#[test]
fn more_blocked_than_asked_is_no_answer() {
    let counts: Counts = serde_json::from_str(r#"{"sum_queries":1,"sum_blocked":2}"#).unwrap();
    let counters: Counters = serde_json::from_str(COUNTERS).unwrap();
    assert!(summary(Period::Today, Timestamp::from_micros(0), &counts, &counters, Privacy::Clients).is_err());
    assert_eq!((percentage(0, 0), percentage(u64::MAX, u64::MAX)), (Some(0.0), Some(100.0)));
}

#[test]
fn only_two_words_are_known() {
    for (word, known) in [
        ("enabled", Some(true)),
        ("disabled", Some(false)),
        ("failed", None),
        ("unknown", None),
        ("paused", None),
        ("Enabled", None),
    ] {
        let body = format!(r#"{{"blocking":"{word}","timer":null,"took":0.1,"clients":["a"]}}"#);
        assert_eq!(read::<Blocking>(&reply(200, &body)).unwrap().blocking.known(), known, "{word}");
    }
}

#[test]
fn what_is_no_answer_is_a_failure_in_our_words() {
    for (status, body, words) in [
        (401, "{}", "credential"),
        (403, "{}", "credential"),
        (429, "{}", "session"),
        (500, "canary", "protocol"),
        (302, "canary", "protocol"),
        (200, "canary", "JSON"),
        (200, r#"{"blocking":true}"#, "JSON"),
        (200, r#"{"blocking":"enabled","blocking":"disabled"}"#, "JSON"),
        (200, "[]", "JSON"),
        (200, r#"["enabled"]"#, "JSON"),
    ] {
        let failure = read::<Blocking>(&reply(status, body)).err().unwrap();
        let told = failure.public_message().unwrap();
        assert!(
            told.contains(words) && told.contains("\nhelp: ") && !told.contains("canary"),
            "{status} {body}: {told}"
        );
    }
}

#[test]
fn a_privacy_level_is_read_where_it_stands() {
    let config: Config = serde_json::from_str(r#"{"config":{"misc":{"privacylevel":3}},"took":0.1}"#).unwrap();
    assert_eq!(config.config.0.misc.0.privacylevel.known(), Some(3));
}

use super::{Kind, is_promql, read};
use capability_core::Timestamp;
use capability_core::handle::EndpointReply;
use proptest::prelude::*;
use serde_json::{Value, json};

fn reply(status: u16, body: impl Into<Vec<u8>>) -> EndpointReply {
    EndpointReply { status, content_type: Some("application/json".into()), body: body.into() }
}

fn answered(data: &Value) -> super::Metrics {
    let body = json!({ "status": "success", "data": data }).to_string();
    read(&reply(200, body), Timestamp::from_micros(0)).ok().unwrap()
}

#[test]
fn what_is_asked_over_a_time_has_a_value_at_each_moment() {
    assert!(is_promql("up", &Some(5)).is_ok());
    assert!(is_promql("1", &Some(5)).is_ok());
    assert!(is_promql("up[5m]", &None).is_ok());
    for text in ["up[5m]", "\"a\""] {
        assert!(is_promql(text, &Some(5)).unwrap_err().contains("\nhelp: "), "{text}");
    }
}

#[test]
fn values_come_through_as_they_are_and_texts_without_what_hides() {
    let series = json!([{ "metric": { "__name__": "up", "job": "a\u{202e}b" }, "value": [1.5, "+Inf"] }]);
    let told = answered(&json!({ "resultType": "vector", "result": series }));
    assert_eq!((told.kind, told.series_total, told.truncated), (Kind::Vector, 1, false));
    assert_eq!((told.series[0].samples[0].value.as_str(), told.series[0].labels["job"].as_str()), ("+Inf", "ab"));
    assert_eq!(told.series[0].samples[0].at, Timestamp::from_micros(1_500_000));
    let told = answered(&json!({ "resultType": "string", "result": [0, "\u{200b}words"] }));
    assert_eq!((told.kind, told.series[0].samples[0].value.as_str()), (Kind::String, "words"));
    let told = answered(&json!({ "resultType": "scalar", "result": [0, "NaN"] }));
    assert_eq!((told.kind, told.series[0].samples.len()), (Kind::Scalar, 1));
}

#[test]
fn what_is_too_much_is_cut_and_said_to_be() {
    let values: Vec<_> = (0..120).map(|at| json!([at, "0.123456789012345"])).collect();
    let labels: serde_json::Map<_, _> = (0..10).map(|at| (format!("label{at}"), json!("\"x".repeat(500)))).collect();
    let series = vec![json!({ "metric": labels, "values": values }); 300];
    let told = answered(&json!({ "resultType": "matrix", "result": series }));
    assert!(told.truncated && told.series_total == 300 && !told.series.is_empty());
    let size = serde_json::to_string(&told).unwrap().len();
    assert!(size < 64 * 1024, "{size}");
}

#[test]
fn what_is_no_answer_is_a_failure_in_our_words() {
    let vector = |value: Value| json!({ "data": { "resultType": "vector", "result": [value] } }).to_string();
    for (status, body) in [
        (200, "canary".to_owned()),
        (200, "{}".to_owned()),
        (200, json!({ "data": { "resultType": "canary", "result": [] } }).to_string()),
        (200, vector(json!({ "metric": {}, "value": [-1, "1"] }))),
        (200, vector(json!({ "metric": {}, "value": [1e300, "1"] }))),
        (200, vector(json!({ "metric": {}, "value": [0, "canary"] }))),
        (200, vector(json!({ "metric": { "a": 1 }, "value": [0, "1"] }))),
        (200, vector(json!([{}, [0, "1"]]))),
        (400, "{\"error\":\"canary\"}".to_owned()),
        (401, "canary".to_owned()),
        (404, "canary".to_owned()),
        (422, "{\"error\":\"canary\"}".to_owned()),
        (503, "{\"error\":\"canary\"}".to_owned()),
    ] {
        let failure = read(&reply(status, body.clone()), Timestamp::from_micros(0)).err().unwrap();
        let told = failure.public_message().unwrap();
        assert!(told.contains("\nhelp: ") && !told.contains("canary"), "{status} {body}: {told}");
    }
}

proptest! {
    /// Whatever bytes come, there is an answer in bounds or a failure.
    #[test]
    fn any_answer_is_read_in_bounds(
        body in prop::collection::vec(any::<u8>(), 0..200),
        start in prop::sample::select(vec!["", "{\"data\":{\"resultType\":\"vector\",\"result\":[", "{\"data\":{\"resultType\":\"scalar\",\"result\":["]),
    ) {
        let body = [start.as_bytes(), &body].concat();
        if let Ok(metrics) = read(&reply(200, body), Timestamp::from_micros(0)) {
            prop_assert!(serde_json::to_string(&metrics).unwrap().len() < 64 * 1024);
        }
    }
}

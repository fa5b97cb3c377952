//! `metrics.read`.

use capability_core::{Code, Stage};
use serde_json::{Value, json};

use crate::household::{Household, folder};
use crate::prometheus::Prometheus;
use crate::servers::{Server, answer};

async fn household(url: &str, reach: &str) -> Household {
    Household::open(folder(), &format!("[endpoints.prometheus]\nurl = \"{url}\"\nreach = \"{reach}\"\n")).await
}

fn query(text: &str) -> Value {
    json!({ "query": text })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_prometheus_is_read_without_asking_anybody() {
    let prometheus = Prometheus::start();
    let household = household(&prometheus.url(), "device").await;

    let outcome = household.ask("metrics.read", &query("up{job=\"itself\"}")).await;
    let told: Value = serde_json::from_str(outcome.result().unwrap_or_else(|| panic!("{outcome:?}"))).unwrap();
    assert_eq!(
        (&told["kind"], &told["series_total"], &told["truncated"]),
        (&json!("vector"), &json!(1), &json!(false))
    );
    let series = &told["series"][0];
    assert_eq!((&series["labels"]["__name__"], &series["labels"]["job"]), (&json!("up"), &json!("itself")));
    assert_eq!(series["samples"][0]["value"], "1");
    assert!(series["samples"][0]["at"].as_str().unwrap().starts_with("20"), "{series}");

    for (text, kind, value) in [("1 + 1", "scalar", "2"), ("1 / 0", "scalar", "+Inf"), ("\"words\"", "string", "words")]
    {
        let told = household.called("metrics.read", &query(text)).await;
        assert_eq!((&told["kind"], &told["series"][0]["samples"][0]["value"]), (&json!(kind), &json!(value)), "{text}");
    }
    let matrix = household.called("metrics.read", &query("up[1m]")).await;
    assert_eq!(matrix["kind"], "matrix");
    let over = household.called("metrics.read", &json!({ "query": "vector(7)", "last_minutes": 44_640 })).await;
    let samples = over["series"][0]["samples"].as_array().unwrap();
    assert!(over["kind"] == "matrix" && (100..=120).contains(&samples.len()), "{}", samples.len());
    assert!(samples.iter().all(|sample| sample["value"] == "7"));
    let nothing = household.called("metrics.read", &query("nosuch_measurement")).await;
    assert_eq!((&nothing["series"], &nothing["series_total"]), (&json!([]), &json!(0)));

    // Everything that it measures of itself is more than an answer holds.
    let all = household.called("metrics.read", &query("{__name__=~\".+\"}")).await;
    let given = all["series"].as_array().unwrap().len();
    assert!(all["truncated"] == true && all["series_total"].as_u64().unwrap() > given as u64, "{given}");
    // What it cannot work out is said in words of ours.
    let told = household.failed("metrics.read", &query("up + on() group_left() {__name__=~\"go_.+\"}")).await;
    assert!(told.contains("more than one series") && !told.contains("go_"), "{told}");
    // The parser is newer than this server: what only one of them knows is the server's to refuse.
    let told = household.failed("metrics.read", &query("limitk(2, up)")).await;
    assert!(told.contains("does not take the expression"), "{told}");
    household.remembers_nothing_of(&["nosuch_measurement", "itself", "vector(7)"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_promql_is_refused_before_anything_is_sent() {
    let server = Server::always(answer("200 OK", &[("content-type", "application/json")], "{}"));
    let household = household(&server.url(""), "device").await;
    for (bad, code) in [
        (query("up{"), Code::CheckRefused),
        (query("rate(up)"), Code::CheckRefused),
        (query("up; drop"), Code::CheckRefused),
        (query(&("(".repeat(1000) + "1" + &")".repeat(1000))), Code::CheckRefused),
        (query(&"sum(".repeat(500)), Code::CheckRefused),
        (query(&("-".repeat(2000) + "1")), Code::CheckRefused),
        (json!({ "query": "up[5m]", "last_minutes": 5 }), Code::CheckRefused),
        (query(&"(".repeat(20_000)), Code::SchemaViolation),
        (query(""), Code::SchemaViolation),
        (json!({ "query": "up", "last_minutes": 0 }), Code::SchemaViolation),
        (json!({ "query": "up", "path": "/api/v1/admin/tsdb/snapshot" }), Code::SchemaViolation),
    ] {
        let outcome = household.ask("metrics.read", &bad).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Validate, Some(code)), "{outcome:?}");
    }
    assert_eq!(server.connections(), 0);
}

/// It is read without asking, so it has to be on a device of the household.
#[tokio::test(flavor = "multi_thread")]
async fn a_prometheus_elsewhere_is_not_bound() {
    let server = Server::always(answer("200 OK", &[("content-type", "application/json")], "{}"));
    for household in [household(&server.url(""), "external").await, Household::open(folder(), "").await] {
        let outcome = household.ask("metrics.read", &query("up")).await;
        assert_eq!(
            (outcome.stage(), outcome.code()),
            (Stage::Policy, Some(Code::MissingRuntimeBinding)),
            "{outcome:?}"
        );
    }
    assert_eq!(server.connections(), 0);
}

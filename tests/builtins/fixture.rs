//! The Pi-hole of these tests is one: a client that other people wrote for the real one gets along with it.

use std::process::Command;

use serde_json::{Value, json};

use crate::household::python;
use crate::servers::pihole::Pihole;

#[test]
fn a_client_of_the_real_pihole_takes_the_fixture_for_one() {
    let pihole = Pihole::start("sesame");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/python/pihole_client.py");
    let ran = Command::new(python()).args([script, &pihole.server().url(""), "sesame"]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let heard: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(heard["summary"]["queries"]["total"], 5120);
    assert_eq!(heard["summary"]["gravity"]["domains_being_blocked"], 143_210);
    assert_eq!((&heard["period"]["sum_queries"], &heard["period"]["sum_blocked"]), (&json!(5120), &json!(768)));
    assert_eq!(heard["period"]["total_clients"], 11);
    assert_eq!(heard["domains"]["domains"][0]["domain"], "radio.example");
    assert_eq!(heard["clients"]["clients"][0]["ip"], "192.0.2.77");
    assert_eq!(heard["level"]["config"]["misc"]["privacylevel"], 0);
    let words = ["before", "off", "on"].map(|when| heard[when]["blocking"].as_str().unwrap());
    assert_eq!(words, ["enabled", "disabled", "enabled"]);
    assert!(heard.as_object().unwrap().values().all(|answer| answer["took"].is_f64()), "{heard}");
    assert_eq!(pihole.sessions(), 0, "it signed out");
}

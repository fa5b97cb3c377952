//! Secrets: bound by name, recorded by name, and nowhere else to be found.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use capability_core::Code;
use serde_json::{Value, json};

use super::lab::Lab;

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_reaches_the_body_and_only_its_name_is_recorded() {
    let lab = Lab::new(&[], &[]);
    lab.private("secrets/token", b"sesame-open\n");
    assert_eq!(lab.said("secret.length", json!({})).await, Ok(json!(11)));
    let events: Vec<Value> = lab.sink.lines().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, ["policy_decision", "secret_binding", "outcome"]);
    let binding = &events[1];
    assert_eq!(
        (&binding["handle"], &binding["source"], &binding["name"]),
        (&json!("secret"), &json!("stored"), &json!("token"))
    );
    assert_eq!(binding["capability"], "secret.length");
    assert_eq!(binding["invocation"], events[2]["invocation"]);
    assert!(!lab.sink.lines().contains("sesame"));
}

async fn refused(lab: &Lab) -> Option<Code> {
    lab.invoke("secret.length", json!({})).await.code()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_is_not_the_hosts_alone_is_none() {
    let lab = Lab::new(&[], &[]);
    let unbound = Some(Code::MissingRuntimeBinding);
    assert_eq!(refused(&lab).await, unbound, "there is none");
    for content in [&b""[..], b"\n", b"\xff\xfe", b"a\0b and more", b"1234567\n", &[b'x'; 4097]] {
        lab.private("secrets/token", content);
        assert_eq!(refused(&lab).await, unbound, "{} bytes", content.len());
    }
    let path = lab.private("secrets/token", &[b'x'; 4096]);
    assert_eq!(lab.said("secret.length", json!({})).await, Ok(json!(4096)));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("a mode");
    assert_eq!(refused(&lab).await, unbound, "others may read it");
    fs::rename(&path, lab.outside().join("elsewhere")).expect("it moves");
    std::os::unix::fs::symlink(lab.outside().join("elsewhere"), &path).expect("a link");
    assert_eq!(refused(&lab).await, unbound, "it is a link");
    fs::remove_file(&path).expect("it was there");
    lab.private("secrets/token", b"sesame-open");
    fs::set_permissions(lab.outside().join("secrets"), fs::Permissions::from_mode(0o755)).expect("a mode");
    assert_eq!(refused(&lab).await, unbound, "others may enter the directory");
}

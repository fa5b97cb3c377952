//! Secrets for commands: each by an answer to that very call, on record by name, and never in what comes back.

use std::time::{Duration, Instant};

use capability_core::{Code, Outcome, Stage, Timestamp};
use capability_host::environment::HostEnvironment;
use capability_host::secrets::{SecretSettings, Whence};
use serde_json::{Value, json};

use super::lab::{Lab, private_file};

const EXEC: &str = "terminal.exec";
/// With whatever an encoder writes otherwise.
const VALUE: &str = "sword/fish+\"42\"&<\\>";

fn lab() -> Lab {
    let lab = Lab::isolated(&[], &[]);
    lab.private("secrets/deploy_token", format!("{VALUE}\n").as_bytes());
    lab
}

fn asking(script: &str) -> Value {
    json!({ "script": script, "secrets": [{ "variable": "DEPLOY_TOKEN", "secret": "deploy_token" }] })
}

async fn run(lab: &Lab, script: &str) -> Value {
    lab.said(EXEC, asking(script)).await.unwrap_or_else(|word| panic!("{word}"))
}

fn now() -> Timestamp {
    capability_core::Environment::now(&HostEnvironment::new().expect("randomness"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_reaches_a_command_by_an_answer_to_that_very_call_and_comes_back_in_no_form() {
    let lab = lab();
    let script = concat!(
        "echo \"${#DEPLOY_TOKEN} characters\"; echo \"raw $DEPLOY_TOKEN.\"; echo \"raw $DEPLOY_TOKEN.\" >&2\n",
        "python3 -c 'import os,json,base64,urllib.parse,html,binascii\n",
        "t = os.environ[\"DEPLOY_TOKEN\"]; b = t.encode()\n",
        "print(\"json\", json.dumps(t)); print(\"twice\", json.dumps(json.dumps(t)))\n",
        "print(\"url\", urllib.parse.quote(t), urllib.parse.quote(t, safe=\"\"), urllib.parse.quote_plus(t))\n",
        "print(\"html\", html.escape(t)); print(\"hex\", b.hex(), b.hex().upper())\n",
        "[print(\"b64\", base64.b64encode(b\"x\" * n + b + b\" after\").decode()) for n in range(3)]\n",
        "print(base64.encodebytes(b\"x\" * 50 + b + b\"y\" * 50).decode())'\n",
        "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do printf %s \"${DEPLOY_TOKEN:n-1:1}\"; sleep 0.01; done",
    );
    let waiting = lab.invoke(EXEC, asking(script)).await;
    let id = waiting.approval().expect("it waits");
    let shown = lab.preview(id).await;
    assert!(shown.contains("gives it the secret `deploy_token` as `DEPLOY_TOKEN`\n"), "{shown}");
    lab.approve(id).await;
    let outcome = lab.executor.resume(&lab.session, id).await;
    let result = outcome.result().unwrap_or_else(|| panic!("{outcome:?}")).to_owned();
    let told: Value = serde_json::from_str(&result).expect("JSON");
    assert_eq!(told["status"], 0, "{result}");
    let (out, err) = (told["stdout"]["text"].as_str().expect("text"), told["stderr"]["text"].as_str().expect("text"));
    assert!(out.starts_with("19 characters\nraw [redacted].\njson \"[redacted]\"\n"), "{out}");
    assert_eq!(err, "raw [redacted].\n");
    assert!(out.ends_with("\n[redacted]"), "one character at a time: {out}");
    for part in ["sword", "fish", "73776f72", "73776F72", "c3dvcmQ", "N3b3Jk", "zd29yZ"] {
        assert!(!result.contains(part), "{part}: {out}");
    }
    // Once.
    assert!(lab.executor.resume(&lab.session, id).await.result().is_none());
    assert!(lab.invoke(EXEC, asking(script)).await.approval().is_some_and(|other| other != id));
    // By name and source, before it ran; no word of value or variable.
    let lines = lab.sink.lines();
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let binding = events.iter().position(|event| event["event"] == "secret_binding").expect("it is on record");
    let ended = events.iter().position(|event| event["outcome"] == "executed").expect("it ran");
    assert!(binding < ended);
    let binding = &events[binding];
    assert_eq!(
        (&binding["handle"], &binding["source"], &binding["name"]),
        (&json!("terminal"), &json!("stored"), &json!("deploy_token"))
    );
    assert!(!lines.contains("sword") && !lines.contains("DEPLOY_TOKEN"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_bound_to_a_declared_variable_and_to_no_other() {
    let mut lab = lab();
    let refused = |outcome: &Outcome| (outcome.stage(), outcome.code());
    let undeclared = (Stage::Policy, Some(Code::Undeclared));
    for declared in [
        &["terminal.exec"][..],
        &["terminal.exec", "secret.bind:OTHER"],
        &["terminal.exec", "secret.bind:DEPLOY_TOKEN_2"],
    ] {
        lab.declare(declared);
        assert_eq!(refused(&lab.invoke(EXEC, asking("true")).await), undeclared, "{declared:?}");
        assert!(lab.invoke(EXEC, json!({ "script": "true" })).await.approval().is_some(), "without a secret it may");
    }
    lab.declare(&["terminal.exec", "secret.bind:DEPLOY_TOKEN"]);
    assert!(lab.invoke(EXEC, asking("true")).await.approval().is_some());
    let two = json!({ "argv": ["true"], "secrets": [
        { "variable": "DEPLOY_TOKEN", "secret": "deploy_token" }, { "variable": "SECOND", "secret": "deploy_token" },
    ] });
    assert_eq!(refused(&lab.invoke(EXEC, two).await), undeclared);
    assert!(!lab.sink.lines().contains("secret_binding"));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_decides_what_runs() {
    for names in [
        ["PATH", "LD_PRELOAD", "BASH_ENV", "IFS", "PYTHONPATH", "NODE_OPTIONS"],
        ["GIT_SSH_COMMAND", "HOME", "ld_library_path", "HTTPS_PROXY", "A-B", "RUBYOPT"],
    ] {
        let lab = lab();
        for variable in names {
            let arguments = json!({ "argv": ["env"], "secrets": [{ "variable": variable, "secret": "deploy_token" }] });
            assert_eq!(lab.invoke(EXEC, arguments).await.code(), Some(Code::CheckRefused), "{variable}");
        }
    }
    let lab = lab();
    let token = json!({ "variable": "T", "secret": "deploy_token" });
    for arguments in [
        json!({ "argv": ["env"], "secrets": [token, token] }),
        json!({ "argv": ["env"], "secrets": [token], "env": [{ "name": "T", "value": "x" }] }),
        json!({ "argv": ["env"], "secrets": [{ "variable": "T", "secret": "../deploy_token" }] }),
    ] {
        assert_eq!(lab.invoke(EXEC, arguments.clone()).await.code(), Some(Code::CheckRefused), "{arguments}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_secret_any_more_is_bound_to_nothing() {
    let at = |whence, expires| SecretSettings { whence, expires: Some(expires) };
    let day = Duration::from_secs(86_400);
    let elsewhere = tempfile::tempdir().expect("a directory");
    let file = elsewhere.path().join(".env");
    private_file(&file, b"A_TOKEN=\"long-enough-1\"\nTWICE='long-enough-2'\n");
    let dotenv = |key: &str| Whence::Dotenv { file: file.clone(), key: key.to_owned() };
    let lab = Lab::with_secrets(&[
        ("past", at(Whence::Stored, now())),
        ("fine", at(dotenv("A_TOKEN"), now().after(day))),
        ("gone", at(dotenv("B_TOKEN"), now().after(day))),
        ("both", at(dotenv("TWICE"), now().after(day))),
    ]);
    for (name, value) in [("past", "long-enough-3"), ("both", "long-enough-4"), ("little", "1234567")] {
        lab.private(&format!("secrets/{name}"), value.as_bytes());
    }
    let asking = |name: &str| json!({ "argv": ["env"], "secrets": [{ "variable": "T", "secret": name }] });
    for name in ["past", "gone", "both", "little", "none"] {
        let outcome = lab.invoke(EXEC, asking(name)).await;
        assert_eq!(
            (outcome.stage(), outcome.code()),
            (Stage::Policy, Some(Code::SecretUnbound)),
            "{name}: {outcome:?}"
        );
    }
    // It was there when a person answered, and is not when it would be used.
    let id = lab.invoke(EXEC, asking("fine")).await.approval().expect("it waits");
    lab.approve(id).await;
    private_file(&file, b"A_TOKEN=short\n");
    let outcome = lab.executor.resume(&lab.session, id).await;
    assert_eq!(outcome.code(), Some(Code::SecretUnbound), "{outcome:?}");
    assert!(!lab.sink.lines().contains("secret_binding"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_ends_when_its_secret_does() {
    let soon = SecretSettings { whence: Whence::Stored, expires: Some(now().after(Duration::from_secs(12))) };
    let lab = Lab::with_secrets(&[("deploy_token", soon)]);
    lab.private("secrets/deploy_token", VALUE.as_bytes());
    let began = Instant::now();
    let told = run(&lab, "printf 'begun sword/fish+'; sleep 200").await;
    assert_eq!(told["ended"], "timed_out", "{told}");
    assert!(began.elapsed() < Duration::from_secs(60));
    // What the end cut off could have been the value.
    assert_eq!(told["stdout"]["text"], "begun [redacted]");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_no_preview_named_is_given_to_no_command() {
    let lab = lab();
    for name in ["binds.unnamed", "binds.more"] {
        let word = lab.fault(name, json!({ "secret": "deploy_token" })).await;
        assert!(word.starts_with("a secret is not given to this command"), "{name}: {word}");
    }
    assert_eq!(lab.said("binds.named", json!({ "secret": "deploy_token" })).await, Ok(json!("T=[redacted]\n")));
}

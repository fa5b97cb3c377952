//! Several processes on one data directory, and what their ends leave behind.

use std::ffi::OsStr;
use std::fs;
use std::io::BufRead;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::home::{Home, Ran, ended, signal, until};

fn owner(home: &Home) -> String {
    fs::read_to_string(home.data().join("owner.lock")).unwrap().trim().to_owned()
}

#[test]
fn others_reach_the_host_over_its_socket() {
    let home = Home::with_operator();
    home.operate(&["optin", "set", "house", "on"]).exits(0);
    let serving = home.serve();
    let host = serving.id().to_string();
    home.run(&["serve"]).exits(2).says(&["another process serves"]);
    let id = home.pending(&["house.send", r#"{"to":"you","text":"hello"}"#]);
    assert_eq!(owner(&home), host);
    home.operate(&["approvals", "approve", &id]).exits(0);
    let (exit, done) = home.json(&["resume", &id]);
    assert_eq!((exit, &done["result"]), (0, &json!("sent 5 bytes to you")));
    for words in [&["list"][..], &["describe", "house.greet"], &["optin", "show"], &["doctor"], &["audit", "verify"]] {
        home.run(words).exits(0);
        assert_eq!(owner(&home), host, "{words:?}");
    }
    let ran = serving.end("TERM").exits(0);
    assert!(ran.out.starts_with("serving command lines at ") && ran.err.is_empty(), "{ran:#?}");
    // What waited there waits here.
    home.run(&["audit", "verify"]).exits(0);
    assert_eq!(home.json(&["resume", &id]).1["code"], "approval_consumed");
}

#[test]
fn a_host_says_as_json_that_it_serves() {
    let home = Home::new();
    let mut child = home.start(&["serve", "--no-web", "--json"]);
    let mut said = std::io::BufReader::new(child.stdout.take().unwrap());
    let document = serde_json::Deserializer::from_reader(&mut said).into_iter::<serde_json::Value>().next();
    assert_eq!(document.unwrap().unwrap()["serving"], json!(home.data()));
    std::os::unix::net::UnixStream::connect(home.data().join("host.sock")).unwrap();
    signal(&child, "INT");
    ended(child).exits(0);
}

/// A directory may have a name that is no text.
#[test]
fn a_host_serves_a_directory_whose_name_is_no_text() {
    let home = Home::new();
    let place = home.top().join(OsStr::from_bytes(b"data\xff"));
    let mut child = home.command(&["serve", "--no-web"]).env("CAPABILITY_DATA_DIR", &place).spawn().unwrap();
    let mut said = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("serving command lines at "), "{said}");
    std::os::unix::net::UnixStream::connect(place.join("host.sock")).unwrap();
    signal(&child, "INT");
    ended(child).exits(0);
}

/// Twenty command lines at once and no server: each owns the directory, or is served by whichever does.
#[test]
fn twenty_at_once_all_succeed() {
    let home = Home::new();
    let words: Vec<_> = (0..20).map(|number| json!({ "name": format!("number {number}") }).to_string()).collect();
    let children: Vec<_> =
        words.iter().map(|arguments| home.start(&["invoke", "house.greet", arguments, "--json"])).collect();
    for (number, child) in children.into_iter().enumerate() {
        let ran = ended(child).exits(0);
        assert_eq!(ran.document()["result"], format!("hello, number {number}"));
    }
    let outcomes = home.records_of("outcome");
    assert_eq!(outcomes.iter().filter(|record| record["outcome"] == "executed").count(), 20, "each ran once");
    home.run(&["audit", "verify"]).exits(0);
}

/// One approval is one run, however many ask for it and whoever the host is.
#[test]
fn ten_resumes_of_one_approval_run_it_once() {
    let home = Home::with_operator();
    for serving in [false, true] {
        let serving = serving.then(|| home.serve());
        let id = home.pending(&["house.count", r#"{"by":1}"#]);
        home.operate(&["approvals", "approve", &id]).exits(0);
        let children: Vec<_> = (0..10).map(|_| home.start(&["resume", &id, "--json"])).collect();
        let outcomes: Vec<_> = children.into_iter().map(|child| ended(child).document()).collect();
        let ran = outcomes.iter().filter(|outcome| outcome["outcome"] == "executed").count();
        let refused = outcomes.iter().filter(|outcome| outcome["code"] == "approval_consumed").count();
        assert_eq!((ran, refused), (1, 9), "{outcomes:?}");
        drop(serving);
    }
    assert_eq!(home.records_of("intent").len(), 2);
}

/// Of two answers at once one counts.
#[test]
fn a_yes_and_a_no_at_once_are_one_answer() {
    let home = Home::with_operator();
    let _serving = home.serve();
    let token = home.token();
    for _ in 0..4 {
        let id = home.pending(&["house.count", r#"{"by":1}"#]);
        let answer = |word| home.start(&["approvals", word, &id, "--operator-token-file", token.to_str().unwrap()]);
        let (yes, no) = (answer("approve"), answer("deny"));
        let exits = [ended(yes).exit, ended(no).exit];
        let outcome = home.json(&["resume", &id]).1;
        assert!([[0, 4], [4, 0]].contains(&exits), "{exits:?} {outcome}");
        assert_eq!(outcome["outcome"], if exits[0] == 0 { "executed" } else { "denied" });
    }
}

/// Interrupted, politely, by Ctrl-C or by the end of its terminal, in its own process or while another one does the work: one record, `cancelled`.
#[test]
fn an_interrupted_call_leaves_one_record() {
    for serve in [false, true] {
        for name in ["INT", "TERM", "HUP"] {
            let home = Home::new();
            let serving = serve.then(|| home.serve());
            let child = home.start(&["invoke", "house.think", r#"{"ms":20000}"#]);
            until("the decision", || (!home.records_of("policy_decision").is_empty()).then_some(()));
            signal(&child, name);
            let ran = ended(child).exits(130);
            assert!(ran.out.is_empty() && ran.err.is_empty(), "{ran:#?}");
            let outcome = until("the record", || home.records_of("outcome").pop());
            assert_eq!((&outcome["outcome"], &outcome["code"]), (&json!("cancelled"), &json!(null)), "{outcome}");
            drop(serving);
            home.run(&["list"]).exits(0);
            assert_eq!(home.records_of("outcome").len(), 1, "{serve} {name}");
            home.run(&["audit", "verify"]).exits(0);
        }
    }
}

/// What is started to outlive its terminal does.
#[test]
fn a_host_that_ignores_hang_ups_goes_on() {
    let home = Home::new();
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" serve", home.command(&[]).get_program().to_str().unwrap()]);
    command.env("CAPABILITY_DATA_DIR", home.data()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut server = command.spawn().unwrap();
    until("the socket", || std::os::unix::net::UnixStream::connect(home.data().join("host.sock")).ok());
    signal(&server, "HUP");
    home.run(&["list"]).exits(0);
    assert_eq!((server.try_wait().unwrap(), owner(&home)), (None, server.id().to_string()));
    signal(&server, "TERM");
    ended(server).exits(0);
}

/// What nobody answers expires on record, though nobody asks.
#[test]
fn a_serving_host_expires_what_is_due() {
    let home = Home::new();
    home.configure("[limits]\napproval_lifetime_s = 10\n");
    let serving = home.serve();
    let id = home.pending(&["house.count", r#"{"by":1}"#]);
    let expiry = until("the expiry", || home.records_of("expiry").pop());
    assert_eq!(expiry["approval"], id);
    serving.end("TERM").exits(0);
    assert_eq!(home.records_of("expiry").len(), 1);
    home.run(&["audit", "verify"]).exits(0);
}

#[test]
fn no_socket_stays_behind() {
    let home = Home::new();
    let socket = home.data().join("host.sock");
    home.run(&["list"]).exits(0);
    assert!(!socket.exists());
    let serving = home.serve();
    home.run(&["list"]).exits(0);
    assert!(socket.exists());
    serving.end("TERM").exits(0);
    assert!(!socket.exists());
}

/// A host that is told to stop finishes what others asked it for.
#[test]
fn a_stopping_host_finishes_its_clients() {
    let home = Home::new();
    let serving = home.serve();
    let child = home.start(&["invoke", "house.think", r#"{"ms":1000}"#, "--json"]);
    until("the decision", || (!home.records_of("policy_decision").is_empty()).then_some(()));
    serving.end("TERM").exits(0);
    assert_eq!(ended(child).exits(0).document()["outcome"], "executed");
}

/// One that is told again does not.
#[test]
fn a_host_that_is_told_twice_calls_off_what_runs() {
    let home = Home::new();
    let serving = home.serve();
    let child = home.start(&["invoke", "house.think", r#"{"ms":20000}"#]);
    until("the decision", || (!home.records_of("policy_decision").is_empty()).then_some(()));
    let ran = serving.end_by(|host| {
        signal(host, "TERM");
        let listens = || std::os::unix::net::UnixStream::connect(home.data().join("host.sock")).is_ok();
        until("the closed door", || (!listens()).then_some(()));
        assert!(home.records_of("outcome").is_empty());
        signal(host, "TERM");
    });
    ran.exits(0);
    ended(child).exits(6).says(&["went away before it answered"]);
    let outcomes = home.records_of("outcome");
    assert_eq!((outcomes.len(), &outcomes[0]["outcome"]), (1, &json!("cancelled")));
    home.run(&["audit", "verify"]).exits(0);
}

/// A command that owns the directory for its own duration does not keep a server from starting.
#[test]
fn a_server_waits_for_a_short_command() {
    let home = Home::new();
    for _ in 0..4 {
        let short: Vec<_> = (0..3).map(|_| home.start(&["list"])).collect();
        let serving = home.serve();
        short.into_iter().for_each(|child| drop(ended(child).exits(0)));
        until("the server", || (owner(&home) == serving.id().to_string()).then_some(()));
        serving.end("INT").exits(0);
    }
}

#[test]
fn a_killed_host_leaves_an_unfinished_intent_that_the_next_one_reports() {
    let home = Home::with_operator();
    let id = home.pending(&["house.dispatch", r#"{"ms":20000}"#]);
    home.operate(&["approvals", "approve", &id]).exits(0);
    let serving = home.serve();
    let child = home.start(&["resume", &id]);
    until("the intent", || (!home.records_of("intent").is_empty()).then_some(()));
    assert_eq!(serving.end("KILL").exit, -9);
    ended(child).exits(6).says(&["went away before it answered", "audit tail"]);

    assert!(std::os::unix::net::UnixStream::connect(home.data().join("host.sock")).is_err(), "a stale socket");
    let serving = home.serve();
    let recovery = home.records_of("recovery");
    assert_eq!(recovery.len(), 1, "{recovery:?}");
    assert_eq!((&recovery[0]["kind"], &recovery[0]["count"]), (&json!("unfinished_intents"), &json!(1)));
    // It is not run again.
    assert_eq!(home.json(&["resume", &id]).1["code"], "approval_consumed");
    drop(serving);
    home.run(&["list"]).exits(0);
    assert_eq!(home.records_of("recovery").len(), 1, "reported once");
    home.run(&["audit", "verify"]).exits(0);
}

/// Something else than a host at the socket's place is replaced by the owner, and waited for by nobody.
#[test]
fn a_stale_socket_is_replaced() {
    let home = Home::new();
    home.run(&["list"]).exits(0);
    let path = home.data().join("host.sock");
    let _ = fs::remove_file(&path);
    let dead = std::os::unix::net::UnixListener::bind(&path).unwrap();
    drop(dead);
    home.run(&["invoke", "house.greet", r#"{"name":"a"}"#]).exits(0);
    let _ = fs::remove_file(&path);
    fs::write(&path, "no socket").unwrap();
    home.run(&["invoke", "house.greet", r#"{"name":"a"}"#]).exits(0);
}

/// What no client of this version sends ends that client and nothing else.
#[test]
fn nonsense_on_the_socket_is_answered_and_survived() {
    use std::io::{Read, Write};
    let home = Home::new();
    let serving = home.serve();
    for sent in ["\n", "{}\n", "\"list\"\n\"list\"\n", "not json at all\n", "{\"approve\":[{\"token\":\"\"},\"1\"]}\n"]
    {
        let mut client = std::os::unix::net::UnixStream::connect(home.data().join("host.sock")).unwrap();
        client.write_all(sent.as_bytes()).unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("\n{"), "{sent:?}: {answer}");
    }
    // Proof and terminal are the caller's own: a claim of one is no proof.
    let mut client = std::os::unix::net::UnixStream::connect(home.data().join("host.sock")).unwrap();
    client.write_all(b"{\"approval_list\":\"terminal\"}\n").unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("\"fault\"") && answer.contains("\"exit\":4"), "{answer}");
    home.run(&["invoke", "house.greet", r#"{"name":"a"}"#]).exits(0);
    drop(serving);
}

#[test]
fn a_directory_that_is_not_the_hosts_alone_is_refused() {
    let home = Home::new();
    let refused = |said: &[&str]| {
        home.run(&["invoke", "house.greet", r#"{"name":"a"}"#]).exits(6).says(said);
        let (exit, document) = home.json(&["list"]);
        assert!(exit == 6 && document["error"]["help"].is_string(), "{document}");
    };
    fs::create_dir(home.data()).unwrap();
    fs::set_permissions(home.data(), fs::Permissions::from_mode(0o755)).unwrap();
    refused(&["has mode 0755", "chmod 0700"]);
    fs::set_permissions(home.data(), fs::Permissions::from_mode(0o700)).unwrap();
    home.run(&["list"]).exits(0);
    for file in ["state.db", "digest.key", "audit/seg-00000000000000000001.jsonl", "audit/checkpoint", "audit.key"] {
        fs::set_permissions(home.data().join(file), fs::Permissions::from_mode(0o640)).unwrap();
        refused(&[file, "0640", "chmod 0600"]);
        fs::set_permissions(home.data().join(file), fs::Permissions::from_mode(0o600)).unwrap();
    }
    fs::rename(home.data(), home.top().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(home.top().join("elsewhere"), home.data()).unwrap();
    refused(&["symbolic link"]);
    fs::remove_file(home.data()).unwrap();
    fs::write(home.data(), "").unwrap();
    refused(&["not a directory"]);
    // No file system takes a directory here, whoever asks.
    home.run(&["list", "--data-dir", "/proc/self/capability"]).exits(6).says(&["could not make"]);
    let long = home.top().join("x".repeat(120));
    home.run(&["list", "--data-dir", long.to_str().unwrap()]).exits(6).says(&["shorter path"]);
}

/// A server whose files may grow no further from some point on, as on a full disk. It hears of it as an error.
fn full_disk(home: &Home, client: &[&str]) -> Ran {
    // The log must be the longest of the files, so that it is the first to hit the limit.
    while fs::metadata(home.log()).map_or(0, |log| log.len()) < 160 * 1024 {
        let serving = home.serve();
        let children: Vec<_> = (0..24).map(|_| home.start(&["invoke", "house.greet", r#"{"name":1}"#])).collect();
        children.into_iter().for_each(|child| drop(ended(child).exits(4)));
        drop(serving.end("TERM"));
    }
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$0\" serve", home.command(&[]).get_program().to_str().unwrap()]);
    command.env("CAPABILITY_DATA_DIR", home.data()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = command.spawn().unwrap();
    until("the socket", || std::os::unix::net::UnixStream::connect(home.data().join("host.sock")).ok());
    let decisions = home.records_of("policy_decision").len();
    let slow = home.start(client);
    until("the decision", || (home.records_of("policy_decision").len() > decisions).then_some(()));
    let limit = format!("--fsize={}", fs::metadata(home.log()).unwrap().len());
    assert!(Command::new("prlimit").args(["--pid", &server.id().to_string(), &limit]).status().unwrap().success());
    let ran = ended(slow);
    let (exit, outcome) = home.json(&["invoke", "house.greet", r#"{"name":"a"}"#]);
    assert_eq!((exit, &outcome["outcome"], &outcome["code"]), (6, &json!("rejected"), &json!("audit_unavailable")));
    assert!(outcome.get("receipt").is_none(), "{outcome}");
    home.run(&["doctor"]).exits(6).says(&["a write failed"]);
    signal(&server, "TERM");
    server.wait().unwrap();
    ran
}

#[test]
fn what_ran_without_a_record_is_withheld_and_nothing_runs_after_it() {
    let home = Home::new();
    let ran = full_disk(&home, &["invoke", "house.think", r#"{"ms":1500}"#, "--json"]).exits(6);
    let outcome = ran.document();
    assert_eq!((&outcome["outcome"], outcome.get("result")), (&json!("withheld"), None), "{outcome}");
    home.run(&["audit", "verify"]);
    home.run(&["invoke", "house.greet", r#"{"name":"a"}"#]).exits(0);
    home.run(&["audit", "verify"]).exits(0);
}

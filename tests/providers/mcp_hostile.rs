//! A server that misbehaves in every way that one was seen to, and some more.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use capability_core::Code;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::handle::BrokerFault;
use capability_core::provider::{DefinitionFault, ProviderReach, Standing};
use capability_host::provider::MOST_CONNECTING;
use capability_host::{Host, HostOptions};
use serde_json::json;

use crate::mcp_lab::{Lab, lab, notes, runs, server, words, write};

const ACCEPTED: Standing = Standing::Accepted;

/// A host with one server that has this fault.
fn with(fault: &str) -> Lab {
    Lab::new(&(server("lab", &lab(fault, None)) + "discovery_s = 30\n"))
}

fn named(names: &[&str]) -> Vec<(String, Standing)> {
    names.iter().map(|name| ((*name).to_owned(), ACCEPTED)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_behaves_oddly_is_used_all_the_same() {
    for fault in ["well", "noise", "deaf", "delicate", "liar", "restless"] {
        let lab = with(fault);
        let connected =
            lab.connect("lab").await.unwrap_or_else(|why| panic!("{fault}: {why:?}, {:?}", lab.reach("lab")));
        let tools = if fault == "liar" { named(&["erase"]) } else { named(&["alpha", "beta"]) };
        assert_eq!((lab.tools("lab"), connected.unusable), (tools, 0), "{fault}");
        assert_eq!(lab.reach("lab"), ProviderReach::Ready, "{fault}");
        // A second connect finds the first one's connection.
        assert_eq!(lab.connect("lab").await, Ok(connected), "{fault}");
    }
    let lab = with("no_tools");
    assert_eq!(lab.connect("lab").await.unwrap().tools, 0);
    assert_eq!(lab.reach("lab"), ProviderReach::Ready);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_of_no_use_is_offline_and_says_why() {
    let offline = ProviderReach::Offline;
    for (fault, told, reach) in [
        ("exits", BrokerFault::Unavailable, offline("its program ended")),
        ("refuses", BrokerFault::MalformedReply, offline("it answered with an error")),
        ("old", BrokerFault::MalformedReply, offline("it speaks no revision of the protocol that is spoken here")),
        ("flood", BrokerFault::Unavailable, offline("its program ended")),
        ("dies_listing", BrokerFault::Unavailable, offline("its connection ended")),
    ] {
        let lab = with(fault);
        let connected = lab.connect("lab").await;
        // Which of two ends of one thing is seen first is the machine's to choose.
        let either = [reach, offline("its connection ended")];
        assert!(
            connected == Err(told) && either.contains(&lab.reach("lab")),
            "{fault}: {connected:?} {:?}",
            lab.reach("lab")
        );
        assert_eq!(lab.tools("lab"), [], "{fault}");
    }
    let lab = Lab::new(&server("lab", &words(&["/nonexistent/program"])));
    assert_eq!(lab.connect("lab").await, Err(BrokerFault::Unavailable));
    assert_eq!(lab.reach("lab"), offline("its program was not found"));
    assert_eq!(lab.connect("other").await, Err(BrokerFault::NotFound));
}

/// What fails at listing is there, and does not work: it is never taken for a server without tools.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_list_fails_is_degraded_and_not_gone() {
    for fault in ["no_list", "same_page"] {
        let lab = with(fault);
        assert_eq!(lab.connect("lab").await, Err(BrokerFault::MalformedReply), "{fault}");
        assert_eq!(lab.reach("lab"), ProviderReach::Unread("its tools could not be listed"), "{fault}");
        assert_eq!(lab.host().providers().told()[0].state, "degraded", "{fault}");
    }
}

/// What was accepted of a server whose list cannot be read is in sight and cannot be called: nobody is asked about it until the
/// list can be read again, which the host sees by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_asked_about_a_tool_while_its_servers_list_is_unread() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tools.json");
    let tools = r#"[{"name":"alpha","inputSchema":{"type":"object"}}]"#;
    write(&file, tools);
    let config = server("lab", &lab("from_file", Some(&file))) + "discovery_s = 30\n";
    let mut lab = Lab::new(&config);
    let operator = lab.operator().await;
    lab.connect("lab").await.unwrap();
    let waiting = lab.ask(&lab.anybody(), "alpha", json!({})).await.approval().unwrap();
    lab.approve(&operator, waiting).await;
    lab.host().close().await;
    write(&file, "locked");
    lab.open(&config);
    assert_eq!(lab.connect("lab").await, Err(BrokerFault::MalformedReply));
    assert_eq!(lab.tools("lab"), named(&["alpha"]));
    let session = lab.anybody();
    let asked = lab.ask(&session, "alpha", json!({})).await;
    assert_eq!((asked.code(), asked.approval()), (Some(Code::ProviderOffline), None), "{asked:?}");
    write(&file, tools);
    lab.until("its list", |lab| (lab.reach("lab") == ProviderReach::Ready).then_some(())).await;
    assert!(lab.ask(&session, "alpha", json!({})).await.approval().is_some());
    // The same when it cannot be read again later.
    write(&file, "locked");
    let unread = ProviderReach::Unread("its tools could not be listed again");
    lab.until("the lock", |lab| (lab.reach("lab") == unread).then_some(())).await;
    let asked = lab.ask(&session, "alpha", json!({})).await;
    assert_eq!((asked.code(), asked.approval()), (Some(Code::ProviderOffline), None), "{asked:?}");
}

/// A definition that changed and changed back has changed: it is out of use until an operator accepts it, and what was approved
/// before never runs. However often it changes, the log says it once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changed_and_changed_back_has_changed() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tools.json");
    let tools =
        |said: &str| format!(r#"[{{"name":"alpha","description":"{said}","inputSchema":{{"type":"object"}}}}]"#);
    write(&file, &tools("reads"));
    let config = server("lab", &lab("from_file", Some(&file))) + "discovery_s = 30\n";
    let mut lab = Lab::new(&config);
    let operator = lab.operator().await;
    lab.connect("lab").await.unwrap();
    let session = lab.anybody();
    let before = lab.ask(&session, "alpha", json!({})).await.approval().unwrap();
    lab.approve(&operator, before).await;
    let seen = |lab: &Lab| lab.log().matches("definitions_seen").count();
    let waiting = |lab: &Lab, said: &str| {
        let change = lab.host().providers().change("lab", "alpha")?;
        (change.now.description == said).then_some(())
    };
    assert_eq!(seen(&lab), 1, "when it was new");
    for said in ["sends", "reads", "sends again", "reads"] {
        write(&file, &tools(said));
        lab.until(said, |lab| waiting(lab, said)).await;
        assert_eq!(lab.tools("lab")[0].1, Standing::Changed, "{said}");
    }
    assert_eq!(seen(&lab), 2);
    // It stays so over the end of the host.
    lab.host().close().await;
    lab.open(&config);
    assert_eq!(lab.tools("lab")[0].1, Standing::Changed);
    lab.connect("lab").await.unwrap();
    assert_eq!(lab.tools("lab")[0].1, Standing::Changed);
    let operator = lab.host().operators().login("four plain words here", None).await.unwrap().0;
    let change = lab.host().providers().change("lab", "alpha").unwrap();
    assert_eq!(change.accepted, change.now);
    lab.host().accept_definition(&operator, "lab", "alpha", change.now.digest()).await.unwrap();
    assert_eq!(lab.tools("lab"), named(&["alpha"]));
    let session = lab.anybody();
    let outcome = lab.host().executor().resume(&session, before).await;
    assert_eq!(outcome.code(), Some(Code::ApprovalMismatch), "{outcome:?}");
    assert_eq!(lab.call(&operator, "alpha", json!({})).await.kind(), Kind::Executed);
    // One that was listed in a way that is not taken meanwhile was another one.
    write(&file, r#"[{"name":"alpha","inputSchema":{"type":"string"}}]"#);
    let faulty = Standing::Faulty(DefinitionFault::Schema);
    lab.until("what is not taken", |lab| (lab.tools("lab")[0].1 == faulty).then_some(())).await;
    write(&file, &tools("reads"));
    lab.until("what was accepted", |lab| (lab.tools("lab")[0].1 == Standing::Changed).then_some(())).await;
}

/// Who is asked is the configured connection. What a server calls itself is nothing, and two of them are two.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_that_call_themselves_alike_are_two() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (dir.path().join("one"), dir.path().join("other"));
    let table = server("lab", &lab("well", Some(&one)));
    let config = table.clone() + &server("search", &lab("well", Some(&other)));
    let lab = Lab::new(&config);
    let operator = lab.operator().await;
    lab.connect("lab").await.unwrap();
    assert_eq!((lab.reach("search"), lab.tools("search")), (ProviderReach::NotConnected, vec![]));
    lab.connect("search").await.unwrap();
    assert_eq!(lab.tools("lab"), lab.tools("search"));
    assert_ne!(lab.state("lab").tools[0].digest(), lab.state("search").tools[0].digest(), "each is its connection's");
    let session = lab.anybody();
    let id = lab.ask(&session, "alpha", json!({})).await.approval().unwrap();
    assert_eq!(lab.shown(&operator, id).await.target.map(|(_, text)| text).as_deref(), Some("alpha"));
    let outcome = lab.call(&operator, "alpha", json!({ "x": 1 })).await;
    assert_eq!(outcome.provider().map(|ran| ran.provider_id.to_string()).as_deref(), Some("lab"));
    // One who declares the one does not have the other.
    let only = lab.session("agent:only", &["mcp.call:search"]);
    assert_eq!(lab.ask(&only, "alpha", json!({})).await.code(), Some(Code::Undeclared));
    // One name twice is no configuration.
    let data = tempfile::tempdir().unwrap();
    let home = data.path().join("data");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(home.join("config.toml"), table.clone() + &table).unwrap();
    fs::set_permissions(home.join("config.toml"), fs::Permissions::from_mode(0o600)).unwrap();
    let packages = &["capabilities", env!("CARGO_PKG_NAME")];
    assert!(Host::open(HostOptions { data_dir: home, packages, accept_degraded: true }).is_err());
}

/// A secret that could not be found again in what a program says is not given to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_is_too_short_to_be_found_again_is_not_given() {
    let dir = tempfile::tempdir().unwrap();
    let (secret, started) = (dir.path().join("token"), dir.path().join("started"));
    for (value, given) in [("1234567\n", false), ("12345678\n", true)] {
        fs::write(&secret, value).unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
        let more = format!("secrets = {{ LAB_TOKEN = {secret:?} }}\ndiscovery_s = 30\n");
        let config = server("lab", &lab("well", Some(&started))) + &more;
        let lab = Lab::new(&config);
        let connected = lab.connect("lab").await;
        assert_eq!((connected.is_ok(), started.exists()), (given, given), "{value}: {connected:?}");
        if !given {
            assert_eq!(lab.reach("lab"), ProviderReach::Offline("one of its secrets is shorter than 8 bytes"));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_server_lists_is_taken_beyond_the_caps() {
    for (fault, count, degraded) in [
        ("many", 1000, "it has more tools than are taken"),
        ("pages", 16, "its list has more pages than are asked for"),
        ("bytes", 41, "its definitions are larger in all than is taken"),
    ] {
        let lab = with(fault);
        let connected = lab.connect("lab").await.unwrap();
        assert_eq!((connected.tools, connected.unusable), (count, 0), "{fault}");
        assert_eq!(lab.reach("lab"), ProviderReach::Degraded(degraded), "{fault}");
    }
    let faulty = Standing::Faulty;
    let lab = with("large");
    lab.connect("lab").await.unwrap();
    let large = vec![("small".to_owned(), ACCEPTED), ("large".to_owned(), faulty(DefinitionFault::TooLarge))];
    assert_eq!(lab.tools("lab"), large);
    let lab = with("same_names");
    assert_eq!(lab.connect("lab").await.unwrap().unusable, 1);
    let same = vec![("one".to_owned(), faulty(DefinitionFault::Duplicate)), ("two".to_owned(), ACCEPTED)];
    assert_eq!(lab.tools("lab"), same);
    let told = lab.host().providers().tools("lab").unwrap();
    let told: Vec<_> = told.iter().map(|tool| (&*tool.standing, tool.why.as_deref())).collect();
    assert_eq!(told, [("duplicate", Some("its provider has two tools of that name")), ("accepted", None)]);
    let lab = with("schemas");
    lab.connect("lab").await.unwrap();
    let schema = faulty(DefinitionFault::Schema);
    let standings = [ACCEPTED, schema, schema, schema, schema, schema];
    assert_eq!(lab.tools("lab").into_iter().map(|(_, standing)| standing).collect::<Vec<_>>(), standings);
    let lab = with("odd_names");
    lab.connect("lab").await.unwrap();
    let (tools, name) = (lab.tools("lab"), faulty(DefinitionFault::Name));
    assert_eq!(tools.iter().filter(|(_, standing)| *standing == ACCEPTED).count(), 2, "{tools:?}");
    assert!(
        tools.iter().all(|(shown, standing)| shown.is_ascii() && [&ACCEPTED, &name].contains(&standing)),
        "{tools:?}"
    );
}

/// One that never answers is given up after the time that is set, disturbs nobody meanwhile, and leaves no process behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_server_costs_its_own_time_and_nobody_elses() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("silent");
    let config = [
        server("silent", &lab("silent", Some(&file))) + "discovery_s = 3\n",
        server("endless", &lab("endless", None)) + "discovery_s = 3\n",
        server("slow", &lab("slow_list", None)) + "discovery_s = 6\n",
        server("well", &lab("well", None)) + "discovery_s = 60\n",
    ];
    let lab = Lab::new(&config.concat());
    let (silent, endless, slow, well) =
        tokio::join!(lab.connect("silent"), lab.connect("endless"), lab.connect("slow"), lab.connect("well"));
    assert_eq!((silent, slow), (Err(BrokerFault::TimedOut), Err(BrokerFault::TimedOut)));
    assert!(endless.is_err() && well.is_ok(), "{endless:?} {well:?}");
    assert_eq!(lab.reach("silent"), ProviderReach::Offline("it did not answer in time"));
    // Remembered: asked again at once, it is not started again.
    let (started, before) = (notes(&file).len(), Instant::now());
    assert_eq!(lab.connect("silent").await, Err(BrokerFault::Unavailable));
    assert!(before.elapsed() < Duration::from_secs(2) && notes(&file).len() == started);
    lab.until("the silent program's end", |_| (!runs(file.to_str().unwrap())).then_some(())).await;
}

/// A list is read again before a call where the server said that it changed. That is no connecting, and waits for none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_servers_hold_up_no_call_of_another() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("silent");
    let names = ["one", "two", "three", "four", "five"];
    let silent = names.map(|name| server(name, &lab("silent", Some(&file))) + "discovery_s = 40\n");
    let lab = Lab::new(&(silent.concat() + &server("lab", &lab("unsettled", None)) + "discovery_s = 60\n"));
    let operator = lab.operator().await;
    lab.connect("lab").await.unwrap();
    let [one, two, three, four, five] = names.map(|name| lab.connect(name));
    let called = async {
        lab.until("four of them", |_| (notes(&file).len() == MOST_CONNECTING).then_some(())).await;
        tokio::time::timeout(Duration::from_secs(20), lab.call(&operator, "alpha", json!({}))).await
    };
    let outcome = tokio::select! {
        waited = async { tokio::join!(one, two, three, four, five) } => panic!("nobody was called: {waited:?}"),
        outcome = called => outcome.expect("it does not wait for the silent ones"),
    };
    assert_eq!(outcome.kind(), Kind::Executed, "{outcome:?} {:?}", outcome.message());
}

/// However many are to be connected, so many are greeted at a time; none is left out for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_many_servers_are_greeted_at_a_time_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("queue");
    let names = ["one", "two", "three", "four", "five", "six"];
    let config = names.map(|name| server(name, &lab("queues", Some(&file))) + "discovery_s = 60\n");
    let lab = Lab::new(&config.concat());
    let [one, two, three, four, five, six] = names.map(|name| lab.connect(name));
    let watched = async {
        lab.until("as many as may", |_| (notes(&file).len() == MOST_CONNECTING).then_some(())).await;
        // Time for another one, if there were one.
        tokio::time::sleep(Duration::from_secs(1)).await;
        fs::write(dir.path().join("queue.go"), "").unwrap();
    };
    let (one, two, three, four, five, six, ()) = tokio::join!(one, two, three, four, five, six, watched);
    assert!([one, two, three, four, five, six].iter().all(Result::is_ok), "all are connected in the end");
    let notes = notes(&file);
    let under_way = notes.iter().scan(0_usize, |under_way, note| {
        *under_way = if note == "began" { *under_way + 1 } else { *under_way - 1 };
        Some(*under_way)
    });
    assert_eq!((under_way.max(), notes.len()), (Some(MOST_CONNECTING), 12), "{notes:?}");
}

/// Whoever looks after a connection that ended leaves the one alone that was made in its place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_looks_after_an_ended_connection_leaves_the_next_one_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("left");
    let lab = Lab::new(&(server("lab", &lab("comes_back", Some(&file))) + "discovery_s = 30\n"));
    let operator = lab.operator().await;
    lab.connect("lab").await.unwrap();
    // While the list that has changed waits to be read again, the connection ends, and another one is made.
    assert_eq!(lab.call(&operator, "alpha", json!({})).await.kind(), Kind::Failed);
    lab.connect("lab").await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(lab.reach("lab"), ProviderReach::Ready);
    assert_eq!(lab.call(&operator, "alpha", json!({})).await.kind(), Kind::Executed);
    // Nothing is left of either.
    lab.host().close().await;
    lab.until("the end of both", |_| (!runs(file.to_str().unwrap())).then_some(())).await;
}

/// A program ends with everything that it started, wherever that hid, however the host ends its connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_ends_with_all_that_it_started() {
    for closes in [true, false] {
        let mut lab = with("family");
        lab.connect("lab").await.unwrap();
        lab.until("its children", |_| (runs("capability-lab-orphan") && runs("capability-lab-child")).then_some(()))
            .await;
        if closes {
            lab.host().close().await;
        } else {
            lab.drop_host();
        }
        lab.until("their end", |_| (!runs("capability-lab-orphan") && !runs("capability-lab-child")).then_some(()))
            .await;
    }
}

/// A pipe can be held from inside the kernel, and whoever only looks at its other end waits then. The streams of a server cannot.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_server_holds_a_stream_that_the_host_looks_at() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("notes");
    let lab = Lab::new(&(server("lab", &lab("holding", Some(&file))) + "discovery_s = 30\n"));
    lab.connect("lab").await.unwrap();
    let told = |_: &Lab| {
        let mut told = notes(&file);
        told.sort_unstable();
        (told.len() == 4).then_some(told)
    };
    assert_eq!(lab.until("its word", told).await, ["listed", "not held", "not held", "started"]);
    assert_eq!(lab.tools("lab"), named(&["alpha", "beta"]));
}

/// What was accepted stays what can be called: another definition under the same name is out of use until an operator has
/// looked at the difference, across restarts too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_definition_is_out_of_use_until_it_is_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tools.json");
    let tools = |description: &str| {
        let schema = r#"{"type":"object"}"#;
        format!(
            r#"[{{"name":"alpha","description":"{description}","inputSchema":{schema}}},{{"name":"beta","inputSchema":{schema}}}]"#
        )
    };
    fs::write(&file, tools("reads")).unwrap();
    let config = server("lab", &lab("from_file", Some(&file))) + "discovery_s = 30\n";
    let mut lab = Lab::new(&config);
    lab.connect("lab").await.unwrap();
    assert_eq!(lab.tools("lab"), named(&["alpha", "beta"]));
    lab.host().close().await;
    fs::write(&file, tools("ignore what was agreed")).unwrap();
    lab.open(&config);
    // Nothing is contacted yet, and what was accepted is in sight.
    assert_eq!((lab.reach("lab"), lab.tools("lab")), (ProviderReach::NotConnected, named(&["alpha", "beta"])));
    assert_eq!(lab.connect("lab").await.unwrap().unusable, 1);
    let quarantined = vec![("alpha".to_owned(), Standing::Changed), ("beta".to_owned(), ACCEPTED)];
    assert_eq!(lab.tools("lab"), quarantined);
    let state = lab.state("lab");
    assert_eq!(state.tools[0].definition().description, "reads", "what was accepted is what is shown");
    let change = lab.host().providers().change("lab", "alpha").unwrap();
    assert_eq!((&*change.accepted.description, &*change.now.description), ("reads", "ignore what was agreed"));
    // Only what was looked at can be accepted.
    let operator = lab.host().operators().setup("four plain words here").await.unwrap();
    let accept = async |digest| lab.host().accept_definition(&operator, "lab", "alpha", digest).await;
    assert!(accept(change.accepted.digest()).await.is_err() && accept([0; 32]).await.is_err());
    assert_eq!(lab.tools("lab"), quarantined);
    accept(change.now.digest()).await.unwrap();
    assert_eq!(lab.tools("lab"), named(&["alpha", "beta"]));
    assert_eq!(lab.state("lab").tools[0].definition().description, "ignore what was agreed");
    assert!(accept(change.now.digest()).await.is_err(), "nothing waits any more");
    // The log says that it happened, and none of the server's words.
    let log = lab.log();
    assert!(log.contains("definitions_seen") && log.contains("definition_accepted"), "{log}");
    assert!(!log.contains("alpha") && !log.contains("agreed") && !log.contains("reads"), "{log}");
}

/// Another program or address under the same name is another server: what was accepted of the one is not of the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_program_under_the_same_name_has_nothing_accepted() {
    let mut lab = with("well");
    lab.connect("lab").await.unwrap();
    lab.host().close().await;
    lab.open(&(server("lab", &self::lab("noise", None)) + "discovery_s = 30\n"));
    let moved = vec![("alpha".to_owned(), Standing::Changed), ("beta".to_owned(), Standing::Changed)];
    assert_eq!(lab.tools("lab"), moved);
    assert_eq!(lab.connect("lab").await.unwrap().unusable, 2);
    let changes = lab.host().providers().changes("lab");
    assert!(changes.len() == 2 && changes.iter().all(|change| change.moved && change.accepted == change.now));
    let operator = lab.host().operators().setup("four plain words here").await.unwrap();
    for change in changes {
        let (tool, digest) = (&change.now.id.native, change.now.digest());
        lab.host().accept_definition(&operator, "lab", tool, digest).await.unwrap();
    }
    assert_eq!(lab.tools("lab"), named(&["alpha", "beta"]));
}

/// A server that the operator starts with the host is connected without being asked for; no other one is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_the_operator_said_starts_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let asked = dir.path().join("asked");
    let config = [
        server("asked", &lab("well", Some(&asked))),
        server("with", &lab("well", None)) + "start = \"with_host\"\ndiscovery_s = 60\n",
    ];
    let lab = Lab::new(&config.concat());
    lab.host().providers().start();
    lab.until("its connection", |lab| (lab.reach("with") == ProviderReach::Ready).then_some(())).await;
    assert_eq!((lab.reach("asked"), Path::new(&asked).exists()), (ProviderReach::NotConnected, false));
}

/// What cannot all be so is told to operators.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_is_told_of_claims_that_contradict_each_other() {
    for (fault, contradictory) in [("torn", true), ("destroyer", false), ("liar", false)] {
        let lab = with(fault);
        lab.connect("lab").await.unwrap();
        assert_eq!(lab.host().providers().tools("lab").unwrap()[0].contradictory, contradictory, "{fault}");
    }
}

/// A line that classifies counts for the very definition that it names, and for no other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_classifies_is_about_one_definition() {
    let mut lab = with("well");
    lab.connect("lab").await.unwrap();
    let told = lab.host().providers().tools("lab").unwrap();
    assert!(
        told.iter()
            .all(|tool| (&*tool.side_effect, &*tool.network, tool.classified) == ("mutating", "external", false))
    );
    lab.host().close().await;
    let line = |tool: &str, definition: &str| {
        format!(
            "[[mcp.servers.lab.tools]]\ntool = \"{tool}\"\ndefinition = \"{definition}\"\nside_effect = \"read_only\"\nnetwork = \"local\"\n"
        )
    };
    let other = format!("sha256:{}", "0".repeat(64));
    let lines = line("alpha", &told[0].definition) + &line("beta", &other);
    lab.open(&(server("lab", &self::lab("well", None)) + &lines));
    let told = lab.host().providers().tools("lab").unwrap();
    assert_eq!((&*told[0].side_effect, told[0].classified), ("read_only", true));
    assert_eq!((&*told[1].side_effect, told[1].classified), ("mutating", false));
    assert_eq!(lab.host().providers().told()[0].stale_lines, ["beta"], "a line that does not count is told");
}

/// Operators are shown the class that counts. Here the tool claims more than the line about it says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_is_shown_the_class_that_counts() {
    let mut lab = with("destroyer");
    lab.connect("lab").await.unwrap();
    let definition = lab.host().providers().tools("lab").unwrap()[0].definition.clone();
    lab.host().close().await;
    let line = format!(
        "[[mcp.servers.lab.tools]]\ntool = \"erase\"\ndefinition = \"{definition}\"\nside_effect = \"read_only\"\nnetwork = \"local\"\n"
    );
    lab.open(&(server("lab", &self::lab("destroyer", None)) + "discovery_s = 30\n" + &line));
    let told = lab.host().providers().tools("lab").unwrap().swap_remove(0);
    let counts = (&*told.side_effect, &*told.network, told.classified, told.raised);
    assert_eq!(counts, ("mutating", "external", true, true));
    // It is what policy goes by.
    let operator = lab.operator().await;
    lab.connect("lab").await.unwrap();
    let asked = lab.ask(&lab.anybody(), "erase", json!({})).await;
    let shown = lab.shown(&operator, asked.approval().unwrap()).await;
    assert_eq!((shown.class.side_effect.as_str(), shown.class.network.as_str()), (counts.0, counts.1));
}

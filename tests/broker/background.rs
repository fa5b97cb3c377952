//! Commands that run on: who sees them, what is kept of what they write, and every way in which they end.

use std::io::BufRead as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use capability_core::audit::Event;
use capability_core::executor::{Effect, Ended};
use capability_core::handle::ProcessEnd;
use capability_core::session::Mode;
use capability_core::{Code, Outcome, Session, Stage};
use serde_json::{Value, json};

use super::lab::Lab;
use super::terminal::{EXEC, alive, daemon};

const CHILD: &str = "CAPABILITY_TEST_BACKGROUND_CHILD";

/// The next turn that nobody has used.
static TURN: AtomicU64 = AtomicU64::new(100);

fn lab() -> Lab {
    let lab = Lab::isolated(&[], &[]);
    lab.broker.stay();
    lab
}

fn result(outcome: &Outcome) -> Value {
    let Ended::Executed { result } = outcome.ended() else { panic!("{outcome:?}") };
    serde_json::from_str(result).expect("a result is JSON")
}

/// Begins a script, after a person said yes, and gives what is said of it.
async fn begin(lab: &Lab, session: &Session, script: &str, seconds: u16) -> Value {
    let arguments = json!({ "script": script, "background": true, "timeout": seconds });
    result(&lab.run_in(session, EXEC, arguments).await)
}

/// Begins one that is still running, and gives its name.
async fn running(lab: &Lab, script: &str, seconds: u16) -> String {
    let begun = begin(lab, &lab.session, script, seconds).await;
    assert_eq!(begun["ended"], "running", "{begun}");
    begun["process"].as_str().expect("a name").to_owned()
}

/// What a capability says that nobody is asked about.
async fn asked(lab: &Lab, name: &str, arguments: Value) -> Value {
    result(&lab.invoke(name, arguments).await)
}

/// Looks at it until it is over.
async fn over(lab: &Lab, process: &str) -> Value {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        // As often as it takes, in a turn of its own each time.
        let session = lab.session_of(&lab.subject, TURN.fetch_add(1, Ordering::Relaxed));
        let listed = result(&lab.run_in(&session, "terminal.list", json!({})).await);
        session.end();
        let all = listed["processes"].as_array().expect("a list");
        let found = all.iter().find(|one| one["process"] == process).expect("it is listed").clone();
        if found["state"] != "running" {
            return found;
        }
        assert!(Instant::now() < until, "it goes on: {found}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// A script that leaves processes behind in every way there is, one of them a daemon without outputs, and waits.
fn tree(word: &str) -> String {
    format!(
        "trap '' TERM HUP INT; sleep {word} & setsid sleep {word} & (setsid sleep {word} &) & rm -f up; {}; sleep {word}",
        daemon(word)
    )
}

fn word(kind: u8) -> String {
    format!("{kind}{:09}", std::process::id())
}

async fn gone(word: &str) {
    let gone = async {
        while alive(word) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("nothing is left");
}

/// Why each command ended, as the log has it, in order.
fn ends(lab: &Lab) -> Vec<(ProcessEnd, Option<i32>)> {
    let ended = |event| match event {
        Event::ProcessEnded { why, status, .. } => Some((why, status)),
        _ => None,
    };
    lab.sink.records().into_iter().filter_map(|record| ended(record.event)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_left_running_is_looked_at_without_a_question_until_its_end() {
    let lab = lab();
    let script = "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo ende >&2; echo \"$SEEN\"; exit 7";
    let arguments = json!({
        "script": script, "background": true, "timeout": 100, "env": [{ "name": "SEEN", "value": "what nobody records" }]
    });
    let begun = result(&lab.run(EXEC, arguments).await);
    assert_eq!((&begun["ended"], &begun["status"]), (&json!("running"), &json!(null)), "{begun}");
    assert_eq!(begun["stdout"], json!({ "text": "begun\n", "left_out": 0 }));
    let process = begun["process"].as_str().expect("a name").to_owned();
    let listed = asked(&lab, "terminal.list", json!({})).await;
    let [one] = listed["processes"].as_array().expect("a list").as_slice() else { panic!("{listed}") };
    assert_eq!((&one["process"], &one["state"]), (&json!(process), &json!("running")));
    assert_eq!((&one["timeout_ms"], &one["stdout_bytes"]), (&json!(100_000), &json!(6)));
    assert!(one["command"].as_str().is_some_and(|command| command.ends_with(script)), "{one}");

    std::fs::write(lab.workspace().join("go"), "").expect("a file");
    let ended = over(&lab, &process).await;
    assert_eq!((&ended["state"], &ended["status"]), (&json!("exited"), &json!(7)));
    let rest = asked(&lab, "terminal.inspect", json!({ "process": process, "stdout_from": 6 })).await;
    assert_eq!(rest["stdout"], json!({ "text": "what nobody records\n", "from": 6, "next": 26 }), "{rest}");
    assert_eq!(rest["stderr"], json!({ "text": "ende\n", "from": 0, "next": 5 }));
    let nothing = asked(&lab, "terminal.inspect", json!({ "process": process, "stdout_from": 26 })).await;
    assert_eq!(nothing["stdout"], json!({ "text": "", "from": 26, "next": 26 }));
    // What is over stays as it ended, whoever ends it once more.
    let again = asked(&lab, "terminal.cancel", json!({ "process": process })).await;
    assert_eq!((&again["state"], &again["status"]), (&json!("exited"), &json!(7)));

    assert_eq!(ends(&lab), [(ProcessEnd::Exited, Some(7))]);
    let lines = lab.sink.lines();
    let begun = lines.lines().find(|line| line.contains("process_begun")).expect("a record");
    assert!(begun.contains(r#""capability":"terminal.exec""#) && begun.contains(r#""timeout_ms":100000"#), "{begun}");
    for text in ["begun\\n", "what nobody records", "SEEN", &process] {
        assert!(!lines.contains(text), "{text} is in the log");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_ends_at_once_is_told_as_that() {
    let lab = lab();
    for (script, ended, status) in [("exit 3", "exited", json!(3)), ("kill -KILL $$", "signalled", json!(9))] {
        let process = begin(&lab, &lab.session, script, 9).await["process"].as_str().expect("a name").to_owned();
        let found = over(&lab, &process).await;
        assert_eq!((&found["state"], &found["status"]), (&json!(ended), &status), "{script}");
    }
    let none = result(&lab.run(EXEC, json!({ "argv": ["no-such-program"], "background": true })).await);
    let process = none["process"].as_str().expect("a name").to_owned();
    assert_eq!(over(&lab, &process).await["state"], "not_started");
    let expected = [(ProcessEnd::Exited, Some(3)), (ProcessEnd::Signalled, Some(9)), (ProcessEnd::NotStarted, None)];
    assert_eq!(ends(&lab), expected);
}

/// Whoever has the name of another subject's process has nothing.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_sees_or_ends_a_process() {
    let lab = lab();
    let word = word(71);
    let process = running(&lab, &format!("sleep {word}"), 100).await;
    let stranger = lab.session_of(&"stranger".parse().expect("a subject"), 3);
    let listed = result(&lab.run_in(&stranger, "terminal.list", json!({})).await);
    assert_eq!(listed, json!({ "processes": [] }));
    for (name, process) in
        [("terminal.inspect", process.as_str()), ("terminal.cancel", &process), ("terminal.cancel", &"0".repeat(32))]
    {
        let outcome = lab.run_in(&stranger, name, json!({ "process": process })).await;
        let told = outcome.message().expect("a sentence").into_owned();
        assert!(told.contains("you have no such process") && told.contains("terminal.list"), "{told}");
    }
    assert!(alive(&word), "it goes on");
    // The same subject in another session has it.
    let session = lab.session_of(&lab.subject, 4);
    let ended = result(&lab.run_in(&session, "terminal.cancel", json!({ "process": process })).await);
    assert_eq!(ended["state"], "cancelled");
    assert!(!alive(&word), "nothing is left when the answer is there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_is_ended_with_everything_it_started_however_it_ends() {
    let lab = lab();
    let words = [72, 73, 74, 75, 79].map(word);
    let [cancelled, late, left, stopped, forsaken] = &words;
    let process = running(&lab, &tree(cancelled), 200).await;
    assert!(alive(cancelled));
    assert_eq!(asked(&lab, "terminal.cancel", json!({ "process": process })).await["state"], "cancelled");
    assert!(!alive(cancelled), "nothing is left when the answer is there");

    let process = running(&lab, &tree(late), 2).await;
    assert_eq!(over(&lab, &process).await["state"], "timed_out");
    assert!(!alive(late));

    // A session that ends takes along what was begun in it, and nothing else.
    let other = lab.session_of(&lab.subject, 5);
    let process = begin(&lab, &other, &tree(left), 200).await["process"].as_str().expect("a name").to_owned();
    let stays = running(&lab, &tree(stopped), 200).await;
    other.end();
    assert_eq!(over(&lab, &process).await["state"], "session_ended");
    assert!(!alive(left) && alive(stopped));

    // So does one in which nobody asks any more.
    let other = lab.session_of(&lab.subject, 6);
    let process = begin(&lab, &other, &tree(forsaken), 200).await["process"].as_str().expect("a name").to_owned();
    lab.broker.leave(other.identity().id);
    assert_eq!(over(&lab, &process).await["state"], "session_ended");
    assert!(!alive(forsaken) && alive(stopped));

    lab.broker.close().await;
    assert!(!alive(stopped), "the host waits until nothing is left");
    assert_eq!(over(&lab, &stays).await["state"], "host_stopped");
    let whys: Vec<_> = ends(&lab).into_iter().map(|(why, _)| why).collect();
    assert_eq!(
        whys,
        [
            ProcessEnd::Cancelled,
            ProcessEnd::Deadline,
            ProcessEnd::SessionEnded,
            ProcessEnd::SessionEnded,
            ProcessEnd::HostStopped
        ]
    );
    let refused = lab.run(EXEC, json!({ "argv": ["true"], "background": true })).await;
    assert_ne!(refused.effect(), Effect::Completed, "none begins in a host that ends: {refused:?}");
}

/// The host of a test of its own, until it is killed.
#[test]
fn a_host_that_is_killed() {
    let Some(word) = std::env::var(CHILD).ok() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let lab = lab();
        match word.strip_prefix(WAITED_FOR) {
            None => drop(running(&lab, &tree(&word), 200).await),
            Some(word) => {
                let arguments = json!({ "script": tree(word), "timeout": 200 });
                let begun = async {
                    while !alive(word) {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                    println!("up");
                    core::future::pending::<()>().await;
                };
                tokio::select! {
                    outcome = lab.run(EXEC, arguments) => panic!("it ended by itself: {outcome:?}"),
                    () = begun => {}
                }
            }
        }
        println!("up");
        core::future::pending::<()>().await;
    });
}

/// What stands before the word of a command whose end its host waits for.
const WAITED_FOR: &str = "foreground-";

/// Kills a host while a command runs in it, and waits until nothing of the command is left.
async fn outlives_no_host(given: &str, word: &str) {
    let mut child = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "background::a_host_that_is_killed", "--nocapture"])
        .env(CHILD, given)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let lines = std::io::BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let up = tokio::task::spawn_blocking(move || {
        // The harness begins its line before the test ends it.
        lines.map_while(Result::ok).any(|line| line.ends_with("up"))
    });
    assert!(up.await.expect("no panic"), "the host ended by itself");
    assert!(alive(word));
    child.kill().expect("killed");
    child.wait().expect("reaped");
    gone(word).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_does_not_outlive_a_host_that_is_killed() {
    let word = word(76);
    outlives_no_host(&word, &word).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_waited_for_does_not_outlive_a_host_that_is_killed() {
    let word = word(72);
    outlives_no_host(&format!("{WAITED_FOR}{word}"), &word).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_run_for_one_subject() {
    let lab = lab();
    let word = word(77);
    let script = format!("sleep {word}");
    let mut first = None;
    for _ in 0..8 {
        first.get_or_insert(running(&lab, &script, 200).await);
    }
    let session = lab.session_of(&lab.subject, 6);
    let arguments = json!({ "script": script, "background": true });
    let refused = lab.run_in(&session, EXEC, arguments.clone()).await;
    let told = refused.message().expect("a sentence").into_owned();
    assert!(told.contains("as many processes run in the background as may"), "{told}");
    assert_eq!(refused.effect(), Effect::NotStarted);
    // Another subject has room of its own, and so has this one when one of its own is over.
    let stranger = lab.session_of(&"stranger".parse().expect("a subject"), 7);
    assert_eq!(result(&lab.run_in(&stranger, EXEC, arguments.clone()).await)["ended"], "running");
    asked(&lab, "terminal.cancel", json!({ "process": first.expect("one") })).await;
    assert_eq!(result(&lab.run_in(&session, EXEC, arguments).await)["ended"], "running");
    lab.broker.close().await;
    assert!(!alive(&word));
}

/// A person answers for where it runs, foreground or background, and how long: all of it is in what they see.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_answers_sees_that_a_command_runs_on_and_for_how_long() {
    let lab = lab();
    let preview = async |arguments: Value| {
        let id = lab.invoke(EXEC, arguments).await.approval().expect("it waits");
        (id, lab.preview(id).await)
    };
    let (short, shown) = preview(json!({ "argv": ["true"] })).await;
    assert!(shown.contains("for 60 s at most") && !shown.contains("background"), "{shown}");
    let (long, shown) = preview(json!({ "argv": ["true"], "background": true })).await;
    assert!(shown.contains("in the background, after this call too, for 600 s at most"), "{shown}");
    // A yes to the one is none to the other.
    lab.approve(short).await;
    assert_eq!(lab.executor.resume(&lab.session, long).await.approval(), Some(long), "it waits");
    assert!(ends(&lab).is_empty());
    let (_, shown) = preview(json!({ "argv": ["true"], "background": true, "timeout": 28_800 })).await;
    assert!(shown.contains("for 28800 s at most"), "{shown}");
    for (arguments, code) in [
        (json!({ "argv": ["true"], "timeout": 291 }), Code::CheckRefused),
        (json!({ "argv": ["true"], "timeout": 291, "background": false }), Code::CheckRefused),
        (json!({ "argv": ["true"], "timeout": 28_801, "background": true }), Code::SchemaViolation),
    ] {
        assert_eq!(lab.invoke(EXEC, arguments.clone()).await.code(), Some(code), "{arguments}");
    }
}

/// In plan mode nothing is begun, and what was begun before can be looked at and ended: that needs nothing more than was approved.
#[tokio::test(flavor = "multi_thread")]
async fn in_plan_mode_nothing_begins_and_what_runs_can_be_ended() {
    let lab = lab();
    let word = word(70);
    let process = running(&lab, &format!("sleep {word}"), 200).await;
    let planning = lab.session_in(Mode::Plan);
    let arguments = json!({ "script": "true", "background": true });
    let refused = lab.run_in(&planning, EXEC, arguments).await;
    assert_eq!((refused.stage(), refused.code()), (Stage::Policy, Some(Code::PlanMode)), "{refused:?}");
    let seen = result(&lab.run_in(&planning, "terminal.inspect", json!({ "process": process })).await);
    assert_eq!(seen["process"]["state"], "running");
    assert!(alive(&word));
    let ended = result(&lab.run_in(&planning, "terminal.cancel", json!({ "process": process })).await);
    assert_eq!(ended["state"], "cancelled");
    assert!(!alive(&word), "nothing is left when the answer is there");
}

/// A process would end with the command line that began it, so nobody is asked about one there.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_does_not_stay_leaves_nothing_running() {
    let lab = Lab::isolated(&[], &[]);
    let outcome = lab.invoke(EXEC, json!({ "argv": ["true"], "background": true })).await;
    assert_eq!((outcome.code(), outcome.effect()), (Some(Code::PrepareFailed), Effect::NotStarted), "{outcome:?}");
    let told = outcome.message().expect("a sentence").into_owned();
    assert!(told.contains("capability serve"), "{told}");
    assert!(lab.invoke(EXEC, json!({ "argv": ["true"] })).await.approval().is_some(), "other commands are asked about");
}

/// What runs on unseen is given none, whoever would answer for it.
#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_given_to_a_command_that_runs_on() {
    let lab = lab();
    lab.private("secrets/deploy_token", b"a token of eight bytes or more\n");
    let secrets = json!([{ "variable": "DEPLOY_TOKEN", "secret": "deploy_token" }]);
    let outcome = lab.invoke(EXEC, json!({ "argv": ["env"], "secrets": secrets, "background": true })).await;
    assert_eq!((outcome.code(), outcome.effect()), (Some(Code::CheckRefused), Effect::NotStarted), "{outcome:?}");
    assert!(lab.invoke(EXEC, json!({ "argv": ["env"], "secrets": secrets })).await.approval().is_some());
}

/// A log that cannot take the beginning keeps it from beginning.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_begins_only_on_record() {
    let lab = lab();
    let word = word(78);
    let arguments = json!({ "script": format!("touch ran; sleep {word}"), "background": true });
    let id = lab.invoke(EXEC, arguments).await.approval().expect("it waits");
    lab.approve(id).await;
    lab.sink.fail();
    let outcome = lab.executor.resume(&lab.session, id).await;
    assert!(outcome.result().is_none(), "{outcome:?}");
    assert!(!lab.workspace().join("ran").exists() && !alive(&word));
}

/// What it writes is taken in as it comes, whoever looks: the beginning, the end, and how much is between them.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_of_any_length_is_kept_by_its_ends_and_read_page_by_page() {
    let lab = lab();
    let script = "seq 1 200000; touch written; while [ ! -e go ]; do sleep 0.05; done";
    let process = begin(&lab, &lab.session, script, 200).await["process"].as_str().expect("a name").to_owned();
    while !lab.workspace().join("written").exists() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (mut text, mut at, mut left_out) = (String::new(), 0, 0);
    loop {
        let page = asked(&lab, "terminal.inspect", json!({ "process": process, "stdout_from": at })).await;
        assert_eq!(page["process"]["state"], "running");
        let (from, next) =
            (page["stdout"]["from"].as_u64().expect("one"), page["stdout"]["next"].as_u64().expect("one"));
        left_out += from - at;
        text += page["stdout"]["text"].as_str().expect("a text");
        at = next;
        let total = page["process"]["stdout_bytes"].as_u64().expect("one");
        if at >= total && text.ends_with("\n200000\n") {
            break;
        }
    }
    let whole: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    assert_eq!((at, text.len() + usize::try_from(left_out).expect("it fits")), (whole.len() as u64, whole.len()));
    assert!(text.starts_with(&whole[..32 << 10]) && text.ends_with(&whole[whole.len() - (96 << 10)..]));
    assert_eq!(text.len(), 128 << 10);
    std::fs::write(lab.workspace().join("go"), "").expect("a file");
    assert_eq!(over(&lab, &process).await["status"], 0);
}

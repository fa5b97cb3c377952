//! `schedule.*`: calls that are made at times.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use capability_core::Timestamp;
use capability_core::audit::OutcomeKind;
use capability_core::handle::Scheduled;
use capability_core::session::{Origin, Subject};
use capability_core::{Code, Stage};
use capability_host::SettingError;
use capability_host::store::sqlite::OwnedSchedule;
use serde_json::{Value, json};

use crate::household::{Household, folder, private};

fn plan(cron: &str, capability: &str, arguments: &Value) -> Value {
    json!({ "cron": cron, "zone": "Europe/Berlin", "capability": capability, "arguments": arguments.to_string() })
}

fn note(text: &str) -> Value {
    plan("*/5 * * * *", "subject.note", &json!({ "text": text }))
}

/// The only schedule.
async fn only(household: &Household) -> Scheduled {
    let found = household.host.schedules().list(None).await.unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    found.into_iter().next().unwrap().schedule
}

fn after(at: Option<Timestamp>, seconds: u64) -> Timestamp {
    at.unwrap().after(std::time::Duration::from_secs(seconds))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schedule_runs_when_its_time_has_come_and_once_each_time() {
    let household = Household::open(folder(), "").await;
    let asked = household.ask("schedule.create", &note("the canary is fed")).await;
    assert_eq!((asked.kind(), asked.stage()), (OutcomeKind::Pending, Stage::Confirm), "{asked:?}");
    let made = household.called("schedule.create", &note("the canary is fed")).await;
    let number = made["schedule"].as_u64().unwrap();
    let first = only(&household).await;
    household.host.run_due(first.next_at.unwrap().after(std::time::Duration::ZERO)).await;
    let ran = only(&household).await;
    assert_eq!((ran.last_outcome.as_deref(), ran.missed), (Some("executed"), 0));
    assert!(ran.last_at == first.next_at && ran.next_at > first.next_at, "{ran:?}");
    // The same moment again makes no second call, and neither do two hosts' looks at once.
    household.host.run_due(first.next_at.unwrap()).await;
    let later = after(ran.next_at, 5);
    tokio::join!(household.host.run_due(later), household.host.run_due(later));
    let schedule: Subject = format!("schedule:{number}").parse().unwrap();
    assert_eq!(household.host.journal().count(&schedule).await.unwrap(), 2);
    let log = household.log();
    assert!(
        log.contains(&format!("\"subject\":\"schedule:{number}\"")) && log.contains("\"origin\":\"schedule\""),
        "{log}"
    );

    let listed = household.called("schedule.list", &json!({})).await;
    let entry = &listed["schedules"][0];
    assert_eq!((&entry["schedule"], &entry["capability"]), (&json!(number), &json!("subject.note")));
    assert_eq!((&entry["last_outcome"], &entry["missed"]), (&json!("executed"), &json!(0)));
    household.called("schedule.cancel", &json!({ "schedule": number })).await;
    assert_eq!(household.called("schedule.list", &json!({})).await["schedules"], json!([]));
    let outcome = household.call("schedule.cancel", &json!({ "schedule": number })).await;
    assert_eq!(outcome.kind(), OutcomeKind::Failed, "{outcome:?}");
    assert!(!household.log().contains("canary"), "a plan is content, and the log has none");
}

/// Nothing is made up for: what went by while no host was there is counted and told.
#[tokio::test(flavor = "multi_thread")]
async fn what_went_by_is_told_and_not_replayed() {
    let household = Household::open(folder(), "").await;
    household.called("schedule.create", &note("late")).await;
    let first = only(&household).await;
    household.host.run_due(after(first.next_at, 24 * 60 * 60)).await;
    let told = only(&household).await;
    assert_eq!((told.last_at, told.last_outcome.as_deref(), told.missed), (None, None, 289));
    assert!(told.next_at > Some(after(first.next_at, 24 * 60 * 60)), "{told:?}");
    let schedule: Subject = format!("schedule:{}", told.number).parse().unwrap();
    assert_eq!(household.host.journal().count(&schedule).await.unwrap(), 0);
    let listed = household.called("schedule.list", &json!({})).await;
    assert_eq!(listed["schedules"][0]["missed"], 289);
}

/// Its own declarations, and never above whoever made it.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_may_do_one_thing_and_never_more_than_its_maker() {
    let config = "[subjects.\"agent:kitchen\"]\ncapabilities = [\"schedule.create\", \"schedule.list\"]\n";
    let household = Household::open(folder(), config).await;
    let kitchen = household.turn_of("agent:kitchen", &["schedule.create", "schedule.list"]);
    let asked = household.ask_in(&kitchen, "schedule.create", &note("above itself")).await;
    let made = household.approved(&kitchen, &asked).await;
    assert_eq!(made.kind(), OutcomeKind::Executed, "{made:?}");
    let first = only(&household).await;
    household.host.run_due(first.next_at.unwrap()).await;
    let ran = only(&household).await;
    assert_eq!(ran.last_outcome.as_deref(), Some("rejected"), "its maker does not declare `subject.note`");
    assert!(household.log().contains("\"delegation\""), "{}", household.log());

    // Somebody else's schedules are nobody's.
    assert_eq!(household.called("schedule.list", &json!({})).await["schedules"], json!([]));
    let outcome = household.call("schedule.cancel", &json!({ "schedule": first.number })).await;
    assert_eq!(outcome.kind(), OutcomeKind::Failed, "{outcome:?}");
    household.cancel_schedule(first.number).await.unwrap();
    assert!(matches!(household.cancel_schedule(first.number).await, Err(SettingError::NoSuchSchedule)));
    assert!(household.log().contains("\"setting\":\"schedule_cancelled\""), "{}", household.log());
}

/// Writes a manifest of the kitchen's agent, or of one of its components.
fn manifest(data: &Path, file: &str, text: &str) {
    let directory = data.join("subjects/agent:kitchen");
    std::fs::create_dir_all(&directory).unwrap();
    for one in [data.join("subjects"), directory.clone()] {
        std::fs::set_permissions(one, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    private(&directory.join(file), text);
}

/// What holds for whoever made it holds for its runs: the slot it was made in, as that slot's manifest is now, and what brought the
/// call that made it.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_judged_as_the_slot_and_the_origin_that_made_it() {
    let top = folder();
    let data = top.path().join("data");
    let agent = |planner: &str| {
        format!(
            "capabilities:\n  slots: {{ planner: [{planner}], writer: [subject.note] }}\ncomponents: {{ writer: writer.yaml }}\n"
        )
    };
    manifest(&data, "agent.yaml", &agent("subject.note"));
    manifest(&data, "writer.yaml", "approval: { capabilities: { subject.note: deny } }\n");
    let rule = "[[rule]]\nid = \"no\"\neffect = \"deny\"\nreason = \"not because of a message\"\norigin = \"channel\"\ncapability = \"subject.note\"\n";
    private(&data.join("policy.toml"), rule);
    let household = Household::open(top, "").await;
    let made = async |slot: Option<&str>, origin: Origin| {
        let session = household.turn_in("agent:kitchen", slot, origin);
        let asked = household.ask_in(&session, "schedule.create", &note("fed")).await;
        let made = household.approved(&session, &asked).await;
        assert_eq!(made.kind(), OutcomeKind::Executed, "{made:?}");
        let found = household.host.schedules().list(None).await.unwrap();
        found.into_iter().map(|found| found.schedule).max_by_key(|schedule| schedule.number).unwrap()
    };
    let ran = async |schedule: &Scheduled| {
        let of = |found: &OwnedSchedule| found.schedule.number == schedule.number;
        let now = household.host.schedules().list(None).await.unwrap().into_iter().find(of).unwrap();
        household.host.run_due(now.schedule.next_at.unwrap()).await;
        let after = household.host.schedules().list(None).await.unwrap().into_iter().find(of).unwrap();
        after.schedule.last_outcome.unwrap()
    };
    let planner = made(Some("planner"), Origin::Terminal).await;
    for (slot, origin, ends) in [
        (Some("planner"), Origin::Terminal, "executed"),
        (Some("planner"), Origin::Channel, "rejected"),
        (Some("writer"), Origin::Terminal, "rejected"),
        (None, Origin::Terminal, "rejected"),
    ] {
        let schedule = made(slot, origin).await;
        assert_eq!(ran(&schedule).await, ends, "{slot:?} {origin:?}");
    }
    assert_eq!(ran(&planner).await, "executed");
    manifest(&data, "agent.yaml", &agent(""));
    assert_eq!(ran(&planner).await, "rejected", "its slot declares it no more");
    manifest(&data, "agent.yaml", "capabilities: { defaults: [subject.note] }\n");
    assert_eq!(ran(&planner).await, "rejected", "there is no such slot any more");
}

/// A run that needs an answer waits for one like any other call, and is made once it is there.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_asked_about_like_any_other_call() {
    let household = Household::open(folder(), "").await;
    let kept = json!({ "scope": "core", "key": "fed", "value": "yes" });
    household.called("schedule.create", &plan("*/5 * * * *", "state.put", &kept)).await;
    let first = only(&household).await;
    let (ran, ()) = tokio::join!(household.host.run_due(first.next_at.unwrap()), household.approve_next());
    let () = ran;
    assert_eq!(only(&household).await.last_outcome.as_deref(), Some("executed"));
    let schedule: Subject = format!("schedule:{}", first.number).parse().unwrap();
    assert_eq!(household.host.state().entries(&schedule).await.unwrap().len(), 1);
    assert!(household.host.state().entries(&Subject::local()).await.unwrap().is_empty());
}

/// A run is a turn of its own, and its end is the end of whatever it left running.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_left_running_ends_with_it() {
    let top = folder();
    let workspace = top.path().join("work");
    std::fs::create_dir(&workspace).unwrap();
    let household = Household::open(top, &format!("[workspace]\nroot = {:?}\n", workspace.display().to_string())).await;
    household.host.stay();
    let command = json!({ "script": "touch ran; sleep 600", "background": true, "timeout": 900 });
    household.called("schedule.create", &plan("*/5 * * * *", "terminal.exec", &command)).await;
    let first = only(&household).await;
    let ((), ()) = tokio::join!(household.host.run_due(first.next_at.unwrap()), household.approve_next());
    assert_eq!(only(&household).await.last_outcome.as_deref(), Some("executed"));
    assert!(workspace.join("ran").exists(), "it ran");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !household.log().contains("\"event\":\"process_ended\"") {
        assert!(std::time::Instant::now() < end, "it goes on");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(household.log().contains("\"why\":\"session_ended\""), "{}", household.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_plan_is_refused_before_anybody_is_asked() {
    let household = Household::open(folder(), "").await;
    let with = |key: &str, value: &str| {
        let mut plan = note("a");
        plan[key] = json!(value);
        plan
    };
    for bad in [
        with("cron", "* * * * * *"),
        with("cron", "61 * * * *"),
        with("cron", "@every 1s"),
        with("cron", "0 0 30 2 *"),
        with("zone", "Nowhere/None"),
        with("zone", "../../etc/passwd"),
        with("capability", "subject.notes"),
        with("capability", "schedule.create"),
        with("capability", "schedule.list"),
        with("capability", "*.*"),
        with("arguments", "[]"),
        with("arguments", "{]"),
    ] {
        let outcome = household.ask("schedule.create", &bad).await;
        assert_eq!(
            (outcome.stage(), outcome.code()),
            (Stage::Validate, Some(Code::PrepareFailed)),
            "{bad} {outcome:?}"
        );
        assert!(outcome.message().unwrap().contains("\nhelp: "), "{:?}", outcome.message());
    }
    let outcome = household.ask("schedule.create", &with("subject", "agent:kitchen")).await;
    assert_eq!(outcome.code(), Some(Code::SchemaViolation), "{outcome:?}");
}

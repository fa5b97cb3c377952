//! What reaches nothing outside the subject's own: `subject.note`, and what is only named.

use capability_core::approval::HistoryEntry;
use capability_core::audit::OutcomeKind;
use capability_core::contract::{Class, Confirmation, DefaultEffect, Network, Risk, SideEffect};
use capability_core::session::Subject;
use capability_core::{Code, Stage};
use capability_host::store::sqlite::JournalEntry;
use serde_json::json;

use crate::household::{Household, folder};

#[tokio::test(flavor = "multi_thread")]
async fn a_note_is_in_its_subjects_journal_and_nowhere_else() {
    let household = Household::open(folder(), "").await;
    let told = household.called("subject.note", &json!({ "text": "the cellar is wet\u{202e}" })).await;
    assert!(told["noted_at"].as_str().unwrap().starts_with("20"), "{told}");
    let kept = household.host.journal().newest(&Subject::local(), 10).await.unwrap();
    let [JournalEntry { entry: HistoryEntry::Subject { text, .. }, .. }] = kept.as_slice() else { panic!("{kept:?}") };
    assert_eq!(text, "the cellar is wet\u{202e}", "as it was said: it is for whoever shows it to make it plain");
    assert!(!household.log().contains("cellar"), "a note is content, and the log has none");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_is_bounded_before_anything_is_kept() {
    let household = Household::open(folder(), "").await;
    for (bad, code) in [
        (json!({ "text": "" }), Code::SchemaViolation),
        (json!({ "text": "x".repeat(4097) }), Code::SchemaViolation),
        (json!({ "text": "é".repeat(2049) }), Code::CheckRefused),
        (json!({ "text": " \n" }), Code::CheckRefused),
        (json!({ "text": "a", "subject": "operator" }), Code::SchemaViolation),
    ] {
        let outcome = household.ask("subject.note", &bad).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Validate, Some(code)), "{outcome:?}");
    }
    assert_eq!(household.host.journal().count(&Subject::local()).await.unwrap(), 0);

    // As many in a turn as the journal takes, and the next one is refused before it runs.
    let turn = household.turn();
    for at in 0..8 {
        let outcome = household.ask_in(&turn, "subject.note", &json!({ "text": format!("note {at}") })).await;
        assert_eq!(outcome.kind(), OutcomeKind::Executed, "{at}: {outcome:?}");
    }
    let outcome = household.ask_in(&turn, "subject.note", &json!({ "text": "one more" })).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Policy, Some(Code::TurnCap)), "{outcome:?}");
}

/// What was decided about each, whatever else changes: what it does, where its data goes, how grave it is, and what is said to a call
/// that no rule is about.
#[tokio::test(flavor = "multi_thread")]
async fn each_built_in_is_what_was_decided_about_it() {
    let household = Household::open(folder(), "").await;
    let registry = household.host.executor().registry();
    let (read, change) = (SideEffect::ReadOnly, SideEffect::Mutating);
    let (local, external) = (Network::Local, Network::External);
    for (name, side_effect, network, risk, asks) in [
        ("system.health", read, local, None, false),
        ("pihole.status", read, local, None, false),
        ("pihole.summary", read, local, None, false),
        ("web.search", read, external, None, true),
        ("web.fetch", read, external, None, true),
        ("subject.note", read, local, Some(Risk::Low), false),
        ("metrics.read", read, local, Some(Risk::Low), false),
        ("repository.read", read, local, Some(Risk::Medium), true),
        ("mail.send", change, external, Some(Risk::High), true),
        ("shell.sudo", change, external, Some(Risk::Critical), true),
        ("database.delete", change, external, Some(Risk::Critical), true),
    ] {
        let entry = registry.resolve(name, 1).unwrap_or_else(|| panic!("{name}")).entry();
        assert_eq!(entry.class(), Class::new(side_effect, network), "{name}");
        assert!(risk.is_none_or(|risk| entry.risk() == risk), "{name}: {:?}", entry.risk());
        let is_asked = entry.confirmation() == Confirmation::of(change, external)
            || entry.default_effect() != DefaultEffect::Floor
            || entry.is_locked();
        assert_eq!(is_asked, asks, "{name}");
    }
    assert!(
        ["shell.sudo", "database.delete"].iter().all(|name| registry.resolve(name, 1).unwrap().entry().is_locked())
    );
}

/// With their family switched on, and by the subject that declares everything.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_locked_can_be_named_and_never_runs() {
    let household = Household::open(folder(), "").await;
    for (name, arguments) in
        [("shell.sudo", json!({ "command": "true" })), ("database.delete", json!({ "database": "state" }))]
    {
        let outcome = household.ask(name, &arguments).await;
        assert_eq!((outcome.kind(), outcome.stage()), (OutcomeKind::Rejected, Stage::Policy), "{outcome:?}");
        assert_eq!((outcome.code(), outcome.approval()), (Some(Code::Locked), None), "{outcome:?}");
    }
    let near = household.ask("shell.su", &json!({ "command": "true" })).await;
    assert_eq!(near.code(), Some(Code::UnknownCapability));
    household.remembers_nothing_of(&["\"true\"", "command"]);
}

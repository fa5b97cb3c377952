use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

#[path = "../cli/project.rs"]
#[expect(dead_code, reason = "what the command line's tests need besides")]
mod project;

/// The household, as it stands in its `src/main.rs`.
const HOUSEHOLD: &str = include_str!("../fixtures/browser/household.rs");

/// What was played, and how it ended: nothing when it went well.
static PLAYED: OnceLock<BTreeMap<String, Option<String>>> = OnceLock::new();

fn played() -> &'static BTreeMap<String, Option<String>> {
    PLAYED.get_or_init(|| {
        let household = project::Project::new("browsed-household", "", "");
        household.write("src/main.rs", HOUSEHOLD);
        play(&household.build())
    })
}

/// Where npm put what the lock file lists.
fn node_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("node");
    assert!(folder.join("node_modules/playwright-core").is_dir(), "no playwright-core: `tests/run` installs it");
    folder
}

fn chromium() -> PathBuf {
    let found = std::env::var_os("CHROMIUM").map_or_else(|| PathBuf::from("/usr/bin/chromium"), PathBuf::from);
    assert!(found.exists(), "no Chromium at {}: `tests/run` installs it, `CHROMIUM` names another", found.display());
    found
}

fn play(household: &Path) -> BTreeMap<String, Option<String>> {
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&pictures).unwrap();
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/browser");
    let ran = Command::new("node")
        .args(["--test-reporter=tap", "main.mjs"])
        .current_dir(scenes)
        .env("NODE_FOLDER", node_folder())
        .env("CHROMIUM", chromium())
        .env("HOUSEHOLD", household)
        .env("PICTURES", &pictures)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("node is there: `tests/run` installs it");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let mut played: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut last = None;
    for line in said.lines() {
        let (well, rest) = match (line.strip_prefix("ok "), line.strip_prefix("not ok ")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => {
                if let Some(Some(why)) = last.as_ref().and_then(|name| played.get_mut(name)) {
                    why.push_str(line);
                    why.push('\n');
                }
                continue;
            }
        };
        let name = rest.split_once(" - ").map_or(rest, |(_, name)| name);
        assert!(!name.contains('#'), "nothing is left out: {line}");
        played.insert(name.to_owned(), (!well).then(String::new));
        last = Some(name.to_owned());
    }
    assert!(!played.is_empty(), "nothing was played: {said}");
    let well = played.values().all(Option::is_none);
    assert!(ran.status.success() || !well, "every scenario went well, and something beside them did not: {said}");
    played
}

/// What is played has a test here, and what is tested is played.
#[test]
fn every_scenario_has_its_test() {
    let source = include_str!("scenarios.rs");
    let tested: Vec<_> =
        source.lines().filter_map(|line| line.trim().strip_prefix("went_well(\"")?.split('"').next()).collect();
    let mut played: Vec<_> = played().keys().map(String::as_str).collect();
    played.sort_unstable();
    let mut sorted = tested.clone();
    sorted.sort_unstable();
    assert_eq!(played, sorted);
    for name in tested {
        assert!(source.contains(&format!("fn {name}()")), "{name} is played by a test of another name");
    }
}

#[track_caller]
fn went_well(scenario: &str) {
    match played().get(scenario) {
        Some(None) => {}
        Some(Some(why)) => panic!("{why}"),
        None => panic!("{scenario} was not played"),
    }
}

#[test]
fn a_call_appears_without_a_reload_and_its_answer_reaches_the_caller() {
    went_well("a_call_appears_without_a_reload_and_its_answer_reaches_the_caller");
}

#[test]
fn a_denial_with_a_note_is_told_to_the_caller() {
    went_well("a_denial_with_a_note_is_told_to_the_caller");
}

#[test]
fn of_two_browsers_on_one_card_one_answers_and_the_other_is_told_by_whom() {
    went_well("of_two_browsers_on_one_card_one_answers_and_the_other_is_told_by_whom");
}

#[test]
fn a_card_that_has_expired_offers_no_answer() {
    went_well("a_card_that_has_expired_offers_no_answer");
}

#[test]
fn a_card_is_answered_without_a_script() {
    went_well("a_card_is_answered_without_a_script");
}

#[test]
fn an_answer_that_comes_too_soon_is_refused() {
    went_well("an_answer_that_comes_too_soon_is_refused");
}

#[test]
fn the_keyboard_is_enough() {
    went_well("the_keyboard_is_enough");
}

#[test]
fn a_browser_without_the_cookie_is_turned_away() {
    went_well("a_browser_without_the_cookie_is_turned_away");
}

#[test]
fn a_link_opens_one_session() {
    went_well("a_link_opens_one_session");
}

#[test]
fn a_page_of_another_origin_decides_nothing() {
    went_well("a_page_of_another_origin_decides_nothing");
}

#[test]
fn a_foreign_name_for_our_address_shows_nothing() {
    went_well("a_foreign_name_for_our_address_shows_nothing");
}

#[test]
fn what_reorders_is_shown_by_its_code_and_asks_for_a_word() {
    went_well("what_reorders_is_shown_by_its_code_and_asks_for_a_word");
}

#[test]
fn what_cannot_be_seen_is_shown_by_its_code() {
    went_well("what_cannot_be_seen_is_shown_by_its_code");
}

#[test]
fn a_text_that_looks_like_a_card_is_one_block_of_text() {
    went_well("a_text_that_looks_like_a_card_is_one_block_of_text");
}

#[test]
fn empty_lines_are_told_and_the_tail_is_shown_before_any_answer() {
    went_well("empty_lines_are_told_and_the_tail_is_shown_before_any_answer");
}

#[test]
fn markup_in_a_claim_is_text_and_called_a_claim() {
    went_well("markup_in_a_claim_is_text_and_called_a_claim");
}

#[test]
fn a_number_is_shown_to_its_last_digit_and_a_host_with_what_it_says() {
    went_well("a_number_is_shown_to_its_last_digit_and_a_host_with_what_it_says");
}

#[test]
fn nothing_is_cut_or_hidden_on_a_phone() {
    went_well("nothing_is_cut_or_hidden_on_a_phone");
}

#[test]
fn every_page_is_for_everybody_light_desktop() {
    went_well("every_page_is_for_everybody_light_desktop");
}

#[test]
fn every_page_is_for_everybody_light_phone() {
    went_well("every_page_is_for_everybody_light_phone");
}

#[test]
fn every_page_is_for_everybody_dark_desktop() {
    went_well("every_page_is_for_everybody_dark_desktop");
}

#[test]
fn every_page_is_for_everybody_dark_phone() {
    went_well("every_page_is_for_everybody_dark_phone");
}

#[test]
fn a_grant_answers_what_its_card_said_until_it_is_revoked() {
    went_well("a_grant_answers_what_its_card_said_until_it_is_revoked");
}

#[test]
fn no_card_of_a_call_that_needs_a_fresh_answer_offers_a_grant() {
    went_well("no_card_of_a_call_that_needs_a_fresh_answer_offers_a_grant");
}

#[test]
fn other_arguments_are_a_call_of_their_own() {
    went_well("other_arguments_are_a_call_of_their_own");
}

#[test]
fn a_card_says_what_is_different_from_the_last_time() {
    went_well("a_card_says_what_is_different_from_the_last_time");
}

#[test]
fn a_call_that_is_denied_again_and_again_is_asked_about_no_more() {
    went_well("a_call_that_is_denied_again_and_again_is_asked_about_no_more");
}

#[test]
fn what_another_table_calls_invisible_is_nowhere_on_a_page() {
    went_well("what_another_table_calls_invisible_is_nowhere_on_a_page");
}

#[test]
fn a_page_whose_session_was_ended_shows_no_more() {
    went_well("a_page_whose_session_was_ended_shows_no_more");
}

#[test]
fn what_is_long_floods_no_page_and_is_cut_on_none() {
    went_well("what_is_long_floods_no_page_and_is_cut_on_none");
}

#[test]
fn the_table_of_a_policy_leads_to_why() {
    went_well("the_table_of_a_policy_leads_to_why");
}

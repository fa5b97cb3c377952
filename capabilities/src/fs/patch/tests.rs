//! Patches: those that programs write, those that people write, and whatever else.

use proptest::prelude::*;
use similar::TextDiff;

use super::apply::apply;
use super::hold;
use super::parse::{FilePatch, Rule, Side, What, parse};

fn rule(patch: &str) -> Rule {
    parse(patch).expect_err("it is refused").rule
}

fn applied(patch: &str, before: &str) -> Result<String, Rule> {
    let patches = parse(patch).map_err(|fault| fault.rule)?;
    apply(&patches[0], Some(before)).map(|after| after.expect("a content")).map_err(|fault| fault.rule)
}

const TODAY: &str = "--- a/today\n+++ b/today\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n";

#[test]
fn a_patch_is_read_with_everything_that_stands_in_it() {
    let text = "diff --git a/x y b/x y\nindex 0123..4567 100644\n--- a/x y\t2026-11-30\n+++ b/x y\t2026-11-30\n@@ -2 +2,0 @@ fn x\n-a\n\n\
                --- /dev/null\n+++ b/new/file\n@@ -0,0 +1 @@\n+text\n\\ No newline at end of file\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n";
    let patches = parse(text).expect("a patch");
    let told: Vec<_> = patches.iter().map(|patch| (patch.path, patch.what, patch.hunks.len())).collect();
    assert_eq!(told, [("x y", What::Change, 1), ("new/file", What::Create, 1), ("old", What::Remove, 1)]);
    let line = patches[1].hunks[0].lines[0];
    assert_eq!((line.side, line.text, line.last), (Side::After, "text", true));
    assert_eq!(apply(&patches[1], None), Ok(Some("text".to_owned())));
    assert_eq!(apply(&patches[2], Some("gone\n")), Ok(None));
    assert_eq!(apply(&patches[2], Some("gone\nnot\n")).map_err(|fault| fault.rule), Err(Rule::LeftOver));
    assert_eq!(apply(&patches[1], Some("")).map_err(|fault| fault.rule), Err(Rule::Present));
    assert_eq!(apply(&patches[0], None).map_err(|fault| fault.rule), Err(Rule::Absent));
}

#[test]
fn what_is_not_understood_is_refused() {
    let of = |heads: &str| format!("{heads}@@ -1 +1 @@\n-a\n+b\n");
    for (patch, expected) in [
        (String::new(), Rule::Empty),
        ("\n\n".to_owned(), Rule::Empty),
        ("```diff\n".to_owned(), Rule::Stray),
        (of("--- a/x\n"), Rule::Heads),
        (of("--- a/x\n+++ b/y\n"), Rule::Renamed),
        (of("--- a/../x\n+++ b/../x\n"), Rule::Name),
        (of("--- /etc/passwd\n+++ /etc/passwd\n"), Rule::Name),
        (of("--- \"a/x\"\n+++ \"b/x\"\n"), Rule::Renamed),
        (of("--- /dev/null\n+++ \"b/x\"\n"), Rule::Name),
        (of("--- /dev/null\n+++ /dev/null\n"), Rule::Name),
        (of("rename from x\n"), Rule::Mode),
        (of("new file mode 120000\n"), Rule::Mode),
        (of("old mode 100644\n"), Rule::Mode),
        ("Binary files a/x and b/x differ\n".to_owned(), Rule::Binary),
        ("--- a/x\n+++ b/x\n".to_owned(), Rule::NoChange),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n a\n".to_owned(), Rule::NoChange),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n".to_owned(), Rule::Short),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n".to_owned(), Rule::Stray),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\na\n".to_owned(), Rule::Sign),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n\\ No newline\n".to_owned(), Rule::Sign),
        ("--- a/x\n+++ b/x\n@@ -0 +1 @@\n-a\n+b\n".to_owned(), Rule::Hunk),
        ("--- a/x\n+++ b/x\n@@ -1 +99999999999 @@\n-a\n".to_owned(), Rule::Hunk),
        (format!("{TODAY}{TODAY}"), Rule::Twice),
        ((0..65).map(|at| of(&format!("--- a/{at}\n+++ b/{at}\n"))).collect(), Rule::TooMany),
    ] {
        assert_eq!(rule(&patch), expected, "{patch:?}");
        let told = parse(&patch).expect_err("it is refused").to_string();
        assert!(told.contains("\nhelp: ") && !told.contains("passwd"), "{told}");
    }
}

#[test]
fn a_part_goes_where_it_says_or_into_the_one_place_where_it_fits() {
    assert_eq!(applied(TODAY, "one\ntwo\nthree\n").as_deref(), Ok("one\nzwei\nthree\n"));
    assert_eq!(applied(TODAY, "zero\none\ntwo\nthree\n").as_deref(), Ok("zero\none\nzwei\nthree\n"));
    assert_eq!(
        applied(TODAY, "one\ntwo\nthree\none\ntwo\nthree\n").as_deref(),
        Ok("one\nzwei\nthree\none\ntwo\nthree\n")
    );
    assert_eq!(applied(TODAY, "0\none\ntwo\nthree\none\ntwo\nthree\n"), Err(Rule::Ambiguous));
    assert_eq!(applied(TODAY, "one\ntwo \nthree\n"), Err(Rule::NoMatch));
    assert_eq!(applied(TODAY, ""), Err(Rule::NoMatch));
    // Parts keep their order.
    let two = "--- a/x\n+++ b/x\n@@ -5 +5 @@\n-b\n+B\n@@ -9 +9 @@\n-a\n+A\n";
    assert_eq!(applied(two, "a\nb\n"), Err(Rule::NoMatch));
    assert_eq!(applied(two, "b\na\n").as_deref(), Ok("B\nA\n"));
    let behind = "--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+new\n";
    assert_eq!(applied(behind, "a\nb\n").as_deref(), Ok("a\nnew\nb\n"));
    assert_eq!(applied(behind, ""), Err(Rule::NoMatch));
}

#[test]
fn line_endings_and_marks_stay_as_they_are() {
    assert_eq!(applied(TODAY, "one\r\ntwo\r\nthree\r\n").as_deref(), Ok("one\r\nzwei\r\nthree\r\n"));
    assert_eq!(applied(TODAY, "\u{feff}one\ntwo\nthree\n").as_deref(), Ok("\u{feff}one\nzwei\nthree\n"));
    assert_eq!(applied(TODAY, "one\ntwo\nthree").as_deref(), Ok("one\nzwei\nthree"));
    assert_eq!(applied(&TODAY.replace('\n', "\r\n"), "one\ntwo\nthree\n").as_deref(), Ok("one\nzwei\nthree\n"));
    assert_eq!(applied(TODAY, "one\r\ntwo\nthree\n"), Err(Rule::NoMatch), "neither this nor that");
    let appended = "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n one\n+two\n";
    assert_eq!(applied(appended, "one").as_deref(), Ok("one\ntwo\n"));
    let shortened = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n\\ No newline at end of file\n";
    assert_eq!(applied(shortened, "one\n").as_deref(), Ok("two"));
}

fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof!["[ab]{0,2}\n", "[ab]{0,2}\r\n", Just("-- a\n".to_owned()), Just("++ b\n".to_owned())],
        0..12,
    )
    .prop_flat_map(|lines| {
        (Just(lines.concat()), "(\u{feff})?", "[ab]?").prop_map(|(text, mark, end)| format!("{mark}{text}{end}"))
    })
}

proptest! {
    /// What a program writes down of two texts makes of the one the other.
    #[test]
    fn a_difference_leads_from_one_text_to_the_other(before in texts(), after in texts(), context in 1_usize..4) {
        prop_assume!(before != after);
        let (old, new): (Vec<_>, Vec<_>) = (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
        let difference = TextDiff::configure().newline_terminated(true).diff_slices(&old, &new);
        let written = difference.unified_diff().context_radius(context).header("a/x", "b/x").to_string();
        prop_assert_eq!(applied(&written, &before), Ok(after), "{}", written);
    }

    /// Whatever is sent as a patch is read or refused, and refused in our own words.
    #[test]
    fn any_text_is_read_or_refused(
        lines in proptest::collection::vec(prop_oneof![
            Just("--- a/x".to_owned()), Just("+++ b/x".to_owned()), Just("--- /dev/null".to_owned()),
            "@@ -[0-9]{0,2}(,[0-9])? \\+[0-9]{0,2}(,[0-9])? @@", "[-+ \\\\][ab]?\r?", "\\PC{0,6}",
        ], 0..16),
        before in texts(),
    ) {
        let text = lines.join("\n");
        hold(&text, &before);
        match parse(&text) {
            Ok(patches) => for FilePatch { path, hunks, .. } in patches {
                prop_assert!(!hunks.is_empty() && !path.split('/').any(|part| matches!(part, "" | "." | "..")));
            },
            Err(fault) => prop_assert!(fault.line >= 1 && fault.line <= lines.len().max(1) + 1),
        }
    }

    /// A patch that was damaged on the way does what it says or nothing; it never fails in another way.
    #[test]
    fn a_damaged_patch_is_applied_or_refused(before in texts(), after in texts(), at in any::<prop::sample::Index>(), with in any::<char>()) {
        let (old, new): (Vec<_>, Vec<_>) = (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
        let difference = TextDiff::configure().newline_terminated(true).diff_slices(&old, &new);
        let written = difference.unified_diff().header("a/x", "b/x").to_string();
        let mut damaged: Vec<char> = written.chars().collect();
        if !damaged.is_empty() {
            let at = at.index(damaged.len());
            damaged[at] = with;
        }
        hold(&damaged.into_iter().collect::<String>(), &before);
    }
}

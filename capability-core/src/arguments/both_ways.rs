//! What holds of the two ways to check a text, for tests and fuzzers: the tree is the measure of the arena.

use super::{Validators, arena, parse, tree};

/// What holds for every argument text: checked in one piece of memory or as a tree, it is accepted by both or by none, and
/// comes out the same. True when it is accepted.
///
/// # Panics
/// When a law is broken.
pub fn hold_for_both_ways(validators: &Validators, raw: &[u8]) -> bool {
    let tree = validators.arguments_by_tree(raw).ok();
    match (validators.canonical(raw), &tree) {
        (Some(text), Some(tree)) => assert_eq!(&*text, tree.as_bytes(), "both ways write one text"),
        (Some(_), None) => assert!(tree.is_some(), "what a tree refuses is refused"),
        (None, Some(_)) => {
            let inexact = parse::parse(raw).is_ok_and(|parsed| parsed.inexact);
            assert!(inexact, "only whole numbers that are too large to be exact are left to the tree");
        }
        (None, None) => {}
    }
    tree.is_some()
}

/// The same for every result text.
///
/// # Panics
/// When a law is broken.
pub fn hold_for_results(validators: &Validators, json: &str) -> bool {
    let (quickly, by_tree) = (validators.is_result(json), tree::result(&validators.result, json).is_ok());
    assert!(by_tree || !quickly, "what a tree refuses is refused");
    assert!(quickly || !by_tree || arena::plain(json).is_none(), "only doubled keys are left to the tree");
    by_tree
}

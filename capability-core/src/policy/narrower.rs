//! Whether one rule matches strictly less than another.

use super::selector::Dimension;
use super::set::CompiledRule;

/// Whether every call that `narrow` matches is matched by `wide`, and some call only by `wide`, both for certain. The caller
/// knows one call that `narrow` matches. What cannot be decided is a no, so that neither displaces the other and the stricter
/// counts.
pub(super) fn is_narrower(narrow: &CompiledRule, wide: &CompiledRule) -> bool {
    let (inner, outer) = (&narrow.rule.selector, &wide.rule.selector);
    if !outer.includes(inner) {
        return false;
    }
    let (excepts, outer_excepts) = (&narrow.rule.except, &wide.rule.except);
    let apart = |exception: &super::Selector, dimension| !inner.overlaps_in(exception, dimension);
    // Nothing that `wide` leaves out may be matched by `narrow`.
    let spared = |exception: &super::Selector| {
        Dimension::ALL.into_iter().any(|dimension| apart(exception, dimension))
            || excepts.iter().any(|own| own.includes(exception))
    };
    if !outer_excepts.iter().all(spared) {
        return false;
    }
    // A call of `narrow`, changed in one dimension, is a call of `wide` alone when no exception of `wide` takes it: each is
    // kept away by another dimension.
    let beyond = |dimension| {
        let kept_away = |exception: &super::Selector| {
            Dimension::ALL.into_iter().any(|other| other != dimension && apart(exception, other))
        };
        !inner.includes_in(outer, dimension) && outer_excepts.iter().all(kept_away)
    };
    if Dimension::ALL.into_iter().any(beyond) {
        return true;
    }
    // Or the same calls, and `narrow` leaves out some of them.
    outer_excepts.is_empty() && excepts.iter().any(|own| inner.includes(own))
}

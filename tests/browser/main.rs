//! The approval centre in a real browser: Chromium looks at the pages of a host that serves a household.
//!
//! What happens there is written in `tests/fixtures/browser`; every scenario has its test here. All are played once, one after
//! the other in one Chromium, by whichever test comes first.

#[cfg(test)]
mod scenarios;

//! Foreign text as a person may be shown it: the command line and the pages of the approval centre have it from here.
//!
//! Nothing here makes markup. What comes out are values: pieces of text that stand for themselves, and characters that would
//! be invisible, reorder their surroundings or pass for others, each of which is shown by its code. Whoever renders them
//! escapes them as any other text, and marks the marked ones so that no text can imitate a mark.

pub mod arguments;
pub mod diff;
mod lookalike;
pub mod target;
#[cfg(test)]
mod tests;
pub mod text;

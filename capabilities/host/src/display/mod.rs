//! Foreign text as a person may be shown it: the command line and the pages of the approval centre have it from here.
//!
//! Nothing here makes markup. What comes out are values: pieces of text that stand for themselves, and characters that would
//! be invisible, reorder their surroundings or pass for others, each of which is shown by its code. Whoever renders them
//! escapes them as any other text, and marks the marked ones so that no text can imitate a mark.

pub mod arguments;
pub mod diff;
mod lookalike;
pub mod target;
pub mod text;

use capability_core::approval::PendingApproval;

/// Whether something in what would run hides, or can be taken for something else: one answer is too quick then.
#[must_use]
pub fn needs_a_second_look(pending: &PendingApproval) -> bool {
    let target = pending.target.as_ref().is_some_and(|(kind, text)| target::target(*kind, text).is_deceptive());
    let preview =
        pending.preview.as_ref().is_some_and(|preview| text::is_deceptive(&preview.text, text::Reading::Prose));
    target || preview || arguments::are_deceptive(&String::from_utf8_lossy(&pending.arguments))
}

#[cfg(test)]
mod tests;

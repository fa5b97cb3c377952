//! The words with which somebody tries to write a confirmation down, and what they are told.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;

use crate::diagnostics::{Problem, Sink, is_within};

/// Every spelling contains one of these once case, underscores and hyphens are gone.
const ROOTS: &[&str] = &[
    "confirm",
    "approv",
    "consent",
    "readonlyhint",
    "destructivehint",
    "openworldhint",
    "askfirst",
    "askuser",
    "askbefore",
    "autorun",
    "autoallow",
    "autoexecute",
    "autoaccept",
    "alwaysallow",
    "alwaysask",
    "neverask",
    "noask",
    "dontask",
    "skipprompt",
    "noprompt",
    "humanintheloop",
    "needshuman",
    "requireshuman",
    "needspermission",
    "requirespermission",
];

/// Longer spellings that a slip of the finger must not turn into an ordinary unknown key.
const SPELLINGS: &[&str] =
    &["confirmation", "confirm", "approval", "approved", "autoapprove", "requiresapproval", "needsapproval"];

/// Whether a key, an attribute or a field is a way to write a confirmation.
pub fn is_confirmation(word: &str) -> bool {
    let plain: String = word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let slip = |spelling: &&str| is_within(&plain, spelling, if spelling.len() > 7 { 2 } else { 1 });
    ROOTS.iter().any(|root| plain.contains(root)) || SPELLINGS.iter().any(slip)
}

/// Refuses it, with the table.
pub fn report(at: impl ToTokens, written: &str, sink: &mut Sink) {
    sink.report(
        at,
        Problem::new(
            format_args!("`{written}` cannot be written for a `#[capability]`"),
            "whether a person must confirm is computed from `side_effect` and `network`",
            format_args!("remove `{written}`; to ask even where the table says automatic, write `default = ask`"),
        )
        .with_table(concat!(
            "\n",
            "\n| side_effect | network  | confirmation |",
            "\n|-------------|----------|--------------|",
            "\n| read_only   | local    | automatic    |",
            "\n| read_only   | external | required     |",
            "\n| mutating    | local    | required     |",
            "\n| mutating    | external | required     |",
        )),
    );
}

/// Looks for one in the groups behind a key, however deep: only where a key could stand, so that an argument or a function
/// of that name remains a name.
pub fn report_nested(tokens: &TokenStream, sink: &mut Sink) {
    for tree in tokens.clone() {
        let TokenTree::Group(group) = tree else { continue };
        if group.delimiter() == Delimiter::None {
            report_nested(&group.stream(), sink);
            continue;
        }
        for item in crate::args::items(group.stream()) {
            if item.has_value() && is_confirmation(&item.word) {
                report(&item.key, &item.word, sink);
            } else {
                report_nested(&item.rest, sink);
            }
        }
    }
}

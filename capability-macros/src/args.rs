//! What was written between the parentheses, with spans and without judgement of values.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

use crate::diagnostics::{Problem, Sink, any_of, nearest};
use crate::keys::{self, KEYS, Key, Shape};
use crate::refusal;

/// One part of a comma-separated list: everything before `=` or the parentheses is the key, the rest is kept as it is.
pub struct Item {
    pub key: TokenStream,
    /// The key's text without spaces.
    pub word: String,
    pub rest: TokenStream,
}

impl Item {
    pub fn has_value(&self) -> bool {
        !self.rest.is_empty()
    }

    /// The tokens behind `=`.
    fn assigned(&self) -> Option<TokenStream> {
        let mut rest = self.rest.clone().into_iter();
        match rest.next() {
            Some(TokenTree::Punct(punct)) if punct.as_char() == '=' => {
                Some(rest.collect()).filter(|v: &TokenStream| !v.is_empty())
            }
            _ => None,
        }
    }

    /// The list behind the key, when there is nothing else.
    fn list(&self) -> Option<Group> {
        let mut rest = self.rest.clone().into_iter();
        match (rest.next(), rest.next()) {
            (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Parenthesis => Some(group),
            _ => None,
        }
    }
}

/// Splits at commas; a part without any token is nothing.
pub fn items(tokens: TokenStream) -> Vec<Item> {
    let mut items = Vec::new();
    let mut part: Vec<TokenTree> = Vec::new();
    let mut close = |part: &mut Vec<TokenTree>| {
        if !part.is_empty() {
            items.push(item(core::mem::take(part)));
        }
    };
    for tree in tokens {
        match &tree {
            TokenTree::Punct(punct) if punct.as_char() == ',' => close(&mut part),
            TokenTree::Punct(_) | TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Literal(_) => part.push(tree),
        }
    }
    close(&mut part);
    items
}

fn item(part: Vec<TokenTree>) -> Item {
    // The first token belongs to the key whatever it is, so that there is always something to underline.
    let mut in_path = false;
    let mut length = 0;
    for tree in &part {
        let ends = match tree {
            TokenTree::Punct(punct) if punct.as_char() == ':' => {
                let joins = in_path || punct.spacing() == Spacing::Joint;
                in_path = !in_path && joins;
                !joins
            }
            TokenTree::Punct(punct) => punct.as_char() == '=',
            TokenTree::Group(group) => group.delimiter() != Delimiter::None,
            TokenTree::Ident(_) | TokenTree::Literal(_) => false,
        };
        if ends && length > 0 {
            break;
        }
        length += 1;
    }
    let mut part = part.into_iter();
    let key: TokenStream = part.by_ref().take(length).collect();
    let word = crate::paths::text(&key);
    Item { key, word: word.trim_matches('"').trim_start_matches("r#").to_owned(), rest: part.collect() }
}

/// One key with its value, in the shape that the table demands.
pub struct Written {
    entries: Vec<Entry>,
    /// All tokens of the list, for mistakes about what is not there.
    pub list: TokenStream,
}

/// A key that the table knows, in the right shape.
pub struct Entry {
    pub word: &'static str,
    pub key: TokenStream,
    /// Empty for a flag; the inner tokens for a list.
    pub value: TokenStream,
}

impl Written {
    /// Reads the list; whatever is wrong with keys is reported here, and the rest is kept.
    pub fn read(list: TokenStream, sink: &mut Sink) -> Self {
        let mut entries = Vec::new();
        read_into(&mut entries, list.clone(), KEYS, "#[capability]", sink);
        Self { entries, list }
    }

    pub fn get(&self, word: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.word == word)
    }

    /// Whether a key was written at all, even with a mistake that was reported.
    pub fn mentions(&self, word: &str) -> bool {
        items(self.list.clone())
            .iter()
            .any(|item| item.word == word || nearest(&item.word, &keys::words(KEYS)) == Some(word))
    }
}

/// Reads one list against its table. `holder` is what the list belongs to, in words for the author.
pub fn read_into(entries: &mut Vec<Entry>, list: TokenStream, table: &'static [Key], holder: &str, sink: &mut Sink) {
    let before = entries.len();
    for item in items(list) {
        if refusal::is_confirmation(&item.word) {
            refusal::report(&item.key, &item.word, sink);
            continue;
        }
        let mistakes = sink.len();
        refusal::report_nested(&item.rest, sink);
        if sink.len() > mistakes {
            continue;
        }
        let Some(known) = table.iter().find(|key| key.word == item.word) else {
            sink.report(&item.key, unknown(&item, table, holder));
            continue;
        };
        if entries.iter().skip(before).any(|entry| entry.word == known.word) {
            let problem = Problem::new(
                format_args!("`{}` is written twice", known.word),
                "the first one counts, and a second could only contradict it",
                format_args!("remove this `{}`", known.word),
            );
            sink.report(&item.key, problem);
            continue;
        }
        let value = match known.form {
            Shape::Value => item.assigned(),
            Shape::List => item.list().map(|group| group.stream()),
            Shape::Flag => (!item.has_value()).then(TokenStream::new),
        };
        match value {
            Some(value) => entries.push(Entry { word: known.word, key: item.key, value }),
            None => sink.report(&item.key, misshapen(known)),
        }
    }
}

fn misshapen(known: &Key) -> Problem {
    let (word, example) = (known.word, known.example);
    match known.form {
        Shape::Value => Problem::new(
            format_args!("`{word}` has no value"),
            format_args!("it is written as `{word} = ..`"),
            format_args!("write `{example}`"),
        ),
        Shape::List => Problem::new(
            format_args!("`{word}` has no list"),
            format_args!("it is written as `{word}(..)`"),
            format_args!("write `{example}`"),
        ),
        Shape::Flag => Problem::new(
            format_args!("`{word}` has a value"),
            "its presence alone says it",
            format_args!("write `{word}` for yes, and nothing for no"),
        ),
    }
}

fn unknown(item: &Item, table: &[Key], holder: &str) -> Problem {
    let word = &item.word;
    let wrong = format!("`{word}` is not a key of `{holder}`");
    if holder == "#[capability]"
        && let Some((_, rule, help)) = keys::MISPLACED.iter().find(|(misplaced, ..)| misplaced == word)
    {
        return Problem::new(wrong, rule, help);
    }
    let words = keys::words(table);
    if let Some(meant) = nearest(word, &words).and_then(|meant| table.iter().find(|key| key.word == meant)) {
        let rule = format!("there is a key `{}`", meant.word);
        // What was written behind a misspelt key is the author's decision, and not for an example to change.
        let help =
            if item.has_value() { format!("{}{}", meant.word, spaced(&item.rest)) } else { meant.example.to_owned() };
        return Problem::new(wrong, rule, format_args!("write `{help}`"));
    }
    Problem::new(wrong, format_args!("its keys are {}", any_of(&words)), format_args!("remove `{word}`"))
}

/// What stands behind a key, as it is usually written.
fn spaced(rest: &TokenStream) -> String {
    let text = crate::paths::text(rest);
    text.strip_prefix('=').map_or_else(|| text.clone(), |value| format!(" = {value}"))
}

//! What was written between the parentheses, with spans and without judgement of values.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

use crate::diagnostics::{Problem, Sink, any_of, nearest};
use crate::keys::{self, KEYS, Key, Shape};
use crate::{paths, refusal};

/// One part of a comma-separated list: everything before `=` or the parentheses is the key, the rest is kept as it is.
pub struct Item {
    pub key: TokenStream,
    /// The key's text without spaces.
    pub word: String,
    pub rest: TokenStream,
    /// What stands before it in place of a comma.
    before: Before,
}

/// What separates an item from the one before it.
enum Before {
    /// A comma, or nothing in front of the first one.
    Comma,
    /// Another mark.
    Mark(TokenTree),
    /// Nothing.
    Nothing,
}

impl Item {
    pub fn has_value(&self) -> bool {
        !self.rest.is_empty()
    }

    /// The tokens behind `=`.
    fn assigned(&self) -> Option<TokenStream> {
        match self.separated() {
            (mark, value) if mark == "=" => Some(value).filter(|value| !value.is_empty()),
            _ => None,
        }
    }

    /// What stands between key and value, and the value. In parentheses, as in `version(1)`, they are the mark.
    fn separated(&self) -> (String, TokenStream) {
        let mut mark = String::new();
        let mut rest = self.rest.clone().into_iter().peekable();
        while let Some(TokenTree::Punct(punct)) = rest.peek() {
            let belongs = match mark.as_str() {
                "" => ['=', ':'].contains(&punct.as_char()),
                "=" => ['=', '>'].contains(&punct.as_char()),
                ":" => punct.as_char() == '=',
                _ => false,
            };
            if !belongs {
                break;
            }
            mark.push(punct.as_char());
            let alone = punct.spacing() == Spacing::Alone;
            rest.next();
            if alone {
                break;
            }
        }
        let value: TokenStream = rest.collect();
        match self.list() {
            Some(group) if mark.is_empty() => ("(..)".to_owned(), group.stream()),
            _ => (mark, value),
        }
    }

    /// Whether it is a text and nothing else.
    fn is_text(&self) -> bool {
        let mut trees = self.key.clone().into_iter();
        let text = matches!((trees.next(), trees.next()), (Some(TokenTree::Literal(text)), None) if text.to_string().starts_with('"'));
        text && !self.has_value()
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

/// Splits at commas, and where a comma was meant; a part without any token is nothing.
pub fn items(tokens: TokenStream) -> Vec<Item> {
    let mut items = Vec::new();
    let mut part: Vec<TokenTree> = Vec::new();
    let mut before = Before::Comma;
    let mut close = |part: &mut Vec<TokenTree>, before: &mut Before, next: Before| {
        if part.is_empty() {
            // Nothing stands between two separators: the later one says no more than the first.
            return;
        }
        items.push(item(core::mem::take(part), core::mem::replace(before, next)));
    };
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match &tree {
            TokenTree::Punct(punct) if punct.as_char() == ',' => close(&mut part, &mut before, Before::Comma),
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                let next = if trees.peek().is_some() { Before::Mark(tree) } else { Before::Comma };
                close(&mut part, &mut before, next);
            }
            TokenTree::Ident(_) if begins_an_item(&part, trees.peek()) => {
                close(&mut part, &mut before, Before::Nothing);
                part.push(tree);
            }
            TokenTree::Punct(_) | TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Literal(_) => part.push(tree),
        }
    }
    close(&mut part, &mut before, Before::Comma);
    items
}

/// Whether a word can only be the next key: a whole value stands before it, and `=` behind it.
fn begins_an_item(part: &[TokenTree], next: Option<&TokenTree>) -> bool {
    let assigned = part.iter().any(|tree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == '='));
    let complete = part.last().is_some_and(|last| !matches!(last, TokenTree::Punct(_)));
    assigned && complete && matches!(next, Some(TokenTree::Punct(punct)) if punct.as_char() == '=')
}

fn item(part: Vec<TokenTree>, before: Before) -> Item {
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
    let word = paths::text(&key);
    Item { key, word: word.trim_matches('"').trim_start_matches("r#").to_owned(), rest: part.collect(), before }
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
        // What was read is the usual case; only a list with a mistake is split again.
        self.get(word).is_some()
            || items(self.list.clone()).iter().any(|item| {
                item.word == word || meant(&item.word, KEYS) == Some(word) || word == "name" && item.is_text()
            })
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
        report_separator(&item, sink);
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
            None => sink.report(&item.key, misshapen(known, &item)),
        }
    }
}

/// One error for each place where a comma was meant; what stands behind it is read all the same.
fn report_separator(item: &Item, sink: &mut Sink) {
    let rule = "a comma stands between two keys";
    let help = || format!("write `, {}{}`", item.word, spaced(&item.rest));
    match &item.before {
        Before::Comma => {}
        Before::Mark(mark) => {
            sink.report(mark, Problem::new(format_args!("`{mark}` is before `{}`", item.word), rule, help()))
        }
        Before::Nothing => {
            sink.report(&item.key, Problem::new(format_args!("`{}` has no comma before it", item.word), rule, help()));
        }
    }
}

fn misshapen(known: &Key, item: &Item) -> Problem {
    let (word, example) = (known.word, known.example);
    let (mark, value) = item.separated();
    match known.form {
        // The value is the author's decision, and not for an example to change.
        Shape::Value if mark != "=" && !mark.is_empty() && !value.is_empty() => {
            let value = paths::text(&value);
            let help = if value.contains('=') { example.to_owned() } else { format!("{word} = {value}") };
            Problem::new(
                format_args!("`{word}` has `{mark}` before its value"),
                format_args!("it is written as `{word} = ..`"),
                format_args!("write `{help}`"),
            )
        }
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
    if holder == "#[capability]" && item.is_text() {
        let help = format!("write `name = {}`", item.key);
        return Problem::new(wrong, "the name is the value of a key", help);
    }
    let words = keys::words(table);
    if let Some(meant) = meant(word, table).and_then(|meant| table.iter().find(|key| key.word == meant)) {
        let rule = format!("there is a key `{}`", meant.word);
        // What was written behind a misspelt key is the author's decision, and not for an example to change.
        let help =
            if item.has_value() { format!("{}{}", meant.word, spaced(&item.rest)) } else { meant.example.to_owned() };
        return Problem::new(wrong, rule, format_args!("write `{help}`"));
    }
    Problem::new(wrong, format_args!("its keys are {}", any_of(&words)), format_args!("remove `{word}`"))
}

/// The key that a word was probably meant to be: a slip, or what others call it.
fn meant(word: &str, table: &[Key]) -> Option<&'static str> {
    let words = keys::words(table);
    let synonym = || keys::SYNONYMS.iter().find(|(from, _)| *from == word).map(|(_, to)| *to);
    nearest(word, &words).or_else(|| synonym().filter(|to| words.contains(to)))
}

/// What stands behind a key, as it is usually written.
fn spaced(rest: &TokenStream) -> String {
    let text = paths::text(rest);
    text.strip_prefix('=').map_or_else(|| text.clone(), |value| format!(" = {value}"))
}

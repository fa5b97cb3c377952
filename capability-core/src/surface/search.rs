//! Finding deferred tools by words.
//!
//! Ranking is an engine's work and a host brings one; what stands here is the door to it and a plain one that counts words.

/// What is searched of one deferred tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchEntry<'a> {
    /// Its wire name.
    pub name: &'a str,
    /// Its short human name; empty when it has none.
    pub title: &'a str,
    /// Everything it says about itself.
    pub description: &'a str,
}

/// A search engine did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchFault;

impl core::fmt::Display for SearchFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the search over the tools did not answer\nhelp: try again, or call a tool whose name you know")
    }
}

impl core::error::Error for SearchFault {}

/// Makes indexes over tools. A host implements it over an engine.
pub trait ToolSearch: Send + Sync + 'static {
    /// An index over `entries`, which are named by their place from here on.
    ///
    /// # Errors
    /// [`SearchFault`].
    fn index(&self, entries: &[SearchEntry<'_>]) -> Result<Box<dyn ToolIndex>, SearchFault>;
}

/// An index over the tools of one surface.
pub trait ToolIndex: Send + Sync {
    /// The places of the entries that have to do with `query`, the best first, at most `most`. Equally good ones come in their
    /// own order, so that one question has one answer.
    ///
    /// # Errors
    /// [`SearchFault`].
    fn rank(&self, query: &str, most: usize) -> Result<Vec<usize>, SearchFault>;
}

/// Counts the words that a tool and a query share. It knows no grammar: for hosts without an engine, and for tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct WordSearch;

struct Words(Vec<[Vec<String>; 3]>);

/// What a shared word counts in a name, a title, a description.
const WEIGHTS: [usize; 3] = [8, 4, 1];

impl ToolSearch for WordSearch {
    fn index(&self, entries: &[SearchEntry<'_>]) -> Result<Box<dyn ToolIndex>, SearchFault> {
        let words = entries.iter().map(|entry| [entry.name, entry.title, entry.description].map(words_of));
        Ok(Box::new(Words(words.collect())))
    }
}

impl ToolIndex for Words {
    fn rank(&self, query: &str, most: usize) -> Result<Vec<usize>, SearchFault> {
        let asked = words_of(query);
        let score = |fields: &[Vec<String>; 3]| -> usize {
            let of =
                |word: &String, field: &[String]| usize::from(field.iter().any(|own| own.starts_with(word.as_str())));
            asked
                .iter()
                .flat_map(|word| fields.iter().zip(WEIGHTS).map(move |(field, weight)| of(word, field) * weight))
                .sum()
        };
        let mut ranked: Vec<(usize, usize)> = self
            .0
            .iter()
            .map(score)
            .enumerate()
            .filter(|(_, score)| *score > 0)
            .map(|(at, score)| (score, at))
            .collect();
        ranked.sort_by_key(|(score, at)| (core::cmp::Reverse(*score), *at));
        Ok(ranked.into_iter().take(most).map(|(_, at)| at).collect())
    }
}

/// The words of a text, in lower case.
fn words_of(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{SearchEntry, ToolSearch as _, WordSearch};

    #[test]
    fn a_name_counts_more_than_a_mention_and_ties_keep_their_order() {
        let entry = |name, description| SearchEntry { name, title: "", description };
        let entries = [
            entry("fs-list", "Lists a folder; use fs-glob for patterns."),
            entry("fs-glob", "Finds files by a pattern."),
            entry("web-fetch", "Fetches a page."),
            entry("web-search", "Finds pages."),
        ];
        let index = WordSearch.index(&entries).unwrap();
        assert_eq!(index.rank("GLOB", 9).unwrap(), [1, 0]);
        assert_eq!(index.rank("web", 9).unwrap(), [2, 3]);
        assert_eq!(index.rank("web", 1).unwrap(), [2]);
        assert_eq!(index.rank("nothing like it, é", 9).unwrap(), [] as [usize; 0]);
        assert_eq!(index.rank("", 9).unwrap(), [] as [usize; 0]);
    }
}

//! Ranking of deferred tools, by the full-text index that SQLite has.
//!
//! An index lives in memory for as long as its surface. Words are compared by their stems, a name counts more than a title and
//! a title more than a description, and equally good ones keep their order.

use std::sync::{Mutex, PoisonError};

use capability_core::surface::{SearchEntry, SearchFault, ToolIndex, ToolSearch};
use rusqlite::{Connection, params};

/// The most words of a query that count.
const MAX_WORDS: usize = 32;

/// Makes indexes.
#[derive(Debug, Clone, Copy, Default)]
pub struct FullText;

struct Index(Mutex<Connection>);

impl ToolSearch for FullText {
    fn index(&self, entries: &[SearchEntry<'_>]) -> Result<Box<dyn ToolIndex>, SearchFault> {
        let index = filled(entries).map_err(|error| {
            tracing::error!(code = ?error.sqlite_error_code(), "the tools cannot be indexed");
            SearchFault
        })?;
        Ok(Box::new(Index(Mutex::new(index))))
    }
}

fn filled(entries: &[SearchEntry<'_>]) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(
        "CREATE VIRTUAL TABLE tools USING fts5(name, title, description, tokenize = 'porter unicode61', columnsize = 1)",
    )?;
    {
        let mut insert =
            transaction.prepare("INSERT INTO tools (rowid, name, title, description) VALUES (?1, ?2, ?3, ?4)")?;
        for (row, entry) in (1_i64..).zip(entries) {
            insert.execute(params![row, entry.name, entry.title, entry.description])?;
        }
    }
    transaction.commit()?;
    Ok(connection)
}

impl ToolIndex for Index {
    fn rank(&self, query: &str, most: usize) -> Result<Vec<usize>, SearchFault> {
        let words: Vec<String> = query
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .take(MAX_WORDS)
            // Letters and digits alone, so there is nothing in a word that its quotes would not hold.
            .map(|word| format!("\"{word}\"*"))
            .collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ranked(&connection, &words.join(" OR "), most).map_err(|error| {
            tracing::error!(code = ?error.sqlite_error_code(), "the tools cannot be searched");
            SearchFault
        })
    }
}

fn ranked(connection: &Connection, query: &str, most: usize) -> rusqlite::Result<Vec<usize>> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut statement = connection
        .prepare("SELECT rowid FROM tools WHERE tools MATCH ?1 ORDER BY bm25(tools, 8.0, 4.0, 1.0), rowid LIMIT ?2")?;
    let rows = statement.query_map(params![query, most], |row| row.get::<_, i64>(0))?;
    rows.map(|row| row.map(|row| usize::try_from(row - 1).unwrap_or(usize::MAX))).collect()
}

#[cfg(test)]
mod tests {
    use capability_core::surface::{SearchEntry, ToolSearch as _};

    use super::FullText;

    fn entry<'a>(name: &'a str, description: &'a str) -> SearchEntry<'a> {
        SearchEntry { name, title: "", description }
    }

    #[test]
    fn by_stem_by_weight_and_in_order() {
        let entries = [
            entry("fs-list", "Lists a folder; use glob for patterns."),
            entry("fs-glob", "Finds files by a pattern."),
            entry("web-fetch", "Fetches one page."),
            entry("web-search", "Searches the pages of the web."),
            entry("mcp-a--x", "The very same words."),
            entry("mcp-b--x", "The very same words."),
        ];
        let index = FullText.index(&entries).unwrap();
        let rank = |query| index.rank(query, 9).unwrap();
        assert_eq!(rank("glob"), [1, 0]);
        // Another form of the word, and the beginning of one.
        assert_eq!(rank("finding")[0], 1);
        assert_eq!(rank("fet"), [2]);
        assert_eq!(rank("same words"), [4, 5]);
        assert_eq!(index.rank("same words", 1).unwrap(), [4]);
        assert_eq!(rank("nothing"), [] as [usize; 0]);
    }

    #[test]
    fn whatever_is_asked_is_words_and_never_a_query_of_its_own() {
        let entries = [entry("a-b", "Does one thing.")];
        let index = FullText.index(&entries).unwrap();
        for query in [
            "",
            "\"",
            "\"\"",
            "*",
            "name:",
            "name:a",
            "NEAR(",
            "a NEAR b",
            "a OR",
            "NOT a",
            "-a",
            "(",
            "a\" OR \"b",
            "'; DROP TABLE tools; --",
            "🦀",
            "ß",
            "\u{0}",
            "a\u{0}b",
            "^a",
            "{name} : a",
            "+a",
            &"x ".repeat(10_000),
        ] {
            let found = index.rank(query, 9).unwrap();
            assert!(found.is_empty() || found == [0], "{query}");
        }
        assert_eq!(index.rank("thing", 9).unwrap(), [0]);
    }
}

//! The household's own search engine.

use core::fmt;
use core::marker::PhantomData;

use capability_core::handle::{BrokerFault, Endpoint, EndpointKind, EndpointReply, HttpMethod, Reads};
use capability_core::{Clock, Failure, Timestamp, capability};
use schemars::JsonSchema;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::object::Object;
use crate::plain;

/// A SearXNG whose settings list `json` under `search.formats`. The operator configures it as `[endpoints.searxng]`.
pub struct Searxng;

/// The one thing that is asked of it.
const SEARCH: &str = "/search";

impl EndpointKind for Searxng {
    const NAME: &'static str = "searxng";
    type Power = Reads;
    const ALLOWED: &'static [(HttpMethod, &'static str)] = &[(HttpMethod::Get, SEARCH)];
}

/// How recent a result has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeRange {
    /// Of the last day.
    Day,
    /// Of the last month.
    Month,
    /// Of the last year.
    Year,
}

impl TimeRange {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
            Self::Year => "year",
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SearchResults {
    /// The words that were searched for, as they were sent.
    pub query: String,
    /// The best results, best first, at most five.
    #[schemars(length(max = 5))]
    pub results: Vec<SearchResult>,
    /// How many results these are.
    #[schemars(range(max = 5))]
    pub result_count: u32,
    /// Whether this is all that could be found out.
    pub coverage: Coverage,
    /// When the answer came.
    pub retrieved_at: Timestamp,
}

/// One result: what a page says of itself. Any of its texts is empty when there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SearchResult {
    /// The page's title.
    pub title: String,
    /// Its `http` or `https` address.
    pub url: String,
    /// A piece of its text.
    pub snippet: String,
}

/// How much of the web the answer is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// Every engine answered.
    Complete,
    /// Some engines did not answer; there may be more.
    Partial,
    /// Engines did not answer and nothing was found: this does not say that there is nothing.
    Degraded,
}

/// The most results that are given.
const MAX_RESULTS: usize = 5;
/// How long a title, an address and a snippet may be, in bytes of their JSON.
const MAX_TITLE_BYTES: usize = 400;
const MAX_URL_BYTES: usize = 2048;
const MAX_SNIPPET_BYTES: usize = 1500;
/// Characters that mean something to SearXNG when a word starts with them: another engine, another language, another
/// server altogether, a longer timeout.
const BANGS: [char; 4] = ['!', '?', ':', '<'];

/// Searches the web through the household's own SearXNG.
///
/// The words leave the device: SearXNG passes them on to the engines that it is set up with. Words that would steer it (`!!g`,
/// `:fr`, `<9`) lose what makes them steer. When no engine answered and nothing was found, `coverage` says so.
#[capability(
    name = "web.search",
    version = 1,
    side_effect = read_only,
    network = external,
    title = "Search the web",
    resident,
    bounds(timeout = "10s"),
    check = has_words
)]
pub async fn web_search(
    searxng: &Endpoint<Searxng>,
    clock: &Clock,
    /// What to look for.
    #[schemars(length(min = 1, max = 500))]
    query: String,
    /// Only results this recent.
    time_range: Option<TimeRange>,
) -> Result<SearchResults, Failure> {
    let query = words(&query);
    let mut asked = vec![("q", query.as_str()), ("format", "json")];
    asked.extend(time_range.map(|range| ("time_range", range.as_str())));
    let reply = searxng.get(SEARCH, &asked).await.map_err(BrokerFault::into_public)?;
    let retrieved_at = clock.now().await?;
    let (results, coverage) = found(&reply)?;
    let result_count = u32::try_from(results.len()).unwrap_or(u32::MAX);
    Ok(SearchResults { query, results, result_count, coverage, retrieved_at })
}

fn has_words(query: &str, _: &Option<TimeRange>) -> Result<(), &'static str> {
    if words(query).is_empty() {
        return Err("there are no words in the query\nhelp: write what to look for");
    }
    Ok(())
}

/// The query without what is not to be seen and without what would steer the search.
fn words(query: &str) -> String {
    // A query is at most 500 characters of at most 4 bytes.
    let line = plain::of_line(query, 4096).text;
    let words = line.split_whitespace().map(|word| word.trim_start_matches(BANGS)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// What an answer says, or what is wrong with it in our own words.
fn found(reply: &EndpointReply) -> Result<(Vec<SearchResult>, Coverage), Failure> {
    match reply.status {
        200 => {}
        300..=399 => {
            return Err(Failure::public(
                "SearXNG answers with a redirect, which is not followed\nhelp: the operator checks the configured address and that SearXNG does not redirect searches",
            ));
        }
        403 => {
            return Err(Failure::public(
                "SearXNG does not give its results as JSON\nhelp: the operator adds `json` to `formats` under `search` in its settings",
            ));
        }
        429 => {
            return Err(Failure::public(
                "SearXNG is asked too often\nhelp: try again later; the operator may turn its limiter off for this host",
            ));
        }
        _ => return Err(BrokerFault::MalformedReply.into_public()),
    }
    let Object(answer) = reply.json::<Object<Answer>>().map_err(BrokerFault::into_public)?;
    let results: Vec<_> = answer.results.items.into_iter().map(|Object(hit)| result(hit)).collect();
    let coverage = match (answer.unresponsive_engines.count, results.is_empty()) {
        (0, _) => Coverage::Complete,
        (_, false) => Coverage::Partial,
        (_, true) => Coverage::Degraded,
    };
    Ok((results, coverage))
}

/// A result as it may be shown: titles and snippets come with markup in them.
fn result(hit: Hit) -> SearchResult {
    let url = plain::of_line(hit.url.as_str(), MAX_URL_BYTES);
    let on_the_web = ["http://", "https://"].iter().any(|scheme| url.text.starts_with(scheme));
    SearchResult {
        title: plain::of_html_line(hit.title.as_str(), MAX_TITLE_BYTES).text,
        // Half an address leads somewhere else.
        url: if on_the_web && !url.truncated { url.text } else { String::new() },
        snippet: plain::of_html_line(hit.content.as_str(), MAX_SNIPPET_BYTES).text,
    }
}

#[derive(Deserialize)]
struct Answer {
    results: First<Object<Hit>, MAX_RESULTS>,
    #[serde(default)]
    unresponsive_engines: First<IgnoredAny, 0>,
}

#[derive(Deserialize)]
struct Hit {
    #[serde(default)]
    title: Words,
    #[serde(default)]
    url: Words,
    #[serde(default)]
    content: Words,
}

/// A text, or something else where a text was expected.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Words {
    Text(String),
    #[default]
    #[serde(skip)]
    Absent,
    Other(IgnoredAny),
}

impl Words {
    fn as_str(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Absent | Self::Other(_) => "",
        }
    }
}

/// The first few items of a list, and how many there are; the rest is read over and not kept.
struct First<T, const N: usize> {
    items: Vec<T>,
    count: usize,
}

impl<T, const N: usize> Default for First<T, N> {
    fn default() -> Self {
        Self { items: Vec::new(), count: 0 }
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for First<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T, const N: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Items<T, N> {
            type Value = First<T, N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut first = First::default();
                while first.items.len() < N {
                    let Some(item) = list.next_element()? else { return Ok(first) };
                    first.items.push(item);
                    first.count += 1;
                }
                while list.next_element::<IgnoredAny>()?.is_some() {
                    first.count += 1;
                }
                Ok(first)
            }
        }

        deserializer.deserialize_seq(Items(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::{Coverage, MAX_RESULTS, SearchResult, found, has_words, words};
    use capability_core::handle::EndpointReply;
    use proptest::prelude::*;
    use serde_json::json;

    fn reply(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> EndpointReply {
        EndpointReply { status, content_type: Some(content_type.into()), body: body.into() }
    }

    fn answered(body: &serde_json::Value) -> (Vec<SearchResult>, Coverage) {
        found(&reply(200, "application/json", body.to_string())).ok().unwrap()
    }

    #[test]
    fn no_word_steers_the_search() {
        for (query, sent) in [
            ("cats", "cats"),
            ("!!g cats", "g cats"),
            ("!! cats", "cats"),
            ("cats !images", "cats images"),
            (":fr chats <9 ?q", "fr chats 9 q"),
            ("!<:?!wp x", "wp x"),
            ("a\u{1c}!!g\u{a0}!x\u{3000}:y\n<3", "a g x y 3"),
            ("\u{200b}!!g", "g"),
            ("\u{202e}!g", "g"),
            ("what is 5 < 6? yes!", "what is 5 6? yes!"),
            ("!", ""),
        ] {
            assert_eq!(words(query), sent, "{query:?}");
        }
        assert!(has_words("!! :", &None).unwrap_err().contains("\nhelp: "));
        assert!(has_words("x", &None).is_ok());
    }

    #[test]
    fn at_most_five_results_as_plain_text() {
        let hit = json!({ "title": "A <b>b</b>", "url": "https://a.example/", "content": "x &amp; <script>y</script>z", "score": 1 });
        let (results, coverage) = answered(&json!({ "results": vec![hit; 40], "unresponsive_engines": [] }));
        assert_eq!((results.len(), coverage), (MAX_RESULTS, Coverage::Complete));
        let shown = SearchResult { title: "A b".into(), url: "https://a.example/".into(), snippet: "x & z".into() };
        assert_eq!(results[0], shown);
    }

    #[test]
    fn what_is_missing_is_empty_and_what_is_no_web_address_too() {
        for odd in [
            json!(null),
            json!(7),
            json!(["a"]),
            json!({ "a": "b" }),
            json!("javascript:alert(1)"),
            json!("//a"),
            json!("x".repeat(5000)),
        ] {
            let (results, _) = answered(&json!({ "results": [{ "url": odd }, {}] }));
            assert_eq!(results[0].url, "", "{odd}");
            assert_eq!((results[1].title.as_str(), results[1].snippet.as_str()), ("", ""));
        }
        let long = format!("https://a.example/{}", "a".repeat(3000));
        assert_eq!(answered(&json!({ "results": [{ "url": long }] })).0[0].url, "");
    }

    #[test]
    fn engines_that_are_down_are_not_no_results() {
        let down = json!([["one", "timeout"], ["two", "HTTP error"]]);
        assert_eq!(answered(&json!({ "results": [], "unresponsive_engines": down })).1, Coverage::Degraded);
        assert_eq!(answered(&json!({ "results": [{}], "unresponsive_engines": down })).1, Coverage::Partial);
        assert_eq!(answered(&json!({ "results": [], "unresponsive_engines": [] })).1, Coverage::Complete);
    }

    #[test]
    fn what_is_no_answer_is_a_failure_in_our_words() {
        for (status, content_type, body, words) in [
            (302, "text/html", "canary", "redirect"),
            (403, "text/html", "canary", "formats"),
            (429, "text/html", "canary", "too often"),
            (500, "text/html", "canary", "protocol"),
            (200, "text/html", "{\"results\":[]}", "JSON"),
            (200, "application/json", "canary", "JSON"),
            (200, "application/json", "{}", "JSON"),
            (200, "application/json", "[]", "JSON"),
            (200, "application/json", "[[]]", "JSON"),
            (200, "application/json", "{\"results\":[[\"canary\"]]}", "JSON"),
            (200, "application/json", "{\"results\":{}}", "JSON"),
        ] {
            let failure = found(&reply(status, content_type, body)).err().unwrap();
            let told = failure.public_message().unwrap();
            assert!(told.contains(words) && told.contains("\nhelp: ") && !told.contains("canary"), "{status}: {told}");
        }
    }

    proptest! {
        #[test]
        fn no_word_of_any_query_starts_with_what_steers(query in "[!?:<a-c \\x1c\u{200b}\u{a0}\u{2003}\u{202e}]{0,30}") {
            let sent = words(&query);
            prop_assert!(sent.split(|c: char| c.is_whitespace() || c.is_control()).all(|word| !word.starts_with(['!', '?', ':', '<'])));
            prop_assert_eq!(words(&sent), sent);
        }

        /// Whatever bytes come, there is an answer in bounds or a failure.
        #[test]
        fn any_answer_is_read_in_bounds(body in prop::collection::vec(any::<u8>(), 0..200), start in prop::sample::select(vec!["", "{\"results\":[", "{\"results\":[{\"title\":"])) {
            let body = [start.as_bytes(), &body].concat();
            if let Ok((results, _)) = found(&reply(200, "application/json", body)) {
                prop_assert!(results.len() <= MAX_RESULTS);
            }
        }
    }
}

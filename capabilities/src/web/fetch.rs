//! One page of the web.

use capability_core::{Clock, Failure, Http, Timestamp, capability};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::{self, Address, AddressFault, Body, Decoded, HttpFault, Limits, MediaType, Response};
use crate::plain::{self, Shown};

/// A page as text, or where the server says that it is instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Page {
    /// The address that was asked for.
    pub url: String,
    /// Where the text is from; of a redirect, where the server says to look. Nobody has looked there yet.
    pub final_url: String,
    /// Whether this is a redirect: then there is no text, and `final_url` may be fetched by another call.
    pub redirected: bool,
    /// `text/html`, `text/plain` or `application/json`; null for a redirect.
    pub content_type: Option<String>,
    /// The charset that the text was read as; null for a redirect.
    pub charset: Option<String>,
    /// The text. Of HTML it is what a person without style sheets would read.
    pub text: String,
    /// Whether there was more of it than the text holds.
    pub truncated: bool,
    /// Whether bytes that were not of that charset were replaced.
    pub replaced: bool,
    /// When the answer came.
    pub retrieved_at: Timestamp,
}

/// How much of a body is read, in bytes. HTML is mostly markup: what it comes to as text is far less.
const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;
/// How much text is given, in bytes of its JSON: with the addresses it fits in the result's 64 KiB.
const MAX_TEXT_BYTES: usize = 48 * 1024;
/// What is asked for, and all that is taken.
const ACCEPT: &str = "text/html, text/plain, application/json";

/// Fetches one page of the public web as plain text.
///
/// HTML is turned into text without scripts and styles; plain text and JSON are given as they are. Anything else is refused
/// before it is read. A redirect is reported, never followed: where it leads is an address of its own, for a call of its own.
/// Nothing is sent but the address: no cookie, no credential, nothing about who asks.
#[capability(
    name = "web.fetch",
    version = 1,
    side_effect = read_only,
    network = external,
    title = "Fetch a web page",
    resident,
    target = url(url),
    check = can_be_fetched
)]
pub async fn web_fetch(
    http: &Http,
    clock: &Clock,
    /// The page's address, `http` or `https`, with everything outside ASCII percent-encoded. What follows `#` is not sent.
    #[schemars(length(min = 1, max = 2048))]
    url: String,
) -> Result<Page, Failure> {
    let response = http::get(http, ACCEPT, &Limits::default()).await.map_err(HttpFault::public)?;
    let retrieved_at = clock.now().await?;
    let asked = response.address().to_string();
    if let Some(redirect) = response.redirect() {
        let final_url = redirect.map_err(|_| elsewhere())?.to_string();
        return Ok(Page {
            url,
            final_url,
            redirected: true,
            content_type: None,
            charset: None,
            text: String::new(),
            truncated: false,
            replaced: false,
            retrieved_at,
        });
    }
    let (kind, media_type) = wanted(&response)?;
    let body = response.body(MAX_BODY_BYTES).await.map_err(HttpFault::public)?;
    let (decoded, shown) = text(kind, &media_type, body)?;
    Ok(Page {
        url,
        final_url: asked,
        redirected: false,
        content_type: Some(media_type.essence),
        charset: Some(decoded.charset.to_owned()),
        text: shown.text,
        truncated: shown.truncated,
        replaced: decoded.replaced,
        retrieved_at,
    })
}

fn can_be_fetched(url: &str) -> Result<(), AddressFault> {
    Address::parse(url).map(drop)
}

/// How a body becomes text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Html,
    Plain,
}

/// What the answer is, if it is one that is taken. The body has not been read yet.
fn wanted(response: &Response) -> Result<(Kind, MediaType), Failure> {
    match response.status {
        204 | 205 => {
            return Err(Failure::public("the server has nothing to show at that address\nhelp: check the address"));
        }
        200..=299 => {}
        status => {
            return Err(Failure::public(format!("the server answered with status {status}\nhelp: check the address")));
        }
    }
    let media_type = response.media_type().ok_or_else(|| {
        Failure::public("the server does not say what its answer is\nhelp: only text/html, text/plain and application/json are read")
    })?;
    let kind = match media_type.essence.as_str() {
        "text/html" => Kind::Html,
        "text/plain" | "application/json" => Kind::Plain,
        _ => {
            return Err(Failure::public(
                "what is at that address is no text\nhelp: only text/html, text/plain and application/json are read",
            ));
        }
    };
    Ok((kind, media_type))
}

/// The text of a body, within its bound.
fn text(kind: Kind, media_type: &MediaType, body: Body) -> Result<(Decoded, Shown), Failure> {
    let label = media_type.charset.as_deref();
    let mut decoded = http::decode(&body.bytes, label, kind == Kind::Html, !body.truncated).map_err(|_| {
        Failure::public(
            "the page is in a charset that is not known\nhelp: nothing can be done here: it would be misread",
        )
    })?;
    let whole = core::mem::take(&mut decoded.text);
    let mut shown = match kind {
        Kind::Html => plain::of_html(&whole, MAX_TEXT_BYTES),
        Kind::Plain => plain::of_text(&whole, MAX_TEXT_BYTES),
    };
    shown.truncated |= body.truncated;
    Ok((decoded, shown))
}

fn elsewhere() -> Failure {
    Failure::public(
        "the server redirects to what is no plain `http` or `https` address\nhelp: nothing can be done here",
    )
}

#[cfg(test)]
mod tests {
    use super::{Kind, MAX_TEXT_BYTES, can_be_fetched, text};
    use crate::http::{Body, MediaType};

    fn read(kind: Kind, content_type: &str, bytes: &[u8], truncated: bool) -> (String, &'static str, bool, bool) {
        let media_type = MediaType::parse(content_type).unwrap();
        let (decoded, shown) = text(kind, &media_type, Body { bytes: bytes.to_vec(), truncated }).ok().unwrap();
        (shown.text, decoded.charset, shown.truncated, decoded.replaced)
    }

    #[test]
    fn a_body_becomes_text_and_says_how() {
        let html = b"<title>T</title><style>p{}</style><p>caf\xe9";
        assert_eq!(read(Kind::Html, "text/html", html, false), ("T\n\ncaf\u{e9}".into(), "windows-1252", false, false));
        assert_eq!(
            read(Kind::Html, "text/html;charset=utf-8", html, false),
            ("T\n\ncaf\u{fffd}".into(), "UTF-8", false, true)
        );
        assert_eq!(
            read(Kind::Plain, "application/json", b"{\"a\": \"<b>\"}", true),
            ("{\"a\": \"<b>\"}".into(), "UTF-8", true, false)
        );
    }

    #[test]
    fn text_is_cut_at_what_it_takes_in_the_result() {
        let quotes = vec![b'"'; MAX_TEXT_BYTES];
        let (text, _, truncated, _) = read(Kind::Plain, "text/plain", &quotes, false);
        assert_eq!((text.len(), truncated), (MAX_TEXT_BYTES / 2, true));
    }

    #[test]
    fn an_unknown_charset_is_a_failure_in_our_words() {
        let media_type = MediaType::parse("text/html; charset=canary").unwrap();
        let failure = text(Kind::Html, &media_type, Body { bytes: Vec::new(), truncated: false }).err().unwrap();
        let told = failure.public_message().unwrap();
        assert!(told.contains("charset") && told.contains("\nhelp: ") && !told.contains("canary"), "{told}");
    }

    #[test]
    fn what_cannot_be_fetched_is_refused_before_anybody_is_asked() {
        assert!(can_be_fetched("https://example.com/a?b").is_ok());
        for url in ["", "example.com", "file:///etc/passwd", "http://user@example.com/", "http://127.1/", "http://a b/"]
        {
            assert!(can_be_fetched(url).unwrap_err().to_string().contains("\nhelp: "), "{url}");
        }
    }
}

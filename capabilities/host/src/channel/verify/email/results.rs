//! What the operator's mail server found: `Authentication-Results`.

use super::super::super::Refused;
use super::Finder;
use super::head::Head;

const FIELD: &str = "authentication-results";

/// Whether the operator's mail server says that this domain signed this mail.
///
/// A sender can write such a field as well. The mail server puts its own above everything that came in, where the topmost
/// `Received` field tells the end of; one with its name further down is a forgery that it did not remove. Where fields of the
/// operator's own servers may stand above it, one further down could be the sender's: the topmost alone counts then.
pub(super) fn prove(finder: &Finder, head: &Head<'_>, domain: &str) -> Result<(), Refused> {
    let mut received = 0;
    let (mut found, mut topmost) = (Vec::new(), true);
    for (name, value) in head.fields() {
        match name {
            "received" => received += 1,
            FIELD => {
                let Some(parsed) = Results::parse(&value) else {
                    // Below, anybody may have written anything.
                    if received <= usize::from(finder.hops) {
                        return Err(Refused::forged("what the mail server found cannot be read"));
                    }
                    // What cannot be read could be taken for the mail server's by a name that stands in it.
                    if value.to_ascii_lowercase().contains(&finder.authserv_id) {
                        return Err(Refused::forged("a forged finding stands in the mail"));
                    }
                    continue;
                };
                if parsed.authserv_id != finder.authserv_id {
                    continue;
                }
                if received > usize::from(finder.hops) {
                    return Err(Refused::forged("a forged finding stands in the mail"));
                }
                if finder.hops == 0 || core::mem::take(&mut topmost) {
                    found.extend(parsed.results);
                }
            }
            _ => {}
        }
    }
    if received <= usize::from(finder.hops) {
        return Err(Refused::forged("no mail server says where it came from"));
    }
    let fails = |one: &One| matches!(one.method.as_str(), "dmarc" | "spf") && one.result == "fail";
    if found.iter().any(fails) {
        return Err(Refused::forged("the mail server says that it is forged"));
    }
    // Exactly this domain: where another one may speak for it is not known here.
    let signs = |one: &One| one.method == "dkim" && one.result == "pass" && one.domain.as_deref() == Some(domain);
    if !found.iter().any(signs) {
        return Err(Refused::forged("the sender's domain has not signed it"));
    }
    Ok(())
}

/// One such field, read.
#[derive(Debug, PartialEq, Eq)]
struct Results {
    authserv_id: String,
    results: Vec<One>,
}

/// One method's result.
#[derive(Debug, PartialEq, Eq)]
struct One {
    method: String,
    result: String,
    /// `header.d`: who signed.
    domain: Option<String>,
}

impl Results {
    fn parse(value: &str) -> Option<Self> {
        let mut statements = statements(value)?.into_iter();
        // The name, and perhaps a version.
        let mut first = statements.next()?.into_iter();
        let authserv_id = first.next()?.to_ascii_lowercase();
        if first.next().is_some_and(|version| version != "1") || first.next().is_some() {
            return None;
        }
        let results = statements.filter(|words| !words.is_empty()).map(One::of).collect::<Option<Vec<_>>>()?;
        Some(Self { authserv_id, results: results.into_iter().filter(|one| one.method != "none").collect() })
    }
}

impl One {
    /// `method[/version]=result`, and then properties.
    fn of(words: Vec<String>) -> Option<Self> {
        let mut words = words.into_iter();
        let first = words.next()?.to_ascii_lowercase();
        if first == "none" && words.len() == 0 {
            return Some(Self { method: first, result: String::new(), domain: None });
        }
        let (method, result) = first.split_once('=')?;
        let method = method.split_once('/').map_or(method, |(method, _)| method);
        let mut domain = None;
        for word in words {
            let (key, value) = word.split_once('=')?;
            if key.eq_ignore_ascii_case("header.d") && domain.replace(value.to_ascii_lowercase()).is_some() {
                return None;
            }
        }
        Some(Self { method: method.to_owned(), result: result.to_owned(), domain })
    }
}

/// The words between semicolons, without comments, and quoted texts without their quotes.
fn statements(value: &str) -> Option<Vec<Vec<String>>> {
    let mut statements = vec![Vec::new()];
    let mut word: Option<String> = None;
    let (mut depth, mut quoted) = (0_u32, false);
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        if character == '\\' {
            // Only where it means something.
            let next = characters.next()?;
            match (depth, quoted) {
                (0, true) => word.get_or_insert_default().push(next),
                (0, false) => return None,
                _ => {}
            }
            continue;
        }
        match character {
            '"' if depth == 0 => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            _ if quoted => word.get_or_insert_default().push(character),
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ if depth > 0 => {}
            ';' => {
                statements.last_mut()?.extend(word.take());
                statements.push(Vec::new());
            }
            // A space around `=` means nothing.
            '=' => match word.take() {
                Some(before) => word = Some(before + "="),
                None => word = Some(statements.last_mut()?.pop()? + "="),
            },
            space if space.is_ascii_whitespace() => {
                if word.as_ref().is_some_and(|word| !word.ends_with('=')) {
                    statements.last_mut()?.extend(word.take());
                }
            }
            _ => word.get_or_insert_default().push(character),
        }
    }
    if depth > 0 || quoted {
        return None;
    }
    statements.last_mut()?.extend(word);
    Some(statements)
}

#[cfg(test)]
mod tests {
    use super::{One, Results};

    fn one(method: &str, result: &str, domain: Option<&str>) -> One {
        One { method: method.into(), result: result.into(), domain: domain.map(str::to_owned) }
    }

    #[test]
    fn findings_are_read_as_servers_write_them() {
        let read = Results::parse(
            " mx.home.example 1; dkim=pass (2048-bit key; unprotected) header.d=home.example header.i=@home.example \
             header.b=\"abc; def\";\r\n\tspf=pass smtp.mailfrom=me@home.example; dmarc=pass (p=none) header.from=home.example",
        );
        let results = read.unwrap();
        assert_eq!(results.authserv_id, "mx.home.example");
        assert_eq!(
            results.results,
            [one("dkim", "pass", Some("home.example")), one("spf", "pass", None), one("dmarc", "pass", None)]
        );
        assert_eq!(Results::parse("mx; none").unwrap().results, []);
        assert_eq!(
            Results::parse("mx; dkim = pass header.d = a.b").unwrap().results,
            [one("dkim", "pass", Some("a.b"))]
        );
        assert_eq!(Results::parse("mx; dkim/1=pass").unwrap().results, [one("dkim", "pass", None)]);
    }

    /// A comment or a quoted text is no finding, and what cannot be read is none either.
    #[test]
    fn nothing_inside_a_comment_or_a_text_is_a_finding() {
        let fail = [one("dkim", "fail", None)];
        for value in [
            "mx; dkim=fail (; dkim=pass header.d=a.b)",
            "mx; dkim=fail reason=\"; dkim=pass header.d=a.b\"",
            "mx; dkim=fail (a (b) ; dkim=pass header.d=a.b)",
            "mx; dkim=fail (\\); dkim=pass header.d=a.b)",
            "mx; dkim=fail reason=\"\\\"; dkim=pass header.d=a.b\"",
        ] {
            assert_eq!(Results::parse(value).unwrap().results, fail, "{value}");
        }
        for odd in [
            "",
            ";",
            "mx; dkim",
            "mx; dkim=pass (",
            "mx; dkim=pass )",
            "mx; dkim=pass \"",
            "mx; dkim=pass header.d=a.b header.d=c.d",
            "mx 2; dkim=pass",
            "mx 1 1; dkim=pass",
            "mx; dkim=pass \\",
            "mx; =pass= header.d",
        ] {
            assert_eq!(Results::parse(odd), None, "{odd}");
        }
    }
}

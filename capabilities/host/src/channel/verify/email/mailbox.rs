//! Addresses in a mail's head, in the narrow form that everybody reads alike.

use super::super::super::Refused;

/// `name@domain`, in lower case: a mail server that tells `Me` from `me` is not known, and a sender that does would be two.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    text: String,
    at: usize,
}

impl Address {
    /// Reads one. Quoted names, addresses in brackets and other rare forms are none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (name, domain) = text.split_once('@')?;
        let atom = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&b);
        let atoms = |part: &str| (1..=64).contains(&part.len()) && part.split('.').all(|a| is_some_of(a, atom));
        (atoms(name) && is_domain(domain)).then(|| Self { text: text.to_ascii_lowercase(), at: name.len() })
    }

    /// What stands behind the `@`.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.text.get(self.at + 1..).unwrap_or_default()
    }
}

impl core::fmt::Display for Address {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.text)
    }
}

fn is_some_of(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(allowed)
}

/// Whether a text is a domain's name, in ASCII.
#[must_use]
pub fn is_domain(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
    let label = |label: &str| label.len() <= 63 && is_some_of(label, plain) && !label.starts_with('-');
    text.len() <= 253 && text.split('.').all(label)
}

/// The one address of a field: alone, or in angle brackets behind a name that is no address itself.
pub(super) fn named(value: &str) -> Result<Address, Refused> {
    let odd = || Refused::forged("the sender is not written as one address");
    let value = value.trim();
    let Some((name, rest)) = value.split_once('<') else {
        return Address::parse(value).ok_or_else(odd);
    };
    let address = rest.strip_suffix('>').and_then(Address::parse).ok_or_else(odd)?;
    // A quoted name may hold anything but what ends it; another one, words.
    let name = name.trim();
    let inner = match name.strip_prefix('"') {
        Some(inner) => inner.strip_suffix('"').ok_or_else(odd)?,
        None => name,
    };
    // Whatever it is decoded to: an encoded word is read by whoever shows it.
    let shown = decoded(inner);
    let looks =
        |c: char| matches!(c, '@' | '\u{ff20}' | '\u{fe6b}' | '<' | '>' | '"' | '\\' | ',' | ';' | ':' | '(' | ')');
    if shown.chars().chain(inner.chars()).any(|c| looks(c) || c.is_control()) {
        return Err(Refused::forged("the sender's name looks like an address"));
    }
    Ok(address)
}

/// A name as a reader of mail would show it.
fn decoded(name: &str) -> String {
    let line = format!("N: {name}\r\n");
    mailparse::parse_header(line.as_bytes()).map_or_else(|_| name.to_owned(), |(header, _)| header.get_value())
}

#[cfg(test)]
mod tests {
    use capability_core::audit::ChannelRule;

    use super::{Address, named};

    #[test]
    fn one_plain_address_with_or_without_a_name() {
        for plain in [
            "me@home.example",
            " Me@Home.Example ",
            "<me@home.example>",
            "Me Too <me@home.example>",
            "\"Too. Me\" <me@home.example>",
            "=?utf-8?q?J=C3=B6rg?= <me@home.example>",
        ] {
            assert_eq!(named(plain).unwrap(), Address::parse("me@home.example").unwrap(), "{plain}");
        }
    }

    #[test]
    fn a_name_that_looks_like_an_address_and_whatever_reads_in_two_ways_is_refused() {
        for odd in [
            "",
            "me",
            "me@home.example, you@home.example",
            "me@home.example you@home.example",
            "\"me@home.example\" <you@evil.example>",
            "me@home.example <you@evil.example>",
            "=?utf-8?q?me=40home=2Eexample?= <you@evil.example>",
            "=?utf-8?b?bWVAaG9tZS5leGFtcGxl?= <you@evil.example>",
            "=?utf-8?q?me=EF=BC=A0home?= <you@evil.example>",
            "<me@home.example> <you@evil.example>",
            "<me@home.example>, you@evil.example",
            "me@home.example (comment)",
            "(me@home.example) you@evil.example",
            "Group: me@home.example;",
            "\"me\"@home.example",
            "\"a\\\"<me@home.example>\" <you@evil.example>",
            "<@relay:me@home.example>",
            "<me@[127.0.0.1]>",
            "<me@home..example>",
            "<me@home.example",
            "me@home.example>",
            "me\u{0}@home.example",
            "mé@home.example",
            "me@hömé.example",
        ] {
            assert_eq!(named(odd).unwrap_err().rule, ChannelRule::ForgedSender, "{odd}");
        }
    }
}

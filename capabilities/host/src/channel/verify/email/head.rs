//! The head of a mail: its fields in their order.

use super::super::super::Refused;

/// The most fields, and the largest head in bytes.
const MAX_FIELDS: usize = 512;
const MAX_HEAD: usize = 64 * 1024;

/// A mail's fields, from top to bottom: the higher, the later it was written.
pub(super) struct Head<'a>(Vec<Field<'a>>);

struct Field<'a> {
    /// In lower case.
    name: String,
    /// As it stands there, with its line breaks.
    value: &'a str,
}

impl<'a> Head<'a> {
    /// Reads the head, and gives what follows it. What one reader could take for the head's end, or for a field, and another
    /// could not, is refused.
    pub(super) fn read(raw: &'a [u8]) -> Result<(Self, &'a [u8]), Refused> {
        let wrong = |detail| Err(Refused::malformed(detail));
        let mut fields: Vec<Field<'a>> = Vec::new();
        // The field that is being read: where its name and value stand.
        let mut open: Option<(usize, usize)> = None;
        let mut at = 0;
        loop {
            let rest = raw.get(at..).unwrap_or_default();
            let Some(length) = memchr::memchr(b'\n', rest) else { return wrong("the head does not end") };
            let line = rest.get(..length).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let next = at + length + 1;
            if next > MAX_HEAD || fields.len() >= MAX_FIELDS {
                return wrong("the head is too large");
            }
            if line.iter().any(|byte| matches!(byte, b'\r' | 0)) {
                return wrong("the head holds a control character");
            }
            let goes_on = matches!(line.first(), Some(b' ' | b'\t'));
            if goes_on {
                // A line of nothing but spaces ends the head for some readers.
                if open.is_none() || line.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
                    return wrong("a line of the head belongs to no field");
                }
            } else {
                if let Some((name, value)) = open.take() {
                    fields.push(Field::of(raw, name, value, at)?);
                }
                if line.is_empty() {
                    return Ok((Self(fields), raw.get(next..).unwrap_or_default()));
                }
                let colon = memchr::memchr(b':', line).ok_or(Refused::malformed("a line of the head is no field"))?;
                open = Some((at, at + colon));
            }
            at = next;
        }
    }

    /// The one field of this name. Two of them are refused: readers disagree about which counts.
    pub(super) fn one(&self, name: &str) -> Result<Option<String>, Refused> {
        let mut all = self.all(name);
        let first = all.next();
        if all.next().is_some() {
            return Err(match name {
                "from" | "sender" => Refused::forged("several senders are named"),
                _ => Refused::malformed("a field of the head stands there twice"),
            });
        }
        Ok(first)
    }

    /// Every field of this name, in one line each.
    pub(super) fn all<'s>(&'s self, name: &'s str) -> impl Iterator<Item = String> + 's {
        self.0.iter().filter(move |field| field.name == name).map(Field::unfolded)
    }

    /// Names and values in their order.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, String)> {
        self.0.iter().map(|field| (field.name.as_str(), field.unfolded()))
    }

    /// Every name, in lower case.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|field| field.name.as_str())
    }
}

impl<'a> Field<'a> {
    fn of(raw: &'a [u8], start: usize, colon: usize, end: usize) -> Result<Self, Refused> {
        let name = raw.get(start..colon).unwrap_or_default();
        let plain = !name.is_empty() && name.iter().all(|byte| matches!(byte, b'!'..=b'9' | b';'..=b'~'));
        if !plain {
            return Err(Refused::malformed("a field's name is none"));
        }
        let value = raw.get(colon + 1..end).unwrap_or_default();
        let value = core::str::from_utf8(value).map_err(|_| Refused::malformed("a field is no text"))?;
        Ok(Self { name: String::from_utf8_lossy(name).to_ascii_lowercase(), value })
    }

    fn unfolded(&self) -> String {
        self.value.chars().filter(|c| !matches!(c, '\r' | '\n')).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Head;

    #[test]
    fn fields_keep_their_order_and_their_lines() {
        let (head, body) = Head::read(b"A: 1\r\nB: 2\r\n 3\r\na: 4\r\n\r\nbody\r\n\r\nC: 5").unwrap();
        assert_eq!(head.all("a").collect::<Vec<_>>(), [" 1", " 4"]);
        assert_eq!(head.one("b").unwrap().unwrap(), " 2 3");
        assert!(head.one("a").is_err() && head.one("c").unwrap().is_none());
        assert_eq!(body, b"body\r\n\r\nC: 5");
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for odd in [
            &b""[..],
            b"A: 1",
            b"A: 1\n",
            b" A: 1\n\n",
            b"A: 1\n \t\nB: 2\n\n",
            b"A: 1\rB: 2\n\n",
            b"A\0: 1\n\n",
            b"A: \0\n\n",
            b"A : 1\n\n",
            b": 1\n\n",
            b"A\n\n",
            b"From somebody\nA: 1\n\n",
            b"A: \xff\n\n",
            "\u{e9}: 1\n\n".as_bytes(),
        ] {
            assert!(Head::read(odd).is_err(), "{odd:?}");
        }
        assert!(Head::read(format!("A: {}\n\n", "x".repeat(70_000)).as_bytes()).is_err());
        assert!(Head::read(("A: 1\n".repeat(600) + "\n").as_bytes()).is_err());
    }
}

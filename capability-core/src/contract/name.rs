//! The grammar of capability names.

/// The longest capability name, in bytes: leaves room for a version suffix inside the 64 bytes that model APIs accept.
pub const MAX_NAME_BYTES: usize = 56;

/// A registered capability's name: dotted, lower case, from the registry of this build and from nowhere else.
///
/// Two or more segments of `[a-z][a-z0-9_]*`, joined by dots; no double and no trailing underscore; a segment of `v` and
/// digits only is reserved for versions; at most [`MAX_NAME_BYTES`] bytes.
///
/// There is no way to make one from text at run time, so a type that holds it cannot hold what a caller wrote.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapabilityName(&'static str);

impl CapabilityName {
    /// Reached only from the registry entry's const constructor.
    pub(crate) const fn of_entry(name: &'static str) -> Self {
        assert!(is_valid(name), "a capability name has two or more dotted segments of [a-z][a-z0-9_]*");
        Self(name)
    }

    /// The dotted name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    pub(crate) const fn as_static(self) -> &'static str {
        self.0
    }

    /// The family that is opted into as one: the first segment, such as `web` of `web.search`.
    #[must_use]
    pub fn family(self) -> &'static str {
        self.0.split_once('.').map_or(self.0, |(family, _)| family)
    }
}

impl core::fmt::Display for CapabilityName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.0)
    }
}

impl core::fmt::Debug for CapabilityName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.0)
    }
}

impl serde::Serialize for CapabilityName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

/// Whether `name` follows the grammar of [`CapabilityName`].
///
/// ```
/// use capability_core::contract::is_valid_name;
/// assert!(is_valid_name("web.search") && is_valid_name("fs.read_all"));
/// for wrong in ["web", "Web.search", "web..search", "web.search_", "web.a__b", "web.v2", "9.a", ""] {
///     assert!(!is_valid_name(wrong), "{wrong}");
/// }
/// ```
#[must_use]
#[expect(clippy::indexing_slicing, reason = "const fn: iterators are not const, and every index is below the length")]
pub const fn is_valid(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > MAX_NAME_BYTES {
        return false;
    }
    let (mut at, mut segments) = (0, 0);
    while at < bytes.len() {
        let start = at;
        if !bytes[at].is_ascii_lowercase() {
            return false;
        }
        let mut only_digits_after_v = bytes[at] == b'v';
        at += 1;
        while at < bytes.len() && bytes[at] != b'.' {
            let (byte, before) = (bytes[at], bytes[at - 1]);
            if !(byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_') || (byte == b'_' && before == b'_')
            {
                return false;
            }
            only_digits_after_v = only_digits_after_v && byte.is_ascii_digit();
            at += 1;
        }
        if bytes[at - 1] == b'_' || (only_digits_after_v && at - start > 1) {
            return false;
        }
        segments += 1;
        if at < bytes.len() {
            at += 1;
            if at == bytes.len() {
                return false;
            }
        }
    }
    segments >= 2
}

#[cfg(test)]
mod tests {
    use super::{MAX_NAME_BYTES, is_valid};

    #[test]
    fn the_length_limit_is_inclusive() {
        let name = |len: usize| format!("a.{}", "b".repeat(len - 2));
        assert!(is_valid(&name(MAX_NAME_BYTES)));
        assert!(!is_valid(&name(MAX_NAME_BYTES + 1)));
    }

    #[test]
    fn v_alone_is_a_word_and_v_with_digits_is_a_version() {
        assert!(is_valid("a.v") && is_valid("a.v2x") && is_valid("a.verify"));
        assert!(!is_valid("a.v2") && !is_valid("v10.a"));
    }

    #[test]
    fn edges() {
        for wrong in [".a", "a.", ".", "a.b.", "a.-b", "a.b c", "a.é", "a._b", "a.b-c", "a/b", "a.b\n"] {
            assert!(!is_valid(wrong), "{wrong:?}");
        }
        assert!(is_valid("a.b.c_d.e1"));
    }
}

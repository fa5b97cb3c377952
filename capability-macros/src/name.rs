//! The grammar of capability names, rule by rule.

/// The longest capability name, in bytes.
pub const MAX_BYTES: usize = 56;

/// The first rule that `name` breaks: what is wrong with it, and the rule.
pub fn fault(name: &str) -> Option<(&'static str, &'static str)> {
    const LETTERS: &str = "a segment is lower-case letters, digits and single underscores, and starts with a letter";
    if name.is_empty() {
        return Some(("is empty", "a name is two or more segments joined by dots"));
    }
    if name.len() > MAX_BYTES {
        return Some(("is too long", "a name has at most 56 bytes"));
    }
    if name.split('.').any(str::is_empty) {
        return Some(("has an empty segment", "one dot stands between two segments, and none at either end"));
    }
    if name.contains(|c: char| c.is_ascii_uppercase()) {
        return Some(("has an upper-case letter", LETTERS));
    }
    if name.contains('-') {
        return Some(("has a hyphen", LETTERS));
    }
    if name.contains(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.')) {
        return Some(("has a character that names do not have", LETTERS));
    }
    if name.split('.').any(|segment| !segment.starts_with(|c: char| c.is_ascii_lowercase())) {
        return Some(("has a segment that does not start with a letter", LETTERS));
    }
    if name.contains("__") {
        return Some(("has a double underscore", LETTERS));
    }
    if name.split('.').any(|segment| segment.ends_with('_')) {
        return Some(("has a segment that ends in an underscore", LETTERS));
    }
    if name.split('.').any(is_version) {
        return Some(("has a segment that looks like a version", "`v` and digits are reserved for versions"));
    }
    if !name.contains('.') {
        return Some(("has one segment", "a name is two or more segments joined by dots"));
    }
    None
}

fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// A name that follows the grammar and is as close to `name` as a mechanical repair gets.
pub fn repaired(name: &str) -> String {
    let mut segments: Vec<String> = Vec::new();
    for segment in name.to_lowercase().split('.') {
        let words: Vec<&str> =
            segment.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let segment = words.join("_");
        let segment = segment.trim_start_matches(|c: char| !c.is_ascii_lowercase());
        if !segment.is_empty() && !is_version(segment) {
            segments.push(segment.to_owned());
        }
    }
    if segments.len() == 1 {
        segments.push("run".to_owned());
    }
    let name = segments.join(".");
    if fault(&name).is_none() { name } else { "web.search".to_owned() }
}

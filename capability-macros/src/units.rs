//! Durations and sizes as text: `"10s"`, `"64 KiB"`.

/// Why such a text is not a bound.
#[derive(Debug, PartialEq, Eq)]
pub enum Malformed {
    /// No number in front.
    Number,
    /// A number that is not whole.
    Fraction,
    /// No unit behind it.
    MissingUnit,
    /// A unit that is not ours.
    Unit(String),
    /// A word for no bound at all.
    Endless,
}

const ENDLESS: &[&str] = &["inf", "infinity", "infinite", "unlimited", "none", "never", "forever", "∞", "max"];

/// Milliseconds.
pub fn duration(text: &str) -> Result<u64, Malformed> {
    measure(text, &[("ms", 1), ("s", 1_000), ("m", 60_000), ("min", 60_000)])
}

/// Bytes.
pub fn size(text: &str) -> Result<u64, Malformed> {
    measure(text, &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20)])
}

fn measure(text: &str, units: &[(&str, u64)]) -> Result<u64, Malformed> {
    let text = text.trim();
    if ENDLESS.contains(&text.to_lowercase().as_str()) {
        return Err(Malformed::Endless);
    }
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len()));
    if unit.starts_with(['.', ',']) {
        return Err(Malformed::Fraction);
    }
    let digits = number.replace('_', "");
    if digits.is_empty() {
        return Err(Malformed::Number);
    }
    let unit = unit.trim();
    if unit.is_empty() {
        return Err(Malformed::MissingUnit);
    }
    let Some((_, factor)) = units.iter().find(|(known, _)| *known == unit) else {
        return Err(Malformed::Unit(unit.to_owned()));
    };
    // A number too large to hold is above every ceiling, and the ceiling is the rule that the author should read.
    Ok(digits.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(*factor))
}

//! Integers that are what was written.

use super::fault::{ArgumentCode, ArgumentFault};
use super::parse::MAX_EXACT;

/// Refuses a number literal that became a whole number only by rounding, such as `1.0000000000000001`.
pub(super) fn literals(raw: &[u8]) -> Result<(), ArgumentFault> {
    let mut rest = raw;
    while let Some((byte, after)) = rest.split_first() {
        match byte {
            b'"' => rest = after_string(after),
            b'-' | b'0'..=b'9' => {
                let length = rest
                    .iter()
                    .position(|byte| !matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))
                    .unwrap_or(rest.len());
                let (literal, after) = rest.split_at(length);
                let literal = core::str::from_utf8(literal).unwrap_or_default();
                if !is_kept(literal) {
                    return Err(ArgumentFault::new(
                        ArgumentCode::Malformed,
                        format!(
                            "the number {} has more digits than are kept: it would be rounded to an integer",
                            super::suggest::shown(literal)
                        ),
                        "send the integer itself, or a fraction of at most 17 digits",
                    ));
                }
                rest = after;
            }
            _ => rest = after,
        }
    }
    Ok(())
}

fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some((byte, after)) = rest.split_first() {
        match byte {
            b'"' => return after,
            b'\\' => rest = after.get(1..).unwrap_or_default(),
            _ => rest = after,
        }
    }
    rest
}

/// False when reading `literal` as a double makes it another integer than it says, or an integer when it is none.
fn is_kept(literal: &str) -> bool {
    if !literal.contains(['.', 'e', 'E']) {
        return true;
    }
    let Ok(double) = literal.parse::<f64>() else { return true };
    if double.fract() != 0.0 || double.abs() > MAX_EXACT {
        return true;
    }
    let unsigned = literal.trim_start_matches('-');
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return true;
    }
    let Ok(exponent) = exponent.parse::<i64>() else { return false };
    let zeros = i64::try_from(digits.len() - significant.len()).unwrap_or(i64::MAX);
    let fraction = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let exponent = exponent.saturating_add(zeros).saturating_sub(fraction);
    let Some(scale) = u32::try_from(exponent).ok().and_then(|exponent| 10_u64.checked_pow(exponent)) else {
        return false;
    };
    let exact = significant.parse::<u64>().ok().and_then(|digits| digits.checked_mul(scale));
    exact.is_some_and(|exact| exact as f64 == double.abs() && exact <= MAX_EXACT as u64)
}

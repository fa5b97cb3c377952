//! Numbers, compared and divided exactly.

use core::cmp::Ordering;
use core::fmt::Write as _;

use serde_json::Number;

/// The largest distance from zero at which every integer is a double of its own.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// A number as it is held: integers of 64 bits, and finite doubles.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Digits {
    /// Zero and above.
    Natural(u64),
    /// Below zero.
    Negative(i64),
    /// Written with a fraction or an exponent, or too large for the others.
    Double(f64),
}

impl Digits {
    /// The same number. None for one that is none of the three.
    pub(crate) fn of(number: &Number) -> Option<Self> {
        match (number.as_u64(), number.as_i64()) {
            (Some(natural), _) => Some(Self::Natural(natural)),
            (None, Some(negative)) => Some(Self::Negative(negative)),
            (None, None) => number.as_f64().filter(|double| double.is_finite()).map(Self::Double),
        }
    }

    /// The same for `serde_json`.
    pub(crate) fn number(self) -> Number {
        match self {
            Self::Natural(natural) => Number::from(natural),
            Self::Negative(negative) => Number::from(negative),
            // Only finite doubles are parsed.
            Self::Double(double) => Number::from_f64(double).unwrap_or_else(|| Number::from(0)),
        }
    }

    /// True for a number without a fraction, however it is written.
    pub(crate) fn is_whole(self) -> bool {
        match self {
            Self::Natural(_) | Self::Negative(_) => true,
            Self::Double(double) => double.fract() == 0.0,
        }
    }

    pub(crate) const fn is_double(self) -> bool {
        matches!(self, Self::Double(_))
    }

    /// The nearest double.
    fn rounded(self) -> f64 {
        match self {
            Self::Natural(natural) => natural as f64,
            Self::Negative(negative) => negative as f64,
            Self::Double(double) => double,
        }
    }

    /// Which is greater; no rounding takes part.
    #[inline]
    pub(crate) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Natural(one), Self::Natural(other)) => one.cmp(&other),
            (Self::Negative(one), Self::Negative(other)) => one.cmp(&other),
            (Self::Natural(_), Self::Negative(_)) => Ordering::Greater,
            (Self::Negative(_), Self::Natural(_)) => Ordering::Less,
            (Self::Double(one), Self::Double(other)) => one.partial_cmp(&other).unwrap_or(Ordering::Equal),
            (Self::Double(double), integer) => with_double(integer, double).reverse(),
            (integer, Self::Double(double)) => with_double(integer, double),
        }
    }
}

/// Compares an integer with a double.
fn with_double(integer: Digits, double: f64) -> Ordering {
    let integer = match integer {
        Digits::Natural(natural) => i128::from(natural),
        Digits::Negative(negative) => i128::from(negative),
        Digits::Double(other) => return other.partial_cmp(&double).unwrap_or(Ordering::Equal),
    };
    // The cast stops at the ends of its range, which lie far outside of what the integer can be.
    let whole = double.trunc() as i128;
    integer.cmp(&whole).then_with(|| 0.0_f64.partial_cmp(&double.fract()).unwrap_or(Ordering::Equal))
}

/// A divisor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Divisor {
    pub(super) written: f64,
    decimal: Decimal,
}

impl Divisor {
    /// None for what divides nothing.
    pub(super) fn of(number: &Number) -> Option<Self> {
        let written = number.as_f64().filter(|divisor| divisor.is_finite() && *divisor > 0.0)?;
        Some(Self { written, decimal: Decimal::of_double(written) })
    }

    /// True when `number` divided by this one is whole. An integer divides what a number is worth; a fraction is read as the
    /// decimal that it is written as, and so is what it divides.
    pub(super) fn divides(&self, number: Digits) -> bool {
        if self.written.fract() != 0.0 {
            return Decimal::of_double(number.rounded()).is_multiple_of(self.decimal);
        }
        // Up to there a double is the integer that was written, and the cast is exact.
        let exact = (self.written <= MAX_EXACT).then_some(self.written as u64);
        match (number, exact) {
            (Digits::Natural(natural), Some(divisor)) => natural % divisor == 0,
            (Digits::Negative(negative), Some(divisor)) => negative.unsigned_abs() % divisor == 0,
            (number, _) => number.rounded() % self.written == 0.0,
        }
    }
}

/// `mantissa * 10^exponent`, of at most 20 digits.
#[derive(Debug, Clone, Copy)]
struct Decimal {
    mantissa: i128,
    exponent: i32,
}

impl Decimal {
    /// The shortest decimal that is read as `double`.
    fn of_double(double: f64) -> Self {
        let mut text = Shortest::default();
        // It has room for every double.
        let _ = write!(text, "{double:e}");
        let mut decimal = Self { mantissa: 0, exponent: text.exponent };
        let mut fraction = false;
        for byte in text.digits.iter().take(text.length) {
            match byte {
                b'.' => fraction = true,
                b'0'..=b'9' => {
                    decimal.mantissa = decimal.mantissa * 10 + i128::from(byte - b'0');
                    decimal.exponent -= i32::from(fraction);
                }
                _ => {}
            }
        }
        if double < 0.0 {
            decimal.mantissa = -decimal.mantissa;
        }
        decimal
    }

    fn is_multiple_of(self, divisor: Self) -> bool {
        if self.mantissa == 0 || divisor.mantissa == 0 {
            return self.mantissa == 0;
        }
        let places = self.exponent.abs_diff(divisor.exponent);
        if self.exponent < divisor.exponent {
            // The divisor has `places` zeros more. Where that many do not fit, it is greater than the number.
            return 10_i128
                .checked_pow(places)
                .and_then(|zeros| divisor.mantissa.checked_mul(zeros))
                .is_some_and(|divisor| self.mantissa % divisor == 0);
        }
        // Divisors have at most 17 digits, so no product of two remainders leaves the range.
        let modulus = divisor.mantissa;
        let (mut rest, mut power, mut places) = (self.mantissa % modulus, 10 % modulus, places);
        while places > 0 {
            if places % 2 == 1 {
                rest = rest * power % modulus;
            }
            power = power * power % modulus;
            places /= 2;
        }
        rest == 0
    }
}

/// What a double prints as with an exponent: its digits and its exponent.
#[derive(Default)]
struct Shortest {
    digits: [u8; 24],
    length: usize,
    exponent: i32,
    /// Set once the exponent begins, with its sign.
    sign: Option<i32>,
}

impl core::fmt::Write for Shortest {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for byte in text.bytes() {
            match (byte, self.sign) {
                (b'e', _) => self.sign = Some(1),
                (b'-', Some(_)) => self.sign = Some(-1),
                (digit @ b'0'..=b'9', Some(sign)) => {
                    self.exponent = self.exponent * 10 + sign * i32::from(digit - b'0')
                }
                (byte, _) => {
                    *self.digits.get_mut(self.length).ok_or(core::fmt::Error)? = byte;
                    self.length += 1;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use core::cmp::Ordering;

    use serde_json::Number;

    use super::{Digits, Divisor};

    fn number(text: &str) -> Number {
        serde_json::from_str(text).expect("a number")
    }

    #[test]
    fn nothing_is_rounded() {
        let ordered = [
            "-1e300",
            "-9223372036854775809",
            "-9223372036854775808",
            "-9223372036854775807",
            "-1.5",
            "-1",
            "-0.5",
            "0",
            "5e-324",
            "0.5",
            "1",
            "9007199254740991.0",
            "9007199254740992",
            "9007199254740993",
            "9007199254740994.0",
            "18446744073709551615",
            "18446744073709551616",
            "1e300",
        ];
        let digits = |text: &str| Digits::of(&number(text)).expect("held");
        for (at, one) in ordered.iter().enumerate() {
            for (other_at, other) in ordered.iter().enumerate() {
                // -2^63 - 1 is read as the double -2^63.
                let expected =
                    if at.max(other_at) == 2 && at.min(other_at) == 1 { Ordering::Equal } else { at.cmp(&other_at) };
                assert_eq!(digits(one).compare(digits(other)), expected, "{one} and {other}");
            }
        }
        assert_eq!(digits("0").compare(digits("-0.0")), Ordering::Equal);
    }

    #[test]
    fn decimals_divide_as_they_are_written() {
        let divides = |divisor: &str, text: &str| {
            Divisor::of(&number(divisor)).expect("a divisor").divides(Digits::of(&number(text)).expect("held"))
        };
        for (divisor, text) in [
            ("0.1", "0.3"),
            ("0.01", "1070468.14"),
            ("0.1", "1e300"),
            ("7", "0"),
            ("7", "-49"),
            ("0.5", "-0.0"),
            ("3", "18446744073709551615"),
            ("2", "1e19"),
            ("1e-300", "1e300"),
            ("2.5e-7", "1"),
            ("1e300", "1e300"),
            ("10", "10"),
        ] {
            assert!(divides(divisor, text), "{text} by {divisor}");
        }
        for (divisor, text) in [
            ("0.1", "0.35"),
            ("7", "50"),
            ("2", "18446744073709551615"),
            ("1e300", "1"),
            ("0.3", "1e300"),
            ("2", "1.5"),
            ("10", "5"),
            ("1e300", "1.5e300"),
        ] {
            assert!(!divides(divisor, text), "{text} by {divisor}");
        }
        assert!(Divisor::of(&number("0")).is_none() && Divisor::of(&number("-2")).is_none());
    }
}

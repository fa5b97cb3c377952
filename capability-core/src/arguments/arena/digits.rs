//! Numbers, as the validator asks for them.

use std::borrow::Cow;

use jsonschema::json::JsonNumber;
use serde_json::Number;

/// A number.
pub(in super::super) enum Digits {
    Natural(u64),
    Negative(i64),
    Double(f64),
}

impl Digits {
    /// The same for `serde_json`.
    pub(super) fn number(&self) -> Number {
        match self {
            Self::Natural(natural) => Number::from(*natural),
            Self::Negative(negative) => Number::from(*negative),
            // Only finite doubles are parsed.
            Self::Double(double) => Number::from_f64(*double).unwrap_or_else(|| Number::from(0)),
        }
    }
}

impl JsonNumber for Digits {
    fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Natural(natural) => Some(*natural),
            Self::Negative(_) | Self::Double(_) => None,
        }
    }

    fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Natural(natural) => i64::try_from(*natural).ok(),
            Self::Negative(negative) => Some(*negative),
            Self::Double(_) => None,
        }
    }

    fn as_f64(&self) -> Option<f64> {
        Some(match self {
            Self::Natural(natural) => *natural as f64,
            Self::Negative(negative) => *negative as f64,
            Self::Double(double) => *double,
        })
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_number().to_string())
    }

    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Owned(self.number())
    }

    fn is_integer(&self) -> bool {
        match self {
            Self::Natural(_) | Self::Negative(_) => true,
            Self::Double(double) => double.fract() == 0.0,
        }
    }

    fn is_written_as_integer(&self) -> bool {
        self.to_number().is_written_as_integer()
    }
}

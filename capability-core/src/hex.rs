//! Hexadecimal text for fixed-size ids.

/// Writes `bytes` as lower-case hexadecimal digits.
pub(crate) fn write(bytes: &[u8], f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// `bytes` as a text of lower-case hexadecimal digits.
pub(crate) fn text(bytes: &[u8]) -> String {
    struct Digits<'a>(&'a [u8]);
    impl core::fmt::Display for Digits<'_> {
        fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            write(self.0, f)
        }
    }
    Digits(bytes).to_string()
}

/// Reads exactly `N` bytes from lower-case hexadecimal digits.
pub(crate) fn read<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

/// Text, JSON and `Debug` forms of a newtype over `[u8; N]`.
macro_rules! hex_text {
    ($type:ident, $bytes:literal, $rule:literal) => {
        impl core::fmt::Display for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                $crate::hex::write(&self.0, f)
            }
        }
        impl core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                $crate::hex::write(&self.0, f)
            }
        }
        impl core::str::FromStr for $type {
            type Err = $crate::hex::HexError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::hex::read::<$bytes>(text).map(Self).ok_or($crate::hex::HexError($rule))
            }
        }
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'_, str> as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use hex_text;

/// Why a text is not such an id: the rule it breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HexError(pub(crate) &'static str);

impl core::fmt::Display for HexError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.0)
    }
}

impl core::error::Error for HexError {}

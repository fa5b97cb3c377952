//! Versions of skills, and of what they were written for.

use serde::Deserialize;

/// Three numbers, as in `1.4.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct SkillVersion(u32, u32, u32);

impl SkillVersion {
    /// The version of this framework.
    pub const OURS: Self = match Self::written(env!("CARGO_PKG_VERSION")) {
        Some(ours) => ours,
        None => Self(0, 0, 0),
    };

    /// From `major.minor.patch`, each a decimal number without a leading zero.
    #[must_use]
    #[expect(
        clippy::indexing_slicing,
        reason = "const fn: iterators are not const, and every index is below the length"
    )]
    pub const fn written(text: &str) -> Option<Self> {
        let text = text.as_bytes();
        let mut parts = [0_u32; 3];
        let (mut part, mut digits, mut at) = (0, 0, 0);
        while at < text.len() {
            match text[at] {
                digit @ b'0'..=b'9' => {
                    // Nine digits fit, and nothing follows a leading zero.
                    if digits >= 9 || (digits == 1 && parts[part] == 0) {
                        return None;
                    }
                    parts[part] = parts[part] * 10 + (digit - b'0') as u32;
                    digits += 1;
                }
                b'.' if digits > 0 && part < 2 => {
                    part += 1;
                    digits = 0;
                }
                _ => return None,
            }
            at += 1;
        }
        if part == 2 && digits > 0 { Some(Self(parts[0], parts[1], parts[2])) } else { None }
    }
}

impl core::fmt::Display for SkillVersion {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self(major, minor, patch) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

impl TryFrom<String> for SkillVersion {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::written(&text).ok_or("a version is three numbers, as in `1.4.0`")
    }
}

/// From one version on, and before another: `{ from = "0.1.0", before = "0.2.0" }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compatibility {
    /// The first.
    pub from: SkillVersion,
    /// The first that is none any more.
    pub before: SkillVersion,
}

impl Compatibility {
    /// Whether it includes this version.
    #[must_use]
    pub fn includes(&self, version: SkillVersion) -> bool {
        self.from <= version && version < self.before
    }
}

#[cfg(test)]
mod tests {
    use super::{Compatibility, SkillVersion};

    #[test]
    fn a_version_is_three_numbers_in_one_way() {
        for (text, written) in [("0.1.0", SkillVersion(0, 1, 0)), ("12.0.999999999", SkillVersion(12, 0, 999_999_999))]
        {
            assert_eq!(SkillVersion::written(text), Some(written));
            assert_eq!(written.to_string(), text);
        }
        for text in [
            "",
            "1",
            "1.2",
            "1.2.3.4",
            "01.0.0",
            "1..2",
            "1.2.",
            ".1.2",
            "1.2.3-a",
            "1.2.9999999999",
            "v1.2.3",
            "1.2.+3",
        ] {
            assert_eq!(SkillVersion::written(text), None, "{text}");
        }
        assert_eq!(SkillVersion::OURS.to_string(), env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn compatibility_is_half_open() {
        let of = |text| SkillVersion::written(text).unwrap();
        let range = Compatibility { from: of("0.1.0"), before: of("0.2.0") };
        for (version, includes) in [("0.0.9", false), ("0.1.0", true), ("0.1.10", true), ("0.2.0", false)] {
            assert_eq!(range.includes(of(version)), includes, "{version}");
        }
    }
}

//! Finite bounds: every entry has them, written or from the class's own row.

use core::num::{NonZeroU32, NonZeroU64};
use core::time::Duration;

use super::class::{Class, Network, SideEffect};

/// How long, how much and how often. No field can be zero or absent; above the ceilings does not compile.
///
/// Source: RFC-0003, "bounds — timeout, maximum result size, and maximum invocations per conversation turn".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    timeout_ms: NonZeroU64,
    max_result: NonZeroU64,
    per_turn: NonZeroU32,
}

/// The longest timeout an entry may declare, in milliseconds.
pub const CEILING_TIMEOUT_MS: u64 = 300_000;
/// The largest result an entry may declare, in bytes of its JSON text.
pub const CEILING_MAX_RESULT: u64 = 8 * 1024 * 1024;
/// The most invocations per turn an entry may declare.
pub const CEILING_PER_TURN: u32 = 1000;

impl Bounds {
    /// Bounds from three numbers: milliseconds, bytes of the result's JSON text, invocations per turn.
    ///
    /// # Panics
    /// On zero and above a ceiling. The macro refuses such values with a message of its own; in a constant this is a
    /// compile error, which makes it the backstop.
    #[must_use]
    #[expect(clippy::panic, reason = "in a constant this is the compile error that backs up the macro's")]
    pub const fn new(timeout_ms: u64, max_result: u64, per_turn: u32) -> Self {
        assert!(timeout_ms <= CEILING_TIMEOUT_MS, "`timeout` is at most 300 s");
        assert!(max_result <= CEILING_MAX_RESULT, "`max_result` is at most 8 MiB");
        assert!(per_turn <= CEILING_PER_TURN, "`per_turn` is at most 1000");
        match (NonZeroU64::new(timeout_ms), NonZeroU64::new(max_result), NonZeroU32::new(per_turn)) {
            (Some(timeout_ms), Some(max_result), Some(per_turn)) => Self { timeout_ms, max_result, per_turn },
            _ => panic!("bounds are never zero: a capability that may not run is `locked`"),
        }
    }

    /// The row for a class when an attribute writes none.
    ///
    /// | class | timeout | result | per turn |
    /// |---|---|---|---|
    /// | `read_only` + `local` | 5 s | 64 KiB | 16 |
    /// | `read_only` + `external` | 15 s | 64 KiB | 4 |
    /// | `mutating` + `local` | 10 s | 64 KiB | 4 |
    /// | `mutating` + `external` | 15 s | 64 KiB | 1 |
    #[must_use]
    pub const fn of_class(class: Class) -> Self {
        match (class.side_effect, class.network) {
            (SideEffect::ReadOnly, Network::Local) => Self::new(5_000, 64 * 1024, 16),
            (SideEffect::ReadOnly, Network::External) => Self::new(15_000, 64 * 1024, 4),
            (SideEffect::Mutating, Network::Local) => Self::new(10_000, 64 * 1024, 4),
            (SideEffect::Mutating, Network::External) => Self::new(15_000, 64 * 1024, 1),
        }
    }

    /// The class's row with whatever was written put in its place.
    #[must_use]
    pub const fn written(
        class: Class,
        timeout_ms: Option<u64>,
        max_result: Option<u64>,
        per_turn: Option<u32>,
    ) -> Self {
        let row = Self::of_class(class);
        Self::new(
            match timeout_ms {
                Some(written) => written,
                None => row.timeout_ms.get(),
            },
            match max_result {
                Some(written) => written,
                None => row.max_result.get(),
            },
            match per_turn {
                Some(written) => written,
                None => row.per_turn.get(),
            },
        )
    }

    /// How long an invocation may run.
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.get())
    }

    /// How many bytes the result's JSON text may have.
    #[must_use]
    pub const fn max_result(&self) -> u64 {
        self.max_result.get()
    }

    /// How many invocations one turn may have.
    #[must_use]
    pub const fn per_turn(&self) -> u32 {
        self.per_turn.get()
    }
}

impl core::fmt::Display for Bounds {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let ms = self.timeout_ms.get();
        if ms.is_multiple_of(1000) {
            write!(f, "{} s", ms / 1000)?
        } else {
            write!(f, "{ms} ms")?
        };
        let bytes = self.max_result.get();
        match (bytes.is_multiple_of(1 << 20), bytes.is_multiple_of(1 << 10)) {
            (true, _) => write!(f, ", {} MiB", bytes >> 20)?,
            (false, true) => write!(f, ", {} KiB", bytes >> 10)?,
            (false, false) => write!(f, ", {bytes} B")?,
        }
        write!(f, ", {} per turn", self.per_turn)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Class};

    #[test]
    fn every_class_has_a_finite_row() {
        let rows: Vec<_> = Class::ALL.iter().map(|class| Bounds::of_class(*class).to_string()).collect();
        assert_eq!(
            rows,
            [
                "5 s, 64 KiB, 16 per turn",
                "15 s, 64 KiB, 4 per turn",
                "10 s, 64 KiB, 4 per turn",
                "15 s, 64 KiB, 1 per turn"
            ]
        );
    }

    #[test]
    fn written_values_win_one_by_one() {
        let bounds = Bounds::written(Class::STRICTEST, Some(1_500), None, Some(7));
        assert_eq!(bounds.to_string(), "1500 ms, 64 KiB, 7 per turn");
    }

    #[test]
    fn zero_and_above_ceiling_are_refused() {
        for (ms, bytes, turn) in [(0, 1, 1), (1, 0, 1), (1, 1, 0), (300_001, 1, 1), (1, (8 << 20) + 1, 1), (1, 1, 1001)]
        {
            assert!(std::panic::catch_unwind(|| Bounds::new(ms, bytes, turn)).is_err());
        }
        assert_eq!(Bounds::new(300_000, 8 << 20, 1000).to_string(), "300 s, 8 MiB, 1000 per turn");
    }
}

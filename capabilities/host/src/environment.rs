//! The wall clock and the operating system's randomness.

use std::time::{SystemTime, UNIX_EPOCH};

use capability_core::{Environment, Timestamp};

/// The operating system's clock and randomness.
///
/// Randomness fails closed. [`HostEnvironment::new`] refuses when there is none, so a host without it does not start.
/// Should it fail later, the call that needed it is unwound: no id made of zeros and none from a weaker generator ever
/// exists, and the call's audit ticket records it as `panicked`. Unwinding is not a panic of the guard: nothing but that
/// one call ends.
#[derive(Debug, Clone, Copy)]
pub struct HostEnvironment(());

/// The operating system gives no random bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRandomness;

impl core::fmt::Display for NoRandomness {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(
            "the operating system gives no random bytes, so no id or key can be made\n\
             help: allow this process the `getrandom` system call, or give it `/dev/urandom`",
        )
    }
}

impl core::error::Error for NoRandomness {}

impl HostEnvironment {
    /// The environment of this machine, once its randomness has answered.
    ///
    /// # Errors
    /// [`NoRandomness`].
    pub fn new() -> Result<Self, NoRandomness> {
        random::<32>().map(|_| Self(()))
    }
}

/// `N` random bytes.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

/// The wall clock. Before 1970 it is 1970.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

impl Environment for HostEnvironment {
    fn now(&self) -> Timestamp {
        now()
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        if getrandom::fill(bytes).is_err() {
            tracing::error!("the operating system gives no random bytes: this call ends here");
            std::panic::resume_unwind(Box::new(NoRandomness));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HostEnvironment;
    use capability_core::{Environment, Timestamp};

    #[test]
    fn the_clock_runs_and_bytes_differ() {
        let environment = HostEnvironment::new().unwrap();
        assert!(environment.now() > Timestamp::from_micros(1_700_000_000_000_000));
        let (mut one, mut two) = ([0; 32], [0; 32]);
        environment.fill_random(&mut one);
        environment.fill_random(&mut two);
        assert!(one != two && one != [0; 32]);
    }
}

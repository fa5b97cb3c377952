//! What the pages hand out and take back: tokens against forged requests, and stamps of what was shown and when.

use core::time::Duration;

use capability_core::Environment;
use ring::hmac;
use tokio::time::Instant;

use super::access::Kept;
use crate::hex;

/// What was shown, as one number: SHA-256 of everything that a card or a page says.
pub type Version = [u8; 32];

/// Keys what is handed out. A start of the host has a key of its own: what was handed out before is worth nothing after.
pub struct Seal {
    key: hmac::Key,
    started: Instant,
}

/// What a stamp says about the page it was on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// It showed this, so long ago.
    Shown(Duration),
    /// It showed something else, or was shown to somebody else, or is none.
    Other,
}

impl Seal {
    pub fn new(environment: &dyn Environment) -> Self {
        let mut bytes = [0; 32];
        environment.fill_random(&mut bytes);
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, &bytes), started: Instant::now() }
    }

    /// The token that a session's forms carry.
    pub fn csrf(&self, session: &Kept) -> String {
        hex::encode(hmac::sign(&self.key, &input(b"csrf", session, &[])).as_ref())
    }

    pub fn is_csrf(&self, session: &Kept, text: &str) -> bool {
        let Some(tag) = hex::decode::<32>(text) else { return false };
        hmac::verify(&self.key, &input(b"csrf", session, &[]), &tag).is_ok()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Says that this was shown to this session now.
    pub fn stamp(&self, session: &Kept, shown: &Version) -> String {
        let at = self.now();
        let tag = hmac::sign(&self.key, &input(b"stamp", session, &[&at.to_be_bytes(), shown]));
        format!("{at}.{}", hex::encode(tag.as_ref()))
    }

    /// What a stamp says, to the session that brings it, about what would be shown now.
    pub fn read(&self, session: &Kept, shown: &Version, text: &str) -> Stamp {
        let read = || {
            let (at, tag) = text.split_once('.')?;
            let number: u64 = at.parse().ok().filter(|number: &u64| number.to_string() == at)?;
            let tag = hex::decode::<32>(tag)?;
            let sealed = input(b"stamp", session, &[&number.to_be_bytes(), shown]);
            hmac::verify(&self.key, &sealed, &tag).ok()?;
            Some(Duration::from_millis(self.now().checked_sub(number)?))
        };
        read().map_or(Stamp::Other, Stamp::Shown)
    }
}

/// Every part is of one length but the word, which tells how many follow.
fn input(word: &[u8], session: &Kept, parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = [word, &[0], session].concat();
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::{Seal, Stamp};
    use crate::environment::HostEnvironment;

    #[tokio::test(start_paused = true)]
    async fn what_is_handed_out_counts_for_one_session_one_content_and_one_start() {
        let environment = HostEnvironment::new().unwrap();
        let (seal, other) = (Seal::new(&environment), Seal::new(&environment));
        let (mine, theirs) = ([1; 32], [2; 32]);
        let token = seal.csrf(&mine);
        assert!(seal.is_csrf(&mine, &token));
        assert!(!seal.is_csrf(&theirs, &token) && !other.is_csrf(&mine, &token));
        for forged in ["", "x", &token[1..], &token.to_uppercase(), &seal.stamp(&mine, &[3; 32])] {
            assert!(!seal.is_csrf(&mine, forged), "{forged}");
        }
        let stamp = seal.stamp(&mine, &[3; 32]);
        tokio::time::advance(Duration::from_millis(700)).await;
        assert_eq!(seal.read(&mine, &[3; 32], &stamp), Stamp::Shown(Duration::from_millis(700)));
        assert_eq!(seal.read(&mine, &[4; 32], &stamp), Stamp::Other);
        assert_eq!(seal.read(&theirs, &[3; 32], &stamp), Stamp::Other);
        assert_eq!(other.read(&mine, &[3; 32], &stamp), Stamp::Other);
        let (_, tag) = stamp.split_once('.').unwrap();
        for at in ["", "00", "+0", "-1", "700", "99999999999999999999"] {
            assert_eq!(seal.read(&mine, &[3; 32], &format!("{at}.{tag}")), Stamp::Other, "{at}");
        }
        assert_eq!(seal.read(&mine, &[3; 32], &token), Stamp::Other);
    }
}

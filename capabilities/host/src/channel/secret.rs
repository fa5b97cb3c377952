//! What a sender and this host share.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::secrets::wipe;

/// The shortest secret, in bytes: a shorter one can be guessed by whoever has one signed message.
pub const MIN_SECRET_BYTES: usize = 16;

/// A shared secret. It is compared in constant time, never shown, and overwritten when it is dropped.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Around its bytes; `None` for a secret that is shorter than [`MIN_SECRET_BYTES`], hence for an empty one.
    #[must_use]
    pub fn new(mut bytes: Vec<u8>) -> Option<Self> {
        if bytes.len() < MIN_SECRET_BYTES {
            wipe(&mut bytes);
            return None;
        }
        Some(Self(bytes))
    }

    /// Whether this is what was presented. Both are hashed under a key first, so that the time it takes tells neither where
    /// they differ nor how long the secret is.
    #[must_use]
    pub fn is(&self, presented: &[u8]) -> bool {
        let own = self.mac(&[&self.0]).map(|mac| mac.finalize().into_bytes());
        own.zip(self.mac(&[presented])).is_some_and(|(own, presented)| presented.verify_slice(&own).is_ok())
    }

    /// Whether this is the HMAC-SHA-256 of the parts, one after the other, under this secret.
    #[must_use]
    pub fn signed(&self, parts: &[&[u8]], tag: &[u8]) -> bool {
        self.mac(parts).is_some_and(|mac| mac.verify_slice(tag).is_ok())
    }

    /// A key of any length will do; were one not, nothing would be equal to anything under it.
    fn mac(&self, parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        parts.iter().for_each(|part| mac.update(part));
        Some(mac)
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl core::fmt::Debug for Secret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    fn secret() -> Secret {
        Secret::new(b"sixteen bytes of it".to_vec()).unwrap()
    }

    #[test]
    fn what_is_short_or_empty_is_no_secret() {
        assert!(Secret::new(vec![]).is_none() && Secret::new(vec![b'a'; 15]).is_none());
        assert!(Secret::new(vec![b'a'; 16]).is_some());
    }

    #[test]
    fn only_itself_is_equal() {
        assert!(secret().is(b"sixteen bytes of it"));
        for other in [&b""[..], b"sixteen bytes of i", b"sixteen bytes of it ", b"Sixteen bytes of it", b"\0"] {
            assert!(!secret().is(other));
        }
        assert!(!secret().signed(&[b"x"], b"") && !secret().signed(&[b"x"], &[0; 32]));
    }
}

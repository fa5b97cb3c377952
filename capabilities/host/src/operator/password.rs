//! Hashing and checking a password.

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};

use super::OperatorError;
use crate::environment::random;

/// The fewest characters a password may have.
pub const MIN_PASSWORD_CHARS: usize = 10;
/// The most bytes: hashing takes as long as its input is.
pub(super) const MAX_PASSWORD_BYTES: usize = 1024;

/// Memory in KiB, passes and lanes: above the least that OWASP recommends for Argon2id (19 MiB, 2, 1), and still below
/// half a second on a small board.
const MEMORY_KIB: u32 = 32 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// What a stored hash must have cost at least, in KiB and passes, and its size; a weaker one was not made here.
const LEAST_MEMORY_KIB: u32 = 19 * 1024;
const LEAST_PASSES: u32 = 2;
const HASH_BYTES: usize = 32;

fn argon2() -> Result<Argon2<'static>, OperatorError> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|_| OperatorError::Memory)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// The hash of a new password, as PHC text.
pub(super) fn hash(password: &str) -> Result<String, OperatorError> {
    if password.chars().count() < MIN_PASSWORD_CHARS {
        return Err(OperatorError::TooShort);
    }
    if password.len() > MAX_PASSWORD_BYTES {
        return Err(OperatorError::TooLong);
    }
    let salt = random::<16>()?;
    let hashed: PasswordHash =
        argon2()?.hash_password_with_salt(password.as_bytes(), &salt).map_err(|_| OperatorError::Memory)?;
    Ok(hashed.to_string())
}

/// Whether a password belongs to a stored hash; `None` when what is stored is no such hash.
pub(super) fn matches(password: &str, stored: &[u8]) -> Option<bool> {
    let hash = PasswordHash::new(core::str::from_utf8(stored).ok()?).ok()?;
    let params = Params::try_from(&hash).ok()?;
    let cheap = params.m_cost() < LEAST_MEMORY_KIB || params.t_cost() < LEAST_PASSES;
    let short = hash.hash.as_ref().is_none_or(|output| output.as_bytes().len() < HASH_BYTES);
    if hash.algorithm.as_str() != "argon2id" || cheap || short {
        return None;
    }
    // One that is too long is never the right one; hashing what is left of it costs the same.
    let bytes = password.as_bytes();
    let fits = bytes.len() <= MAX_PASSWORD_BYTES;
    let bytes = bytes.get(..MAX_PASSWORD_BYTES).unwrap_or(bytes);
    let same = Argon2::from(params).verify_password(bytes, &hash).is_ok();
    Some(same && fits)
}

//! From what a function returned to the bytes of its answer.

use core::marker::PhantomData;

use schemars::{Schema, SchemaGenerator};

use super::{Answer, BodyFault};
use crate::call::Call;
use crate::failure::IntoFailure;

/// What a function returns, told apart by type and not by name: the method of `Returned<Result<..>>` is found first,
/// aliases included, and every other type is served by the [`Plain`] that it dereferences to.
pub struct Returned<R>(Plain<R>);

/// See [`Returned`].
pub struct Plain<R>(PhantomData<fn() -> R>);

impl<R> Returned<R> {
    #[must_use]
    pub const fn new() -> Self {
        Self(Plain(PhantomData))
    }
}

impl<R> Default for Returned<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R> core::ops::Deref for Returned<R> {
    type Target = Plain<R>;

    fn deref(&self) -> &Plain<R> {
        &self.0
    }
}

impl<T, E> Returned<Result<T, E>> {
    /// What becomes of it.
    #[must_use]
    pub const fn answering(&self) -> Answering<Result<T, E>, T, E> {
        Answering::new(|returned| returned)
    }
}

impl<R> Plain<R> {
    /// What becomes of a result that cannot fail.
    #[must_use]
    pub const fn answering(&self) -> Answering<R, R, core::convert::Infallible> {
        Answering::new(Ok)
    }
}

/// How a returned `R` becomes an answer `T` or an error `E`. As with `Parsing`, the demand on both is made once, by
/// [`answer_schema`] and [`error`]; until it is met, the method of [`UnmetAnswer`] is found.
pub struct Answering<R, T, E>(UnmetAnswer<R, T, E>);

/// See [`Answering`].
pub struct UnmetAnswer<R, T, E>(fn(R) -> Result<T, E>);

impl<R, T, E> Answering<R, T, E> {
    const fn new(split: fn(R) -> Result<T, E>) -> Self {
        Self(UnmetAnswer(split))
    }
}

impl<R, T, E> core::ops::Deref for Answering<R, T, E> {
    type Target = UnmetAnswer<R, T, E>;

    fn deref(&self) -> &UnmetAnswer<R, T, E> {
        &self.0
    }
}

impl<R, T: Answer, E: IntoFailure> Answering<R, T, E> {
    /// Serialises what a function returned, stopping at the call's cap.
    ///
    /// # Errors
    /// [`BodyFault`], and which one.
    pub fn finish(&self, returned: R, call: &Call) -> Result<Vec<u8>, BodyFault> {
        let answer = (self.0.0)(returned).map_err(|error| BodyFault::Failed(error.into_failure()))?;
        let mut capped = Capped { bytes: Vec::with_capacity(128), left: call.max_result(), full: false };
        match serde_json::to_writer(&mut capped, &answer) {
            Ok(()) => Ok(capped.bytes),
            Err(_) if capped.full => Err(BodyFault::TooLarge),
            Err(_) => Err(BodyFault::Unserialisable),
        }
    }
}

impl<R, T, E> UnmetAnswer<R, T, E> {
    /// See [`Answering::finish`].
    ///
    /// # Errors
    /// Always.
    pub fn finish(&self, _: R, _: &Call) -> Result<Vec<u8>, BodyFault> {
        Err(BodyFault::Unserialisable)
    }
}

/// The schema of an answer, and the demand on it.
pub fn answer_schema<R, T: Answer, E>(_: Answering<R, T, E>, generator: &mut SchemaGenerator) -> Schema {
    generator.root_schema_for::<T>()
}

/// The demand on an error.
pub fn error<R, T, E: IntoFailure>(_: Answering<R, T, E>) {}

/// A buffer that refuses to grow beyond the cap: an oversized result never exists as a whole.
struct Capped {
    bytes: Vec<u8>,
    left: u64,
    full: bool,
}

impl std::io::Write for Capped {
    fn write(&mut self, chunk: &[u8]) -> std::io::Result<usize> {
        match self.left.checked_sub(chunk.len() as u64) {
            Some(left) => {
                self.left = left;
                self.bytes.extend_from_slice(chunk);
                Ok(chunk.len())
            }
            None => {
                self.full = true;
                Err(std::io::ErrorKind::FileTooLarge.into())
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

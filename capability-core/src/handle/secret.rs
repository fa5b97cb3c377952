//! A secret the operator bound.

use core::marker::PhantomData;
use std::fs::File;
use std::io::Read as _;

use super::{BrokerFault, BrokerReply, BrokerRequest, Handle, HandleKind, OnDevice, Reads, Targetless, sealed};
use crate::call::Call;

/// The longest secret, in bytes.
pub const MAX_SECRET_BYTES: usize = 4096;

/// A kind of secret: the name under which the operator binds it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of secret, and `#[capability]` lends no other: a kind is a type of yours that says which secret the operator binds\nhelp: write `impl capability_core::handle::SecretKind for {Self} {{ const NAME: &'static str = \"..\"; }}` for a type of yours",
    label = "not a kind of secret"
)]
pub trait SecretKind: Send + Sync + 'static {
    /// The configured name: `[a-z][a-z0-9_-]*`, at most 32 bytes. The audit holds this name, never the value.
    const NAME: &'static str;
}

/// The secret of kind `K`. It has no `Debug` of its value, no `Display` and no `Serialize`.
///
/// That it is bound to a call is recorded before the call's body runs. A host where the operator stored none does not serve
/// it: a capability that takes it is then refused at policy with `missing_runtime_binding`, visible to operators.
pub struct Secret<K>(Call, PhantomData<K>);

impl<K: SecretKind> Secret<K> {
    /// The value. It crosses to the body beside the data, through a pipe, and is nowhere kept.
    ///
    /// # Errors
    /// [`BrokerFault::CredentialUnreadable`] when there is none, or none that follows the rules;
    /// [`BrokerFault::Unconfirmed`] in a `preview`.
    pub async fn reveal(&self) -> Result<SecretText, BrokerFault> {
        match self.0.ask(BrokerRequest::Reveal { secret: K::NAME.to_owned() }).await? {
            BrokerReply::Descriptor(pipe) => SecretText::read(&pipe.into()),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

/// A secret's value: text of 1 to [`MAX_SECRET_BYTES`] bytes. It is overwritten when it is dropped; what it was copied into
/// with [`SecretText::expose`] is not.
///
/// ```compile_fail,E0277
/// fn shown(secret: capability_core::handle::SecretText) -> String {
///     format!("{secret:?}")
/// }
/// ```
///
/// ```compile_fail,E0277
/// fn shown(secret: capability_core::handle::SecretText) -> String {
///     secret.to_string()
/// }
/// ```
///
/// ```compile_fail,E0277
/// fn shown(secret: capability_core::handle::SecretText) -> String {
///     serde_json::to_string(&secret).unwrap()
/// }
/// ```
pub struct SecretText(String);

impl SecretText {
    fn read(pipe: &File) -> Result<Self, BrokerFault> {
        // Room for all of it from the start: a buffer that grows leaves copies behind.
        let mut value = Self(String::with_capacity(2 * MAX_SECRET_BYTES));
        pipe.take(MAX_SECRET_BYTES as u64 + 1)
            .read_to_string(&mut value.0)
            .map_err(|_| BrokerFault::CredentialUnreadable)?;
        if (1..=MAX_SECRET_BYTES).contains(&value.0.len()) { Ok(value) } else { Err(BrokerFault::CredentialUnreadable) }
    }

    /// The text itself, for the one place that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Drop for SecretText {
    fn drop(&mut self) {
        let mut bytes = core::mem::take(&mut self.0).into_bytes();
        bytes.clear();
        bytes.resize(bytes.capacity(), 0);
        // The compiler must believe that somebody looks at the zeros.
        core::hint::black_box(&bytes);
    }
}

impl<K> core::fmt::Debug for Secret<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secret")
    }
}

impl<K> sealed::Sealed for Secret<K> {}
impl<K: SecretKind> Handle for Secret<K> {
    const KIND: HandleKind = HandleKind::secret(K::NAME);
    type Reach = OnDevice;
    type Power = Reads;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone(), PhantomData)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_SECRET_BYTES, SecretText};
    use crate::handle::BrokerFault;
    use std::io::Write as _;

    fn through_a_pipe(value: &[u8]) -> Result<SecretText, BrokerFault> {
        let (read, mut write) = std::io::pipe().unwrap();
        write.write_all(value).unwrap();
        drop(write);
        SecretText::read(&std::os::fd::OwnedFd::from(read).into())
    }

    #[test]
    fn a_secret_is_text_within_bounds() {
        assert_eq!(through_a_pipe(b"sesame").unwrap().expose(), "sesame");
        let most = vec![b'x'; MAX_SECRET_BYTES];
        assert_eq!(through_a_pipe(&most).unwrap().expose().len(), MAX_SECRET_BYTES);
        for bad in [&b""[..], b"\xff", &[most.as_slice(), b"x"].concat()] {
            assert!(through_a_pipe(bad).is_err());
        }
    }
}

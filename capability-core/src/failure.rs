//! How a capability says that it could not do what was asked.

use core::fmt::Display;

/// A failed call, in the author's words or without them.
///
/// Any error type works as the `E` of a capability's `Result<T, E>`, `String` included; its text is private then, and the
/// caller reads a masked sentence. What the caller may read is marked [`Failure::public`]. The audit holds neither.
///
/// ```
/// use capability_core::Failure;
///
/// fn parse(text: &str) -> Result<u16, Failure> {
///     // Private: the caller is told that the call failed, not what stood in the file.
///     let port: u16 = text.trim().parse()?;
///     if port < 1024 {
///         // Public, and nothing has happened yet.
///         return Err(Failure::public("ports below 1024 are reserved").and_before_effect());
///     }
///     Ok(port)
/// }
/// assert!(parse("80").unwrap_err().is_before_effect());
/// assert_eq!(parse("x").unwrap_err().public_message(), None);
/// ```
pub struct Failure {
    public: Option<String>,
    before_effect: bool,
}

impl Failure {
    /// A failure whose sentence the caller may read, up to [`crate::executor::MAX_MESSAGE_BYTES`]. Put no secret into it.
    #[must_use]
    pub fn public(message: impl Into<String>) -> Self {
        Self { public: Some(message.into()), before_effect: false }
    }

    /// A failure whose cause stays inside the capability.
    #[must_use]
    pub const fn private() -> Self {
        Self { public: None, before_effect: false }
    }

    /// A private failure that happened before anything was changed, sent or stored: its invocation reports
    /// `effect: not_started` instead of `unknown`.
    #[must_use]
    pub const fn before_effect() -> Self {
        Self { public: None, before_effect: true }
    }

    /// The same failure, promised to have happened before any effect.
    #[must_use]
    pub fn and_before_effect(mut self) -> Self {
        self.before_effect = true;
        self
    }

    /// What the caller may read, if anything.
    #[must_use]
    pub fn public_message(&self) -> Option<&str> {
        self.public.as_deref()
    }

    pub(crate) fn into_public_message(self) -> Option<String> {
        self.public
    }

    /// Whether the author promised that nothing had happened yet.
    #[must_use]
    pub const fn is_before_effect(&self) -> bool {
        self.before_effect
    }
}

impl core::fmt::Debug for Failure {
    /// Without the message: it goes to the caller and nowhere else.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let words = if self.public.is_some() { "public" } else { "private" };
        write!(f, "Failure({words}{})", if self.before_effect { ", before effect" } else { "" })
    }
}

impl<E: core::error::Error> From<E> for Failure {
    /// Private: the error's text stays where it arose.
    fn from(_: E) -> Self {
        Self::private()
    }
}

/// What may stand as the `E` of a capability's `Result<T, E>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a `#[capability]`: an error is a `Failure` or anything that implements `Display`\nhelp: return `Result<_, capability_core::Failure>`",
    label = "not an error"
)]
pub trait IntoFailure {
    /// Keeps what was marked public, drops every other word.
    fn into_failure(self) -> Failure;
}

impl IntoFailure for Failure {
    fn into_failure(self) -> Failure {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<E: Display> IntoFailure for E {
    fn into_failure(self) -> Failure {
        Failure::private()
    }
}

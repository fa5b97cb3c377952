//! Who lets operators in.

use capability_core::approval::{Operator, OperatorMint};
use capability_core::audit::{SettingKey, SinkFault};
use capability_core::executor::Executor;
use capability_core::session::Subject;

use super::operator_name;
use crate::blocking::blocking;
use crate::error::SettingError;
use crate::operator::{Credential, OperatorError, OperatorToken, TerminalBinding};
use crate::web::Way;

/// Checks the operator credential, and admits whoever proves it. Setting and changing it and opening a session are recorded
/// before they count.
pub struct Operators {
    pub(super) mint: OperatorMint,
    pub(super) credential: Credential,
    pub(super) executor: Executor,
}

impl Operators {
    /// The credential itself, for questions that admit nobody.
    #[must_use]
    pub const fn credential(&self) -> &Credential {
        &self.credential
    }

    fn admit(&self) -> Operator {
        self.mint.admit(operator_name())
    }

    /// Sets the first password.
    ///
    /// # Errors
    /// [`SettingError`]; see [`Credential::setup`].
    pub async fn setup(&self, password: &str) -> Result<Operator, SettingError> {
        let new = blocking(|| self.credential.first(password))?;
        let operator = self.recorded(SettingKey::OperatorCredential).await?;
        self.credential.set_first(&new)?;
        Ok(operator)
    }

    /// Replaces the password and ends every session.
    ///
    /// # Errors
    /// [`SettingError`]; see [`Credential::change`].
    pub async fn change(&self, old: &str, new: &str) -> Result<Operator, SettingError> {
        let new = blocking(|| self.credential.next(old, new))?;
        let operator = self.recorded(SettingKey::OperatorCredential).await?;
        self.credential.replace(&new)?;
        Ok(operator)
    }

    /// Opens an operator session.
    ///
    /// # Errors
    /// [`SettingError`]; see [`Credential::login`]. A session that could not be recorded is not opened.
    pub async fn login(
        &self,
        password: &str,
        terminal: Option<TerminalBinding>,
    ) -> Result<(Operator, OperatorToken), SettingError> {
        let verified = blocking(|| self.credential.verified(password))?;
        let operator = self.recorded(SettingKey::OperatorSession).await?;
        let token = self.credential.open_session(&verified, terminal)?;
        Ok((operator, token))
    }

    /// An operator of the pages or of their interface, whose session the caller has just checked.
    pub(crate) fn admit_by(&self, way: Way) -> Operator {
        self.mint.admit(way.operator())
    }

    /// The person whom the configuration puts at a program, and whose own answer there the caller has just been told.
    pub(crate) fn admit_at_client(&self, person: &Subject) -> Operator {
        self.mint.admit(format!("{person}@mcp").parse().unwrap_or_else(|_| operator_name()))
    }

    /// An operator who answers by a channel, with a code that the caller has just used up.
    pub(crate) fn admit_by_channel(&self) -> Operator {
        self.mint.admit("operator@channel".parse().unwrap_or_else(|_| operator_name()))
    }

    /// Records that an operator's session of the pages begins: by a link that the caller has just used up, or by the
    /// password.
    ///
    /// # Errors
    /// [`SettingError`]; the session does not begin then.
    pub(crate) async fn enter(&self, password: Option<&str>) -> Result<(), SettingError> {
        if let Some(password) = password {
            blocking(|| self.credential.verify(password))?;
        }
        let operator = self.admit_by(Way::Page);
        self.executor.record_setting(&operator, SettingKey::OperatorSession).await?;
        Ok(())
    }

    async fn recorded(&self, key: SettingKey) -> Result<Operator, SettingError> {
        let operator = self.admit();
        self.executor.record_setting(&operator, key).await.map_err(|SinkFault| SettingError::Log)?;
        Ok(operator)
    }

    /// Admits by password, for one act. The hash takes tens of milliseconds by design; on a runtime of several threads,
    /// others are served meanwhile.
    ///
    /// # Errors
    /// [`OperatorError`]; see [`Credential::verify`].
    pub fn by_password(&self, password: &str) -> Result<Operator, OperatorError> {
        blocking(|| self.credential.verify(password)).map(|()| self.admit())
    }

    /// Admits by the token of a live session.
    ///
    /// # Errors
    /// [`OperatorError`]; see [`Credential::check`].
    pub fn by_token(&self, token: &OperatorToken) -> Result<Operator, OperatorError> {
        self.credential.check(token).map(|()| self.admit())
    }

    /// Admits whoever sits at a terminal where a session is alive.
    ///
    /// # Errors
    /// [`OperatorError::NoSession`] when none is.
    pub fn by_terminal(&self, terminal: &TerminalBinding) -> Result<Operator, OperatorError> {
        if self.credential.live_session(terminal)? { Ok(self.admit()) } else { Err(OperatorError::NoSession) }
    }
}

impl core::fmt::Debug for Operators {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Operators")
    }
}

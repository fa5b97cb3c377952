//! `[mail]`: the server behind `Mailer` handles.

use std::path::PathBuf;

use capability_core::handle::is_mail_address;
use serde::Deserialize;

use super::bindings::{EndpointTable, Wrong, login};
use crate::broker::{MailSettings, Place, Reach, Security};

/// `[mail]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailTable {
    /// Host and port.
    pub server: String,
    /// `tls`, unless it is said; `starttls`; or `none` for a server on this very machine.
    #[serde(default)]
    pub security: Security,
    /// A PEM file of the authorities that its certificate may come from, instead of the public ones.
    pub ca_file: Option<PathBuf>,
    /// The name its certificate is for, when that is not the host's.
    pub server_name: Option<String>,
    /// The name to sign in with.
    pub user: Option<String>,
    /// The file that holds the password.
    pub password_file: Option<PathBuf>,
    /// From whom letters come.
    pub from: String,
    /// To whom they may go: whole addresses, and every address of a host as `@example.org`.
    pub recipients: Vec<String>,
}

/// The most recipients that are listed.
const MAX_RECIPIENTS: usize = 256;

impl MailTable {
    pub(super) fn checked(&self) -> Result<MailSettings, Wrong> {
        if Place::of_authority(&self.server, 0).is_none_or(|place| place.port == 0) {
            return Err((
                "server",
                format!("`{}` is no place", self.server.escape_default()),
                "write host and port, as in `mail.example.org:465`",
            ));
        }
        // What an endpoint over TLS is, this is too; without TLS there is no certificate to speak of.
        let scheme = if self.security == Security::None { "http" } else { "https" };
        let table = EndpointTable {
            url: format!("{scheme}://{}", self.server),
            reach: Reach::External,
            ca_file: self.ca_file.clone(),
            server_name: self.server_name.clone(),
            auth: None,
            token_file: None,
            password_file: None,
        };
        let server = table.checked("mail").map_err(|(key, what, help)| {
            let key = if key == "url" { "server" } else { key };
            (key, what, help)
        })?;
        if self.security == Security::None && !server.is_near() {
            return Err((
                "security",
                format!("`{}` is on another machine, and `none` keeps nothing from anybody", self.server),
                "write `tls` or `starttls`",
            ));
        }
        let is_name = |user: &str| !user.is_empty() && !user.chars().any(char::is_control);
        let help = "write both: a name, and the whole path of a file that holds the password";
        let login = login(self.user.as_ref(), self.password_file.as_ref(), is_name, help)?;
        if !is_mail_address(&self.from) {
            return Err((
                "from",
                format!("`{}` is no plain mail address", self.from.escape_default()),
                "write it as in `house@example.org`",
            ));
        }
        if self.recipients.is_empty() || self.recipients.len() > MAX_RECIPIENTS {
            let what = match self.recipients.len() {
                0 => "nobody is listed: nothing could be sent".to_owned(),
                many => format!("{many} recipients are listed: at most {MAX_RECIPIENTS} are"),
            };
            return Err(("recipients", what, "list whoever may get letters, as in `[\"ada@example.org\"]`"));
        }
        let is_entry = |entry: &String| match entry.strip_prefix('@') {
            Some(host) => is_mail_address(&format!("a@{host}")),
            None => is_mail_address(entry),
        };
        if let Some(other) = self.recipients.iter().find(|entry| !is_entry(entry)) {
            return Err((
                "recipients",
                format!("`{}` is neither an address nor `@` and a host", other.escape_default()),
                "write `ada@example.org`, or `@example.org` for everybody there",
            ));
        }
        let (security, from, recipients) = (self.security, self.from.clone(), self.recipients.clone());
        Ok(MailSettings { server, security, login, from, recipients })
    }
}

//! Letters, through the mail server that the operator configured.

use serde::{Deserialize, Serialize};

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Changes, Handle, HandleFamily, HandleKind, OffDevice, Targetless, sealed,
};
use crate::call::Call;

/// The longest address, in bytes.
pub const MAX_ADDRESS_BYTES: usize = 254;
/// The longest subject, in bytes.
pub const MAX_SUBJECT_BYTES: usize = 400;
/// The longest text, in bytes.
pub const MAX_LETTER_BYTES: usize = 128 * 1024;

/// Sends letters from the household's address to people that the operator listed under `[mail]`.
///
/// The host speaks with the server and keeps the credential. A letter is an address, a subject and a plain text: there is no header
/// that a capability could add, and no second recipient.
///
/// A host without a configured server does not serve it: a capability that takes it is then refused at policy with
/// `missing_runtime_binding`, visible to operators.
///
/// ```
/// use capability_core::handle::{BrokerFault, Letter, Mailer};
///
/// async fn tell(mailer: &Mailer) -> Result<String, BrokerFault> {
///     let letter = Letter {
///         to: "ada@example.org".to_owned(),
///         subject: "The cellar".to_owned(),
///         text: "It is wet.\n".to_owned(),
///     };
///     mailer.send(letter).await
/// }
/// ```
#[derive(Debug)]
pub struct Mailer(Call);

impl Mailer {
    /// From whom a letter to `to` would come, and by which server, as one line. Nothing is sent; a `preview` may ask.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedAddress`], and [`BrokerFault::NotARecipient`] for somebody that the operator did not list.
    pub async fn sender(&self, to: &str) -> Result<String, BrokerFault> {
        if !is_mail_address(to) {
            return Err(BrokerFault::MalformedAddress);
        }
        match self.0.ask(BrokerRequest::Sender { to: to.to_owned() }).await? {
            BrokerReply::Sender(line) => Ok(line),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// Hands a letter over to the server, and gives the id under which it can be found.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedAddress`], [`BrokerFault::MalformedLetter`] and [`BrokerFault::CapExceeded`];
    /// [`BrokerFault::NotARecipient`]; [`BrokerFault::LetterRefused`] when the server does not take it;
    /// [`BrokerFault::Unavailable`], [`BrokerFault::TimedOut`], [`BrokerFault::Untrusted`],
    /// [`BrokerFault::CredentialRefused`] and [`BrokerFault::CredentialUnreadable`] when it cannot be spoken with: nothing was
    /// sent then. [`BrokerFault::Uncertain`] when the connection broke off after the letter: it may have been sent.
    pub async fn send(&self, letter: Letter) -> Result<String, BrokerFault> {
        letter.check()?;
        match self.0.ask(BrokerRequest::Send { letter }).await? {
            BrokerReply::Sent(id) => Ok(id),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl sealed::Sealed for Mailer {}
impl Handle for Mailer {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Mailer, "");
    type Reach = OffDevice;
    type Power = Changes;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone())
    }
}

/// What is sent.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// To whom, as `name@host`.
    pub to: String,
    /// What it is about, on one line.
    pub subject: String,
    /// What it says, as plain text.
    pub text: String,
}

impl Letter {
    /// Whether it is one.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedAddress`], [`BrokerFault::MalformedLetter`] for a control character other than the text's line breaks
    /// and tabs, [`BrokerFault::CapExceeded`] for too much of anything.
    pub fn check(&self) -> Result<(), BrokerFault> {
        let within = self.to.len() <= MAX_ADDRESS_BYTES
            && self.subject.len() <= MAX_SUBJECT_BYTES
            && self.text.len() <= MAX_LETTER_BYTES;
        if !within {
            return Err(BrokerFault::CapExceeded);
        }
        if !is_mail_address(&self.to) {
            return Err(BrokerFault::MalformedAddress);
        }
        // What ends a line for some readers and not for others ends a header for some of them.
        let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        let is_text = |c: char| matches!(c, '\n' | '\t') || !c.is_control();
        if self.subject.chars().any(breaks) || !self.text.chars().all(is_text) {
            return Err(BrokerFault::MalformedLetter);
        }
        Ok(())
    }
}

impl core::fmt::Debug for Letter {
    /// Without what it says, and to whom.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Letter({} bytes)", self.text.len())
    }
}

/// Whether a text is one address, written plainly: `name@host`, the name of letters, digits and `. _ % + -`, the host of labels. No
/// quotes, comments, lists, display names or literal addresses.
#[must_use]
pub fn is_mail_address(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else { return false };
    let dotted = |text: &str, plain: fn(u8) -> bool| {
        text.split('.').all(|part| {
            (1..=63).contains(&part.len()) && part.bytes().all(plain) && !part.starts_with('-') && !part.ends_with('-')
        })
    };
    text.len() <= MAX_ADDRESS_BYTES
        && name.len() <= 64
        && dotted(name, |b| b.is_ascii_alphanumeric() || b"_%+-".contains(&b))
        && dotted(host, |b| b.is_ascii_alphanumeric() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::{BrokerFault, Letter, is_mail_address};

    #[test]
    fn an_address_is_a_name_and_a_host_and_nothing_else() {
        for plain in ["a@b", "ada.lovelace+note@mail.example.org", "a_b%c@x-y.example"] {
            assert!(is_mail_address(plain), "{plain}");
        }
        for other in [
            "",
            "@",
            "a@",
            "@b",
            "a",
            "a@b@c",
            "a@b,c@d",
            "a b@c",
            "<a@b>",
            "A <a@b>",
            "\"a\"@b",
            "a@[127.0.0.1]",
            "a@b.",
            "a@.b",
            ".a@b",
            "a..b@c",
            "-a@b",
            "a@-b",
            "a@b\r\nbcc: c@d",
            "a@b\n",
            "é@b",
            "a@é",
            "a@b\u{202e}",
            "a@b(c)",
            "a!b@c",
        ] {
            assert!(!is_mail_address(other), "{other:?}");
        }
        assert!(!is_mail_address(&format!("a@{}", "b.".repeat(130) + "c")));
    }

    #[test]
    fn nothing_in_a_letter_ends_a_line_where_none_ends() {
        let letter =
            |subject: &str, text: &str| Letter { to: "a@b".into(), subject: subject.into(), text: text.into() }.check();
        assert_eq!(letter("plain \u{e9}", "lines\nand\ttabs\n.\n"), Ok(()));
        for subject in
            ["a\rb", "a\nbcc: c@d", "a\r\n\r\nbody", "a\0", "a\tb", "a\u{85}b", "a\u{2028}b", "a\u{7f}", "\u{1b}[2J"]
        {
            assert_eq!(letter(subject, ""), Err(BrokerFault::MalformedLetter), "{subject:?}");
        }
        for text in ["a\rb", "a\r\nb", "a\0", "\u{1b}[2J", "\u{85}"] {
            assert_eq!(letter("", text), Err(BrokerFault::MalformedLetter), "{text:?}");
        }
        assert_eq!(letter(&"x".repeat(401), ""), Err(BrokerFault::CapExceeded));
        assert_eq!(letter("", &"x".repeat((128 << 10) + 1)), Err(BrokerFault::CapExceeded));
    }
}

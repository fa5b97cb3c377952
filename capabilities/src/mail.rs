//! Letters to people.

use capability_core::handle::{BrokerFault, Letter, Mailer};
use capability_core::{Failure, Preview, capability};
use schemars::JsonSchema;
use serde::Serialize;

/// A letter that a mail server took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SentLetter {
    /// Its `Message-ID`, under which the server's log has it.
    pub message_id: String,
}

/// Sends one plain-text letter to a person that the operator listed, from the household's own address.
///
/// That the server took it does not say that it arrived.
#[capability(
    name = "mail.send",
    version = 1,
    side_effect = mutating,
    network = external,
    title = "Send a letter",
    target = address(to),
    risk = high,
    bounds(timeout = "30s"),
    check = is_letter,
    preview = from_whom
)]
pub async fn mail_send(
    mailer: &Mailer,
    /// One mail address, as in `ada@example.org`.
    #[schemars(length(min = 3, max = 254))]
    to: String,
    /// One line.
    #[schemars(length(min = 1, max = 200))]
    subject: String,
    /// Plain text.
    #[schemars(length(min = 1, max = 32768))]
    text: String,
) -> Result<SentLetter, Failure> {
    let sent = mailer.send(Letter { to, subject, text }).await;
    sent.map(|message_id| SentLetter { message_id }).map_err(|fault| match fault {
        // Only then may something have left.
        BrokerFault::Uncertain | BrokerFault::Ended => fault.into_public(),
        _ => fault.into_public().and_before_effect(),
    })
}

/// What could end a header, add one or name a second recipient is refused before anybody is asked.
fn is_letter(to: &str, subject: &str, text: &str) -> Result<(), BrokerFault> {
    Letter { to: to.to_owned(), subject: subject.to_owned(), text: text.to_owned() }.check()
}

/// From whom, and by which server. Somebody who is not listed is refused here.
async fn from_whom(mailer: &Mailer, to: &str, _: &str, _: &str) -> Result<Preview, Failure> {
    let text = mailer.sender(to).await.map_err(BrokerFault::into_public)?;
    Ok(Preview { text, ..Preview::default() })
}

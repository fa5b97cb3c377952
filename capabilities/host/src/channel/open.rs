//! From settings and secrets to channels that take something in.

use std::sync::Arc;

use capability_core::Environment;
use capability_core::audit::{ChannelKind, ChannelNamed, Sink};
use capability_core::handle::BrokerFault;
use capability_core::store::StoreFault;
use tokio::sync::watch;

use super::verify::{Verifier, email, github, hmac, matrix, mattermost, slack, standard, telegram, webhook};
use super::{Channel, Channels, MIN_SECRET_BYTES, Secret};
use crate::config::{ChannelSettings, Form};
use crate::protocol::Fault;
use crate::secrets::Secrets;
use crate::store::sqlite::SqliteInbox;

impl Channels {
    /// Opens every configured channel. One whose secret is missing or weak opens none of them: what an operator configured is
    /// there, or is said not to be.
    ///
    /// # Errors
    /// [`Fault`] names the channel and what would be right.
    pub(crate) async fn of(
        settings: &[ChannelSettings],
        secrets: &Secrets,
        inbox: SqliteInbox,
        sink: Arc<dyn Sink>,
        environment: Arc<dyn Environment>,
        arrived: watch::Sender<u64>,
    ) -> Result<Self, Fault> {
        let channels = settings.iter().map(|settings| channel(settings, secrets)).collect::<Result<_, _>>()?;
        let opened = Self::open(channels, inbox, sink, environment, arrived).await;
        opened.map_err(|StoreFault| {
            Fault::broken("what the channels have seen cannot be read", "look at the host with `capability doctor`")
        })
    }
}

fn channel(settings: &ChannelSettings, secrets: &Secrets) -> Result<Channel, Fault> {
    let verifier = verifier(settings, secrets)?;
    Ok(Channel {
        named: ChannelNamed { channel: settings.name.clone(), channel_kind: verifier.kind() },
        subject: settings.subject.clone(),
        verifier,
        per_minute: settings.per_minute,
    })
}

fn verifier(settings: &ChannelSettings, secrets: &Secrets) -> Result<Verifier, Fault> {
    let remembered = settings.remembered;
    let read = |as_secret: fn(Vec<u8>) -> Option<Secret>, help: &str| -> Result<Secret, Fault> {
        let name = settings.secret.as_deref().unwrap_or_default();
        let refused = |what: String| Fault::refused(what, help.to_owned());
        let text = secrets.text(name).map_err(|fault| {
            let what = match fault {
                BrokerFault::CredentialShort => "is too short",
                BrokerFault::SecretsFull => "is one more than the host can look for",
                _ => "is missing or empty",
            };
            refused(format!("the channel `{}` does not start: its secret `{name}` {what}", settings.name))
        })?;
        as_secret(text).ok_or_else(|| {
            let what = format!("the channel `{}` does not start: its secret `{name}` is too short", settings.name);
            refused(format!("{what} or of another form"))
        })
    };
    let plain = || {
        let help = format!(
            "write at least {MIN_SECRET_BYTES} characters into `secrets/NAME` in the data directory, mode 0600"
        );
        read(Secret::new, &help)
    };
    Ok(match settings.form.clone() {
        Form::Webhook { header, id_header } => {
            let proof = match (&settings.secret, header) {
                (None, _) => webhook::Proof::Nothing,
                (Some(_), None) => webhook::Proof::Bearer(plain()?),
                (Some(_), Some(header)) => webhook::Proof::Header(header, plain()?),
            };
            Verifier::Webhook(webhook::Settings { proof, id_header, remembered })
        }
        Form::Hmac { header, prefix, encoding, timestamp_header, id_header } => {
            let secret = plain()?;
            Verifier::Hmac(hmac::Settings { secret, header, prefix, encoding, timestamp_header, id_header, remembered })
        }
        Form::Standard => {
            let key = |mut text: Vec<u8>| {
                let key = standard::key(&text);
                crate::secrets::wipe(&mut text);
                key
            };
            let secret = read(key, "write `whsec_` and what follows it, as the sender shows it")?;
            Verifier::Standard(standard::Settings { secret, remembered })
        }
        Form::Github { repositories } => {
            Verifier::Github(github::Settings { secret: plain()?, repositories, remembered })
        }
        Form::Chat { kind, users, rooms } => {
            let secret = plain()?;
            match kind {
                ChannelKind::Mattermost => {
                    Verifier::Mattermost(mattermost::Settings { secret, users, channels: rooms, remembered })
                }
                ChannelKind::Matrix => Verifier::Matrix(matrix::Settings { secret, users, rooms, remembered }),
                // Of the kinds that have this form one is left.
                _ => Verifier::Slack(slack::Settings { secret, users, channels: rooms, remembered }),
            }
        }
        Form::Telegram { users, chats } => {
            Verifier::Telegram(telegram::Settings { secret: plain()?, users, chats, remembered })
        }
        Form::Email { senders: (addresses, domains), recipients, proof } => {
            let secret = settings.secret.is_some().then(plain).transpose()?;
            let senders = email::Senders { addresses, domains };
            let proof = proof.try_map(|name_server| {
                email::Keys::of(name_server).ok_or_else(|| {
                    Fault::refused(
                        format!("channel `{}`: this machine names no name server to look keys up with", settings.name),
                        "name one in `/etc/resolv.conf`, or write `name_server = \"IP:53\"` in the channel's table",
                    )
                })
            })?;
            Verifier::Email(Box::new(email::Settings { secret, proof, senders, recipients, remembered }))
        }
    })
}

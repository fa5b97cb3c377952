//! The channels by which something may come in from outside.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use axum::http::HeaderName;
use capability_core::audit::{ChannelKind, ChannelName};
use capability_core::handle::is_configured_name;
use capability_core::session::Subject;
use serde::Deserialize;

use super::bindings::Mistake;
use super::{Config, ConfigError, Span};
use crate::channel::replay::MOST_SEEN;
use crate::channel::verify::email::{Address, Finder, Proof, Senders, is_domain};
use crate::channel::verify::{Listed, Remembered, TRIED_AGAIN, hmac};

/// `[channels]`: where they listen, how long what they take in is kept, and each of them by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ChannelsTable {
    /// The address and port; `127.0.0.1:8724`, unless it is said.
    pub listen: Option<String>,
    /// How long entries are kept, at most 90 days; a week, unless it is said.
    pub retain: Option<Span>,
    /// `[channels.NAME]`.
    #[serde(flatten)]
    pub each: BTreeMap<String, ChannelTable>,
}

/// `[channels.NAME]`: one channel. Which keys there are depends on its kind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelTable {
    /// What kind of sender it is for.
    pub kind: ChannelKind,
    /// Whose inbox it leads to. It needs a manifest.
    pub subject: Subject,
    /// The name of the file in `secrets/` that holds what sender and host share.
    pub secret: Option<String>,
    /// A webhook without a secret: whoever reaches the address is let in.
    #[serde(default)]
    pub allow_unauthenticated: bool,
    /// The header with the token or signature.
    pub header: Option<String>,
    /// What stands before the signature.
    pub prefix: Option<String>,
    /// How the signature is written.
    pub encoding: Option<EncodingName>,
    /// The header with the time that is signed along.
    pub timestamp_header: Option<String>,
    /// The header by which a repetition is told from another message.
    pub id_header: Option<String>,
    /// How old a signed message may be, 10 s to 1 h; five minutes, unless it is said.
    pub window: Option<Span>,
    /// How long a message is known again, 1 m to 30 d; a day, unless it is said.
    pub remember: Option<Span>,
    /// How many messages it takes in a minute, 1 to 1 000 000; unless it is said, 120, or as many as can be known again for as long as
    /// `remember` says.
    pub per_minute: Option<u32>,
    /// Who may write: ids, or `"*"` for whoever the platform lets.
    pub users: Option<Vec<Id>>,
    /// Where they may write: ids of conversations, chats or rooms, or `"*"`.
    pub rooms: Option<Vec<Id>>,
    /// Those of `users` who may answer a question by a code that was shown to them.
    pub operators: Option<Vec<Id>>,
    /// The repositories whose events are taken in; all that have the secret, unless it is said.
    pub repositories: Option<Vec<String>>,
    /// Who may write mail: addresses, and `@domain` for everyone there.
    pub senders: Option<Vec<String>>,
    /// The addresses that mail may be for.
    pub recipients: Option<Vec<String>>,
    /// Whether signatures of mail are checked here, by the keys that domains publish.
    #[serde(default)]
    pub verify_dkim: bool,
    /// Whom to ask for those keys; the name servers of this machine, unless it is said.
    pub name_server: Option<SocketAddr>,
    /// The name by which your mail server signs what it found.
    pub authserv_id: Option<String>,
    /// How many `Received` fields of your own servers stand above what it found; none, unless it is said.
    pub hops: Option<u8>,
}

/// How a signature is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EncodingName {
    /// Lower-case hexadecimal digits.
    Hex,
    /// Base64 with its padding.
    Base64,
}

/// An id as its platform writes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// All of it, checked. What secrets hold is looked at when channels are opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelsSettings {
    /// Where they listen.
    pub listen: SocketAddr,
    /// How long entries are kept.
    pub retain: Duration,
    /// Each of them.
    pub(crate) each: Vec<ChannelSettings>,
}

/// One channel, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChannelSettings {
    /// Its name.
    pub name: ChannelName,
    /// Whose inbox it leads to.
    pub subject: Subject,
    /// How many messages it takes in a minute.
    pub per_minute: u32,
    /// How long a message counts, and is known again.
    pub remembered: Remembered,
    /// The name of its secret; none where it has none.
    pub secret: Option<String>,
    /// Those who may answer a question by a code, as the platform writes them.
    pub operators: BTreeSet<String>,
    /// What is said of its kind.
    pub form: Form,
}

impl ChannelSettings {
    /// Whether anybody who reaches it is let in.
    pub(crate) const fn is_open(&self) -> bool {
        self.secret.is_none() && matches!(self.form, Form::Webhook { .. })
    }
}

/// What is said of a channel of each kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// A token in a header, or nothing.
    Webhook { header: Option<String>, id_header: Option<String> },
    /// A signature.
    Hmac {
        header: String,
        prefix: String,
        encoding: hmac::Encoding,
        timestamp_header: Option<String>,
        id_header: Option<String>,
    },
    /// A signature as the specification says.
    Standard,
    /// GitHub's.
    Github { repositories: Listed },
    /// Slack's, Mattermost's or a homeserver's: who, and where.
    Chat { kind: ChannelKind, users: Listed, rooms: Listed },
    /// A bot's.
    Telegram { users: BTreeSet<i64>, chats: BTreeSet<i64> },
    /// Mail.
    Email { senders: SendersOf, recipients: BTreeSet<Address>, proof: Proof<Option<SocketAddr>> },
}

/// [`Senders`], which can be compared.
pub(crate) type SendersOf = (BTreeSet<Address>, BTreeSet<String>);

/// The port that nobody chose.
const PORT: u16 = 8724;
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const LONGEST_RETAINED: Duration = Duration::from_secs(90 * 24 * 60 * 60);
const MAX_CHANNELS: usize = 32;
const MAX_LISTED: usize = 1024;
const PER_MINUTE: u32 = 120;

impl Default for ChannelsSettings {
    fn default() -> Self {
        let listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT);
        Self { listen, retain: WEEK, each: Vec::new() }
    }
}

impl ChannelsSettings {
    pub(super) fn of(table: &ChannelsTable) -> Result<Self, Mistake> {
        let mistake = |key, what: String, help| Mistake { table: "channels".to_owned(), key, what, help };
        let listen = match &table.listen {
            None => Self::default().listen,
            Some(text) => text.parse().map_err(|_| {
                let what = format!("`{}` is no address and port", text.escape_default());
                mistake("listen", what, "write it as in `127.0.0.1:8724` or `[::1]:8724`")
            })?,
        };
        let retain = table.retain.map_or(WEEK, |span| span.0);
        if retain.is_zero() || retain > LONGEST_RETAINED {
            let what = "`retain` is no time, or more than 90 days".to_owned();
            return Err(mistake("retain", what, "write a span such as `7d`, or leave the key out for that"));
        }
        if table.each.len() > MAX_CHANNELS {
            let what = format!("{} channels are configured: at most {MAX_CHANNELS} are", table.each.len());
            return Err(mistake("", what, "keep those that are needed"));
        }
        let each = table.each.iter().map(|(name, table)| {
            let at = format!("channels.{name}");
            table.checked(name).map_err(|(key, what, help)| Mistake { table: at, key, what, help })
        });
        Ok(Self { listen, retain, each: each.collect::<Result<_, _>>()? })
    }

    /// Whether only this machine reaches them.
    #[must_use]
    pub const fn is_loopback(&self) -> bool {
        self.listen.ip().is_loopback()
    }
}

impl Config {
    /// Whether every channel leads to a subject with one manifest: here, or in a file of its own, and not in both.
    ///
    /// # Errors
    /// [`ConfigError`] names the channel and its subject.
    pub(crate) fn check_channels(&self, path: &Path, with_files: &[Subject]) -> Result<(), ConfigError> {
        for channel in &self.channels_settings.each {
            let (subject, name) = (&channel.subject, &channel.name);
            let (what, help) = match (self.subjects.contains_key(subject), with_files.contains(subject)) {
                (true, false) | (false, true) => continue,
                (false, false) => (
                    format!("`[channels.{name}]` leads to `{subject}`, which has no manifest"),
                    "write `[subjects.\"NAME\"]` with `capabilities = [..]`, which may be empty, or an `agent.yaml` in `subjects/NAME`",
                ),
                (true, true) => (
                    format!("`[channels.{name}]` leads to `{subject}`, which has two manifests, and neither counts"),
                    "take `[subjects.\"NAME\"]` out of this file, or `subjects/NAME/agent.yaml` away",
                ),
            };
            return Err(ConfigError::Wrong { path: path.to_owned(), line: None, what, help });
        }
        Ok(())
    }
}

impl ChannelSettings {
    /// Whether it may take in more than it can know again: whoever is let in could then keep everybody out for hours.
    pub(crate) fn outgrows_itself(&self) -> bool {
        u64::from(self.per_minute) > known_a_minute(self.form.kept_strictly(), self.remembered)
    }
}

impl Form {
    /// How many things a message is known by that may not be forgotten for as long as `remember` says, since whoever recorded it
    /// could send it once more.
    const fn kept_strictly(&self) -> u64 {
        match self {
            Self::Github { .. } | Self::Hmac { timestamp_header: None, .. } => 1,
            // Its signature, and its id.
            Self::Email { .. } => 2,
            Self::Hmac { .. } | Self::Standard | Self::Webhook { .. } | Self::Chat { .. } | Self::Telegram { .. } => 0,
        }
    }
}

/// How many messages a minute can all be known again that are known by so many things each.
fn known_a_minute(strictly: u64, remembered: Remembered) -> u64 {
    // What is signed with its time, or anew each time, is kept for no longer than an hour; each message by three things at most.
    let (by, seconds) = match strictly {
        0 => (3, TRIED_AGAIN.as_secs().min(remembered.keep.as_secs())),
        by => (by, remembered.keep.as_secs()),
    };
    (MOST_SEEN as u64).saturating_mul(60) / (by * seconds.max(60))
}

type Wrong = (&'static str, String, &'static str);

impl ChannelTable {
    fn checked(&self, name: &str) -> Result<ChannelSettings, Wrong> {
        let name: ChannelName = name.parse().map_err(|_| {
            let what = format!("`{}` is no channel's name", name.escape_default());
            ("", what, "name it with a lower-case letter and at most 31 more of `a-z 0-9 _ -`")
        })?;
        if self.subject == Subject::local() {
            let what = "it leads to `local`, which may ask for everything".to_owned();
            return Err(("subject", what, "name a subject with a manifest: what comes from outside is held to one"));
        }
        self.belongs()?;
        self.secrecy()?;
        let (form, remembered) = (self.form()?, self.remembered()?);
        Ok(ChannelSettings {
            name,
            subject: self.subject.clone(),
            per_minute: self.rate(known_a_minute(form.kept_strictly(), remembered))?,
            remembered,
            secret: self.secret.clone(),
            operators: self.operators()?,
            form,
        })
    }

    /// Whether each key that is written means something for this kind: one that does not was meant to.
    fn belongs(&self) -> Result<(), Wrong> {
        use ChannelKind::{Email, Github, Hmac, Matrix, Mattermost, Slack, Standard, Telegram, Webhook};
        let chats = [Slack, Mattermost, Telegram, Matrix];
        let keys: [(&'static str, bool, &[ChannelKind]); 16] = [
            ("allow_unauthenticated", self.allow_unauthenticated, &[Webhook]),
            ("header", self.header.is_some(), &[Webhook, Hmac]),
            ("prefix", self.prefix.is_some(), &[Hmac]),
            ("encoding", self.encoding.is_some(), &[Hmac]),
            ("timestamp_header", self.timestamp_header.is_some(), &[Hmac]),
            ("id_header", self.id_header.is_some(), &[Webhook, Hmac]),
            ("window", self.window.is_some(), &[Hmac, Standard, Slack]),
            ("users", self.users.is_some(), &chats),
            ("rooms", self.rooms.is_some(), &chats),
            // Whoever reads one message of a Mattermost server can write others.
            ("operators", self.operators.is_some(), &[Slack, Telegram, Matrix]),
            ("repositories", self.repositories.is_some(), &[Github]),
            ("senders", self.senders.is_some(), &[Email]),
            ("recipients", self.recipients.is_some(), &[Email]),
            ("verify_dkim", self.verify_dkim, &[Email]),
            ("name_server", self.name_server.is_some(), &[Email]),
            ("authserv_id", self.authserv_id.is_some() || self.hops.is_some(), &[Email]),
        ];
        for (key, written, kinds) in keys {
            if written && !kinds.contains(&self.kind) {
                let what = format!("`{key}` means nothing for a channel of the kind `{}`", self.kind);
                return Err((key, what, "leave the key out; which keys each kind has stands in the guide to channels"));
            }
        }
        if self.window.is_some() && self.kind == Hmac && self.timestamp_header.is_none() {
            let what = "`window` is about a signed time, and no `timestamp_header` says where it stands".to_owned();
            return Err(("window", what, "write `timestamp_header`, or leave `window` out"));
        }
        Ok(())
    }

    /// Whether a secret is named exactly where there has to be one.
    fn secrecy(&self) -> Result<(), Wrong> {
        match &self.secret {
            Some(_) if self.allow_unauthenticated => {
                let what = "`secret` and `allow_unauthenticated` are both written".to_owned();
                Err(("allow_unauthenticated", what, "leave out the one that is not meant"))
            }
            Some(name) if !is_configured_name(name) => {
                let what = format!("`{}` is no secret's name", name.escape_default());
                Err(("secret", what, "name a file in `secrets/`: lower-case letters, digits, `-` and `_`"))
            }
            // The owner's own socket is proof enough for mail.
            None if !self.allow_unauthenticated && self.kind != ChannelKind::Email => Err((
                "secret",
                "it has no `secret`, so anybody could write to it".to_owned(),
                "name the file in `secrets/` that holds it; a webhook that anybody may use says `allow_unauthenticated = true`",
            )),
            _ => Ok(()),
        }
    }

    fn operators(&self) -> Result<BTreeSet<String>, Wrong> {
        let users = self.users.as_deref().unwrap_or_default();
        let text = |id: &Id| match id {
            Id::Number(number) => number.to_string(),
            Id::Text(text) => text.clone(),
        };
        // By name: not everybody whom a platform lets write may answer.
        if let Some(id) = self.operators.iter().flatten().find(|id| !users.contains(id)) {
            let what = format!("`{}` is an operator and none of `users`", text(id).escape_default());
            return Err(("operators", what, "list those who may answer under `users` as well, each by its id"));
        }
        Ok(self.operators.iter().flatten().map(text).collect())
    }

    /// Nobody who writes nothing is given more than can be known again.
    fn rate(&self, known: u64) -> Result<u32, Wrong> {
        let most = u32::try_from(known.max(1)).unwrap_or(PER_MINUTE);
        match self.per_minute.unwrap_or(PER_MINUTE.min(most)) {
            rate @ 1..=1_000_000 => Ok(rate),
            other => {
                let what = format!("`per_minute` is {other}: it is 1 to 1000000");
                Err(("per_minute", what, "write a number in that range, or leave the key out"))
            }
        }
    }

    fn remembered(&self) -> Result<Remembered, Wrong> {
        let seconds = Duration::from_secs;
        // Without an id of the sender's own, the same body twice may well be two messages.
        let short = self.kind == ChannelKind::Webhook;
        let keep = self.remember.map_or(if short { seconds(300) } else { DAY }, |span| span.0);
        let window = self.window.map_or(seconds(300), |span| span.0);
        if !(seconds(60)..=seconds(30 * 24 * 60 * 60)).contains(&keep) {
            let what = "`remember` is less than a minute, or more than 30 days".to_owned();
            return Err(("remember", what, "write a span such as `1d`, or leave the key out"));
        }
        if !(seconds(10)..=seconds(60 * 60)).contains(&window) {
            let what = "`window` is less than 10 seconds, or more than an hour".to_owned();
            return Err(("window", what, "write a span such as `5m`, or leave the key out"));
        }
        Ok(Remembered { window, keep })
    }

    fn form(&self) -> Result<Form, Wrong> {
        Ok(match self.kind {
            ChannelKind::Webhook => Form::Webhook {
                header: header("header", self.header.as_deref())?,
                id_header: header("id_header", self.id_header.as_deref())?,
            },
            ChannelKind::Hmac => Form::Hmac {
                header: header("header", self.header.as_deref())?.ok_or((
                    "header",
                    "no `header` says where the signature stands".to_owned(),
                    "write its name, as in `X-Signature-256`",
                ))?,
                prefix: self.prefix.clone().unwrap_or_default(),
                encoding: match self.encoding {
                    None | Some(EncodingName::Hex) => hmac::Encoding::Hex,
                    Some(EncodingName::Base64) => hmac::Encoding::Base64,
                },
                timestamp_header: header("timestamp_header", self.timestamp_header.as_deref())?,
                id_header: header("id_header", self.id_header.as_deref())?,
            },
            ChannelKind::Standard => Form::Standard,
            ChannelKind::Github => {
                let repositories = match &self.repositories {
                    None => Listed::Anyone,
                    Some(names) => Listed::Only(names.iter().cloned().collect()),
                };
                Form::Github { repositories }
            }
            kind @ (ChannelKind::Slack | ChannelKind::Mattermost | ChannelKind::Matrix) => Form::Chat {
                kind,
                users: listed("users", self.users.as_deref())?,
                rooms: listed("rooms", self.rooms.as_deref())?,
            },
            ChannelKind::Telegram => Form::Telegram {
                users: numbers("users", self.users.as_deref())?,
                chats: numbers("rooms", self.rooms.as_deref())?,
            },
            ChannelKind::Email => self.mail()?,
        })
    }

    fn mail(&self) -> Result<Form, Wrong> {
        let missing = |key, help| (key, format!("no `{key}` is written, so no mail would be let in"), help);
        let odd = |key, text: &str| {
            let what = format!("`{}` is no address", text.escape_default());
            (key, what, "write it as in `me@example.com`; for `senders` also `@example.com`")
        };
        let senders = self.senders.as_deref().unwrap_or_default();
        let recipients = self.recipients.as_deref().unwrap_or_default();
        if senders.is_empty() || senders.len() > MAX_LISTED {
            return Err(missing("senders", "list who may write, as in `senders = [\"me@example.com\"]`"));
        }
        if recipients.is_empty() || recipients.len() > MAX_LISTED {
            return Err(missing(
                "recipients",
                "list the addresses it is for, as in `recipients = [\"agent@example.com\"]`",
            ));
        }
        let mut known = Senders::default();
        for text in senders {
            match text.strip_prefix('@') {
                Some(domain) if is_domain(domain) => drop(known.domains.insert(domain.to_ascii_lowercase())),
                Some(_) => return Err(odd("senders", text)),
                None => drop(known.addresses.insert(Address::parse(text).ok_or_else(|| odd("senders", text))?)),
            }
        }
        let recipients = recipients.iter().map(|text| Address::parse(text).ok_or_else(|| odd("recipients", text)));
        if self.name_server.is_some() && !self.verify_dkim {
            let what = "`name_server` is asked for keys, and no key is looked up".to_owned();
            return Err(("name_server", what, "write `verify_dkim = true`, or leave `name_server` out"));
        }
        let named = self.authserv_id.as_deref().filter(|id| is_domain(id));
        let finder = named.map(|id| Finder { authserv_id: id.to_ascii_lowercase(), hops: self.hops.unwrap_or(0) });
        let names_none = self.authserv_id.is_none() && self.hops.is_none();
        let proof = match finder {
            Some(finder) if self.verify_dkim => Proof::Both(finder, self.name_server),
            Some(finder) => Proof::Server(finder),
            None if self.verify_dkim && names_none => Proof::Here(self.name_server),
            None => {
                return Err((
                    "authserv_id",
                    "no `authserv_id` says whose findings are believed".to_owned(),
                    "write the name that stands first in the `Authentication-Results` that your mail server adds, or `verify_dkim = true` where it adds none",
                ));
            }
        };
        Ok(Form::Email {
            senders: (known.addresses, known.domains),
            recipients: recipients.collect::<Result<_, _>>()?,
            proof,
        })
    }
}

fn header(key: &'static str, name: Option<&str>) -> Result<Option<String>, Wrong> {
    let Some(name) = name else { return Ok(None) };
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
        (key, format!("`{}` is no header's name", name.escape_default()), "write it as in `X-Signature-256`")
    })?;
    Ok(Some(parsed.as_str().to_owned()))
}

/// A list that is written: nobody is on one that is not.
fn listed(key: &'static str, ids: Option<&[Id]>) -> Result<Listed, Wrong> {
    let ids = written(key, ids)?;
    if let [Id::Text(anyone)] = ids
        && anyone == "*"
    {
        return Ok(Listed::Anyone);
    }
    let texts = ids.iter().map(|id| match id {
        Id::Text(text) if text != "*" && !text.is_empty() => Ok(text.clone()),
        _ => Err((
            key,
            format!("`{key}` holds something that is no id"),
            "write ids as the platform shows them, or `[\"*\"]` alone for everybody",
        )),
    });
    Ok(Listed::Only(texts.collect::<Result<_, _>>()?))
}

fn numbers(key: &'static str, ids: Option<&[Id]>) -> Result<BTreeSet<i64>, Wrong> {
    let number = |id: &Id| match id {
        Id::Number(number) => Ok(*number),
        Id::Text(_) => Err((
            key,
            format!("`{key}` holds something that is no number"),
            "write numbers; the whole world can write to a bot, so there is no word for everybody",
        )),
    };
    written(key, ids)?.iter().map(number).collect()
}

fn written<'a>(key: &'static str, ids: Option<&'a [Id]>) -> Result<&'a [Id], Wrong> {
    match ids {
        Some(ids) if (1..=MAX_LISTED).contains(&ids.len()) => Ok(ids),
        _ => Err((
            key,
            format!("no `{key}` are written, so nobody would be let in"),
            "list the ids that may; where the platform's own members all may, write `[\"*\"]`",
        )),
    }
}

#[cfg(test)]
mod tests;

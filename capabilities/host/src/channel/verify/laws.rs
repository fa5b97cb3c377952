//! What every verifier keeps to on any input, for tests and fuzzers. Nothing here is covered by any promise.
#![doc(hidden)]

use core::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use capability_core::Timestamp;
use capability_core::audit::{ChannelKind, ChannelRule};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{
    Delivery, Listed, Remembered, Verifier, email, github, matrix, mattermost, slack, standard, telegram, webhook,
};
use crate::channel::{Event, Headers, MAX_BODY, Refused, Secret};
use crate::hex;

/// A secret for tests alone.
pub const SECRET: &str = "a secret for tests alone";
/// The time at which samples are looked at: the first second of July 2026.
pub const NOW: i64 = 1_782_864_000;
/// Every kind.
pub const KINDS: [ChannelKind; 9] = [
    ChannelKind::Webhook,
    ChannelKind::Hmac,
    ChannelKind::Standard,
    ChannelKind::Github,
    ChannelKind::Slack,
    ChannelKind::Mattermost,
    ChannelKind::Telegram,
    ChannelKind::Matrix,
    ChannelKind::Email,
];

/// A channel of a kind, open to some names that samples use. `None` only where the secret is too short.
#[must_use]
pub fn sample(kind: ChannelKind, secret: &str) -> Option<Verifier> {
    let text = secret.as_bytes();
    let remembered = Remembered { window: Duration::from_secs(300), keep: Duration::from_secs(24 * 60 * 60) };
    let secret = || Secret::new(text.to_vec());
    let only = |names: &[&str]| Listed::Only(names.iter().map(|name| (*name).to_owned()).collect());
    let address = |text| email::Address::parse(text).into_iter().collect();
    Some(match kind {
        ChannelKind::Webhook => Verifier::Webhook(webhook::Settings {
            proof: webhook::Proof::Bearer(secret()?),
            id_header: Some("webhook-id".to_owned()),
            remembered,
        }),
        ChannelKind::Hmac => Verifier::Hmac(super::hmac::Settings {
            secret: secret()?,
            header: "x-signature".to_owned(),
            prefix: "sha256=".to_owned(),
            encoding: super::hmac::Encoding::Hex,
            timestamp_header: Some("x-timestamp".to_owned()),
            id_header: Some("x-id".to_owned()),
            remembered,
        }),
        ChannelKind::Standard => {
            let secret = standard::key(text).or_else(secret)?;
            Verifier::Standard(standard::Settings { secret, remembered })
        }
        ChannelKind::Github => {
            Verifier::Github(github::Settings { secret: secret()?, repositories: Listed::Anyone, remembered })
        }
        ChannelKind::Slack => Verifier::Slack(slack::Settings {
            secret: secret()?,
            users: only(&["U2CERLKJA", "U1"]),
            channels: only(&["G8PSS9T3V", "C1"]),
            remembered,
        }),
        ChannelKind::Mattermost => Verifier::Mattermost(mattermost::Settings {
            secret: secret()?,
            users: only(&["u1"]),
            channels: Listed::Anyone,
            remembered,
        }),
        ChannelKind::Telegram => Verifier::Telegram(telegram::Settings {
            secret: secret()?,
            users: [7_000_000_001].into(),
            chats: [-1_001_234_567_890, 7_000_000_001].into(),
            remembered,
        }),
        ChannelKind::Matrix => Verifier::Matrix(matrix::Settings {
            secret: secret()?,
            users: only(&["@me:home.example"]),
            rooms: only(&["!room:home.example"]),
            remembered,
        }),
        ChannelKind::Email => Verifier::Email(Box::new(email::Settings {
            secret: secret(),
            proof: email::Proof::Server(email::Finder { authserv_id: "mx.home.example".to_owned(), hops: 0 }),
            senders: email::Senders { addresses: address("me@home.example"), domains: [].into() },
            recipients: address("agent@home.example"),
            remembered,
        })),
    })
}

/// Header fields by name and value; those that are none are left out.
#[must_use]
pub fn head<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> HeaderMap {
    let fields = fields.into_iter().filter_map(|(name, value)| {
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_bytes(value.as_bytes()).ok()?))
    });
    let mut map = HeaderMap::new();
    for (name, value) in fields {
        map.append(name, value);
    }
    map
}

fn tag(key: &[u8], parts: &[&[u8]]) -> Option<[u8; 32]> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    parts.iter().for_each(|part| mac.update(part));
    Some(mac.finalize().into_bytes().into())
}

/// The head with which whoever knows the secret would send this body.
#[must_use]
pub fn proven(kind: ChannelKind, body: &[u8], content_type: &str) -> HeaderMap {
    let key = SECRET.as_bytes();
    let at = NOW.to_string();
    let hex = |parts: &[&[u8]]| tag(key, parts).map(|tag| hex::encode(&tag)).unwrap_or_default();
    let bearer = ("authorization", format!("Bearer {SECRET}"));
    let mut fields = vec![("content-type", content_type.to_owned())];
    match kind {
        ChannelKind::Webhook | ChannelKind::Matrix | ChannelKind::Email => fields.push(bearer),
        ChannelKind::Hmac => {
            fields.push(("x-signature", format!("sha256={}", hex(&[at.as_bytes(), b".", body]))));
            fields.push(("x-timestamp", at));
        }
        ChannelKind::Standard => {
            use base64ct::Encoding as _;

            let tag = tag(key, &[b"msg_1.", at.as_bytes(), b".", body]).unwrap_or_default();
            fields.push(("webhook-signature", format!("v1,{}", base64ct::Base64::encode_string(&tag))));
            fields.push(("webhook-id", "msg_1".to_owned()));
            fields.push(("webhook-timestamp", at));
        }
        ChannelKind::Github => fields.push(("x-hub-signature-256", format!("sha256={}", hex(&[body])))),
        ChannelKind::Slack => {
            fields.push(("x-slack-signature", format!("v0={}", hex(&[b"v0:", at.as_bytes(), b":", body]))));
            fields.push(("x-slack-request-timestamp", at));
        }
        ChannelKind::Mattermost => {}
        ChannelKind::Telegram => fields.push(("x-telegram-bot-api-secret-token", SECRET.to_owned())),
    }
    head(fields.iter().map(|(name, value)| (*name, value.as_str())))
}

/// Looks at a body under a head, at [`NOW`].
///
/// # Errors
/// [`Refused`].
pub fn look(kind: ChannelKind, headers: &HeaderMap, path: &str, body: &[u8]) -> Result<Event, Refused> {
    let verifier = sample(kind, SECRET).ok_or(Refused::unauthenticated("no secret"))?;
    let recipient = Some("agent@home.example");
    let delivery = Delivery { headers: Headers::new(headers), path, recipient, by_owner: false, body };
    super::verify(&verifier, delivery, Timestamp::from_micros(NOW * 1_000_000))
}

/// Any bytes: kind, content type, then head or body. Whoever has no proof is refused as such or as what is no message at all;
/// whoever has one gets an answer, always the same, and nobody larger than the cap.
pub fn hold_for_delivery(raw: &[u8]) {
    let (choice, rest) = raw.split_first().unwrap_or((&0, &[]));
    let kind = KINDS.get(usize::from(choice & 0x0f) % KINDS.len()).copied().unwrap_or(ChannelKind::Webhook);
    let content_type = match choice >> 4 & 3 {
        0 | 1 => "application/json",
        2 => "application/x-www-form-urlencoded",
        _ => "text/plain; charset=utf-8",
    };
    let body = rest.get(..rest.len().min(MAX_BODY)).unwrap_or_default();
    let path = if kind == ChannelKind::Matrix { "_matrix/app/v1/transactions/1" } else { "" };
    if choice >> 6 == 0 {
        // The head is theirs, and they do not know the secret.
        let (fields, body) = match body.iter().position(|byte| *byte == 0) {
            Some(at) => (body.get(..at).unwrap_or_default(), body.get(at + 1..).unwrap_or_default()),
            None => (body, &[][..]),
        };
        let fields = String::from_utf8_lossy(fields);
        let fields = fields.lines().filter_map(|line| line.split_once(':'));
        let refused = look(kind, &head(fields.map(|(name, value)| (name, value.trim()))), path, body);
        let is_refused =
            matches!(&refused, Err(Refused { rule: ChannelRule::Unauthenticated | ChannelRule::Malformed, .. }));
        assert!(is_refused, "{kind}: {refused:?}");
        return;
    }
    let headers = proven(kind, body, content_type);
    let event = look(kind, &headers, path, body);
    assert_eq!(event, look(kind, &headers, path, body), "{kind}");
    let Ok(event) = event else { return };
    assert!(
        !event.replays.is_empty() || event.items.iter().all(|item| item.message.is_err()),
        "{kind}: nothing tells it from another one"
    );
    for message in event.items.iter().filter_map(|item| item.message.as_ref().ok()) {
        // Entities and letters of another alphabet can grow when they are decoded, by a small factor.
        assert!(message.text.len() <= 4 * MAX_BODY + 16, "{kind}: {message:?}");
        assert!(!message.text.contains(SECRET) || body.windows(SECRET.len()).any(|w| w == SECRET.as_bytes()));
    }
}

//! Every kind, by what its vendor publishes, by one message as it should be, and by what goes wrong with it.

mod mail;

use std::collections::BTreeMap;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use capability_core::Timestamp;
use capability_core::audit::{ChannelKind, ChannelRule};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::laws::{KINDS, NOW, SECRET, head, hold_for_delivery, look, proven, sample};
use super::{Delivery, Verifier, verify};
use crate::channel::{Acknowledgement, Event, Headers, Message, Refused, Secret};
use mail::{FOUND, REST, TRACE};

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// The vectors of vendors and standards, for every test of them.
#[derive(Deserialize)]
struct Vectors {
    request: Vec<Published>,
    hmac: Vec<Tagged>,
}

#[derive(Deserialize)]
struct Published {
    kind: ChannelKind,
    secret: String,
    at: i64,
    body: String,
    headers: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Tagged {
    key: String,
    data: String,
    tag: String,
}

fn vectors() -> Vectors {
    toml::from_str(include_str!("../../../../../tests/fixtures/channels/vectors.toml")).unwrap()
}

impl Published {
    fn head(&self) -> HeaderMap {
        head(self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    fn look(&self, headers: &HeaderMap, body: &[u8], at: i64) -> Result<Event, Refused> {
        let verifier = sample(self.kind, &self.secret).unwrap();
        let delivery = Delivery { headers: Headers::new(headers), path: "", recipient: None, by_owner: false, body };
        verify(&verifier, delivery, Timestamp::from_micros(at * 1_000_000))
    }
}

fn rule(looked: Result<Event, Refused>) -> ChannelRule {
    looked.unwrap_err().rule
}

/// The rule by which the one item of an event is refused.
fn item(looked: Result<Event, Refused>) -> ChannelRule {
    let event = looked.unwrap();
    assert_eq!(event.items.len(), 1);
    event.items[0].message.clone().unwrap_err().rule
}

fn message(looked: Result<Event, Refused>) -> Message {
    looked.unwrap().items[0].message.clone().unwrap()
}

#[test]
fn what_vendors_publish_is_accepted_and_nothing_near_it() {
    for published in vectors().request {
        let (headers, body, at) = (published.head(), published.body.clone().into_bytes(), published.at);
        let body = body.as_slice();
        let event = published.look(&headers, body, at).unwrap();
        assert!(event.items[0].message.is_ok() && !event.replays.is_empty(), "{}", published.kind);
        // One bit of the body, of a header's value, or of the secret.
        for at_byte in 0..body.len() {
            let mut changed = body.to_vec();
            changed[at_byte] ^= 1;
            assert_eq!(rule(published.look(&headers, &changed, at)), ChannelRule::Unauthenticated);
        }
        assert_eq!(rule(published.look(&headers, &[body, b" "].concat(), at)), ChannelRule::Unauthenticated);
        for (name, value) in published.headers.iter().filter(|(name, _)| *name != "content-type") {
            for at_byte in 0..value.len() {
                let mut changed = value.clone().into_bytes();
                changed[at_byte] ^= 1;
                let mut with = headers.clone();
                let name: HeaderName = name.parse().unwrap();
                // A line break is no value at all.
                let Ok(value) = HeaderValue::from_bytes(&changed) else { continue };
                with.insert(name, value);
                let refused = rule(published.look(&with, body, at));
                let expected = [ChannelRule::Unauthenticated, ChannelRule::Malformed];
                assert!(expected.contains(&refused), "{refused}: {with:?}");
            }
            let mut without = headers.clone();
            without.remove(name.as_str());
            assert_eq!(rule(published.look(&without, body, at)), ChannelRule::Unauthenticated, "{name}");
            let mut twice = headers.clone();
            twice.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
            assert_eq!(rule(published.look(&twice, body, at)), ChannelRule::Unauthenticated, "{name}");
        }
        let secret = published.secret.replace(['a', 'S', 'M'], "b");
        let other = Published { secret, ..published };
        assert_eq!(rule(other.look(&headers, body, at)), ChannelRule::Unauthenticated);
    }
}

#[test]
fn the_tags_are_those_of_the_standard() {
    let byte = |text: &str, at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    let bytes = |text: &str| (0..text.len()).step_by(2).map(|at| byte(text, at)).collect();
    for Tagged { key, data, tag } in vectors().hmac {
        // The shortest of them are below what this host takes for a secret.
        let (key, data, tag): (Vec<u8>, Vec<u8>, Vec<u8>) = (bytes(&key), bytes(&data), bytes(&tag));
        match Secret::new(key.clone()) {
            Some(secret) => assert!(secret.signed(&[&data], &tag) && !secret.signed(&[&data, b"x"], &tag)),
            None => assert!(key.len() < 16),
        }
    }
}

/// Five minutes back and one ahead, by the time that is signed.
#[test]
fn what_is_signed_too_long_ago_or_for_later_is_stale() {
    let published = vectors().request;
    for published in published.iter().filter(|one| matches!(one.kind, ChannelKind::Slack | ChannelKind::Standard)) {
        let look = |later: i64| published.look(&published.head(), published.body.as_bytes(), published.at + later);
        for later in [0, 10, 300, -60] {
            assert!(look(later).is_ok(), "{later}");
        }
        for later in [301, 240 + 300, -61, -240, 1_000_000] {
            assert_eq!(rule(look(later)), ChannelRule::Stale, "{later}");
        }
    }
}

/// A header that says now does not make an old message new.
#[test]
fn freshness_is_read_from_what_is_signed() {
    for kind in [ChannelKind::Slack, ChannelKind::Standard, ChannelKind::Hmac] {
        let name = match kind {
            ChannelKind::Slack => "x-slack-request-timestamp",
            ChannelKind::Standard => "webhook-timestamp",
            _ => "x-timestamp",
        };
        let mut headers = proven(kind, b"{}", JSON);
        headers.insert(name, (NOW - 1).to_string().parse().unwrap());
        assert_eq!(rule(look(kind, &headers, "", b"{}")), ChannelRule::Unauthenticated, "{kind}");
    }
}

/// A weaker or missing algorithm is no signature, nor is one that no header can hold.
#[test]
fn a_signature_has_one_spelling() {
    let published = vectors().request;
    let github = published.iter().find(|one| one.kind == ChannelKind::Github).unwrap();
    let value = &github.headers["x-hub-signature-256"];
    let hex = value.strip_prefix("sha256=").unwrap();
    for other in [
        hex.to_owned(),
        format!("sha1={hex}"),
        format!("SHA256={hex}"),
        format!("sha256={}", hex.to_uppercase()),
        format!("sha256={hex}00"),
        format!("sha256={}", &hex[2..]),
        format!("sha256= {hex}"),
        format!("sha256=sha256={hex}"),
        "sha256=é".to_owned(),
        "sha256=".to_owned(),
        String::new(),
    ] {
        let headers = head([("x-hub-signature-256", other.as_str())]);
        let refused = github.look(&headers, github.body.as_bytes(), github.at);
        assert_eq!(rule(refused), ChannelRule::Unauthenticated, "{other}");
    }
    let sha1 = head([("x-hub-signature", value.as_str())]);
    assert_eq!(rule(github.look(&sha1, github.body.as_bytes(), github.at)), ChannelRule::Unauthenticated);
}

/// `id.time.body` is one text: an id with a full stop would be another id with another body under the same signature.
#[test]
fn what_is_signed_cannot_be_cut_elsewhere() {
    let body = b"1782864000.{\"x\":1}";
    let whole = proven(ChannelKind::Standard, body, JSON);
    assert!(look(ChannelKind::Standard, &whole, "", body).is_ok());
    let mut shifted = whole.clone();
    shifted.insert("webhook-id", "msg_1.1782864000".parse().unwrap());
    assert_eq!(rule(look(ChannelKind::Standard, &shifted, "", b"{\"x\":1}")), ChannelRule::Malformed);
    let mut signed = whole.clone();
    signed.insert("webhook-timestamp", "1782864000.1782864000".parse().unwrap());
    assert_eq!(rule(look(ChannelKind::Standard, &signed, "", b"{\"x\":1}")), ChannelRule::Malformed);
}

#[test]
fn a_key_that_is_being_changed_signs_twice() {
    let mut headers = proven(ChannelKind::Standard, b"{}", JSON);
    let right = headers.get("webhook-signature").unwrap().to_str().unwrap().to_owned();
    let other = format!("v1,{}=", "A".repeat(43));
    for (value, is) in [
        (format!("{other} {right}"), true),
        (format!("v1a,xyz {right} v2,abc"), true),
        (other.clone(), false),
        (right.replace("v1,", "v1a,"), false),
        (right.replace("v1,", ""), false),
        (format!("{} {right}", [other.as_str(); 8].join(" ")), false),
    ] {
        headers.insert("webhook-signature", value.parse().unwrap());
        assert_eq!(look(ChannelKind::Standard, &headers, "", b"{}").is_ok(), is, "{value}");
    }
}

#[test]
fn a_token_is_told_in_a_header_and_nowhere_else() {
    let headers = proven(ChannelKind::Webhook, b"ding", "text/plain");
    assert_eq!(message(look(ChannelKind::Webhook, &headers, "", b"ding")).text, "ding");
    for value in ["", "Bearer", "Bearer ", "Basic abc", "Bearer wrong", &format!("Bearer {SECRET} "), SECRET] {
        let headers = head([("authorization", value)]);
        assert_eq!(rule(look(ChannelKind::Webhook, &headers, "", b"ding")), ChannelRule::Unauthenticated, "{value}");
    }
    assert_eq!(rule(look(ChannelKind::Webhook, &head([]), SECRET, b"ding")), ChannelRule::Malformed);
}

/// What is packed is signed packed, and nothing is unpacked.
#[test]
fn a_packed_body_is_refused() {
    for kind in KINDS {
        let mut headers = proven(kind, b"{}", JSON);
        headers.insert("content-encoding", "gzip".parse().unwrap());
        let path = if kind == ChannelKind::Matrix { "_matrix/app/v1/transactions/1" } else { "" };
        assert!(look(kind, &headers, path, b"{}").is_err(), "{kind}");
    }
}

fn slack(body: &Value) -> Result<Event, Refused> {
    let body = body.to_string();
    look(ChannelKind::Slack, &proven(ChannelKind::Slack, body.as_bytes(), JSON), "", body.as_bytes())
}

fn slack_event(event: &Value) -> Result<Event, Refused> {
    slack(&json!({ "token": "x", "type": "event_callback", "event_id": "Ev1", "event": event }))
}

#[test]
fn slack_brings_members_messages_and_commands() {
    let posted = json!({ "type": "message", "user": "U1", "channel": "C1", "text": "hi", "ts": "1.2" });
    let event = slack_event(&posted).unwrap();
    assert_eq!((event.replays.len(), event.relayed), (3, true));
    let said = message(Ok(event));
    assert_eq!((said.sender.as_deref(), said.place.as_deref(), said.text.as_str()), (Some("U1"), Some("C1"), "hi"));
    // One post that mentions the app comes as two events, and is one.
    let mention = json!({ "type": "app_mention", "user": "U1", "channel": "C1", "text": "hi", "ts": "1.2" });
    let mention = slack(&json!({ "type": "event_callback", "event_id": "Ev2", "event": mention })).unwrap();
    assert!(slack_event(&posted).unwrap().replays.iter().any(|one| mention.replays.contains(one)));

    let with = |key: &str, value: Value| {
        let mut other = posted.clone();
        other[key] = value;
        slack_event(&other)
    };
    assert_eq!(item(with("user", json!("U2"))), ChannelRule::NotListed);
    assert_eq!(item(with("channel", json!("C2"))), ChannelRule::NotListed);
    assert_eq!(item(with("subtype", json!("bot_message"))), ChannelRule::Unsupported);
    assert_eq!(item(with("bot_id", json!("B1"))), ChannelRule::Unsupported);
    assert_eq!(item(with("type", json!("reaction_added"))), ChannelRule::Unsupported);
    assert_eq!(item(with("text", Value::Null)), ChannelRule::Malformed);
}

#[test]
fn slack_is_told_its_challenge_only_when_it_signed_it() {
    let asked = json!({ "type": "url_verification", "token": "x", "challenge": "3eZbrw1aB" });
    let event = slack(&asked).unwrap();
    assert_eq!(event.acknowledgement, Acknowledgement::Challenge("3eZbrw1aB".to_owned()));
    assert!(event.items.is_empty());
    let unsigned = look(ChannelKind::Slack, &head([("content-type", JSON)]), "", asked.to_string().as_bytes());
    assert_eq!(rule(unsigned), ChannelRule::Unauthenticated);
    for odd in ["<script>\n", "", "é", &"x".repeat(257)] {
        assert_eq!(rule(slack(&json!({ "type": "url_verification", "challenge": odd }))), ChannelRule::Malformed);
    }
}

#[test]
fn a_property_or_field_that_stands_there_twice_is_refused() {
    let body = r#"{"type":"event_callback","event_id":"E","event":{"type":"message","user":"U1","user":"U2","channel":"C1","text":"x"}}"#;
    let headers = proven(ChannelKind::Slack, body.as_bytes(), JSON);
    assert_eq!(rule(look(ChannelKind::Slack, &headers, "", body.as_bytes())), ChannelRule::Malformed);
    let body = b"command=/x&user_id=U1&user_id=U2&channel_id=C1&text=x";
    let headers = proven(ChannelKind::Slack, body, FORM);
    assert_eq!(rule(look(ChannelKind::Slack, &headers, "", body)), ChannelRule::Malformed);
    let body = format!("token={SECRET}&token=other&user_id=u1&channel_id=c&text=x&post_id=p");
    assert_eq!(rule(mattermost(&body, FORM)), ChannelRule::Malformed);
    let body =
        format!(r#"{{"token":"other","token":"{SECRET}","user_id":"u1","channel_id":"c","text":"x","post_id":"p"}}"#);
    assert_eq!(rule(mattermost(&body, JSON)), ChannelRule::Malformed);
}

fn mattermost(body: &str, kind: &str) -> Result<Event, Refused> {
    look(ChannelKind::Mattermost, &head([("content-type", kind)]), "", body.as_bytes())
}

#[test]
fn mattermost_has_its_token_in_the_body_and_none_of_it_is_handed_on() {
    let fields =
        [("token", SECRET), ("user_id", "u1"), ("channel_id", "c1"), ("post_id", "p1"), ("text", "hi + there")];
    let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let document = json!(fields.into_iter().collect::<BTreeMap<_, _>>()).to_string();
    for (body, kind) in [(&form, FORM), (&document, JSON)] {
        let said = message(mattermost(body, kind));
        assert_eq!((said.sender.as_deref(), said.text.as_str()), (Some("u1"), "hi + there"));
        let whole = format!("{:?} {:?} {:?} {}", said.sender, said.place, said.title, said.text);
        assert!(!whole.contains(SECRET));
        let with = |from: &str, to: &str| mattermost(&body.replace(from, to), kind);
        assert_eq!(item(with("u1", "u2")), ChannelRule::NotListed);
        assert_eq!(rule(with("tests", "nests")), ChannelRule::Unauthenticated);
        assert_eq!(rule(with("p1", "")), ChannelRule::Malformed);
    }
    assert_eq!(rule(mattermost("{}", JSON)), ChannelRule::Malformed);
    assert_eq!(rule(mattermost(&document, "text/plain")), ChannelRule::Malformed);
}

fn telegram(update: &Value) -> Result<Event, Refused> {
    let body = update.to_string();
    look(ChannelKind::Telegram, &proven(ChannelKind::Telegram, body.as_bytes(), JSON), "", body.as_bytes())
}

#[test]
fn telegram_lets_listed_users_write_in_listed_chats() {
    const ME: i64 = 7_000_000_001;
    let update = json!({ "update_id": 1, "message": {
        "message_id": 5, "date": NOW, "text": "lights off", "from": { "id": ME, "is_bot": false, "first_name": "Me" },
        "chat": { "id": -1_001_234_567_890_i64, "type": "supergroup" } } });
    let said = message(telegram(&update));
    assert_eq!((said.sender.as_deref(), said.forwarded), (Some("7000000001"), false));
    let with = |path: &str, value: Value| {
        let mut other = update.clone();
        let (parent, key) = path.rsplit_once('/').unwrap();
        other.pointer_mut(parent).unwrap()[key] = value;
        other
    };
    assert_eq!(item(telegram(&with("/message/from", json!({ "id": 1 })))), ChannelRule::NotListed);
    assert_eq!(item(telegram(&with("/message/chat", json!({ "id": 1 })))), ChannelRule::NotListed);
    assert_eq!(item(telegram(&with("/message/from", json!({ "id": ME, "is_bot": true })))), ChannelRule::NotListed);
    assert_eq!(item(telegram(&with("/message/sender_chat", json!({ "id": ME })))), ChannelRule::NotListed);
    assert_eq!(item(telegram(&with("/message/from", Value::Null))), ChannelRule::NotListed);
    assert_eq!(item(telegram(&with("/message/text", Value::Null))), ChannelRule::Unsupported);
    // Numbers are exact: no double between them.
    assert_eq!(
        item(telegram(&with("/message/from", json!({ "id": 7_000_000_001_u64 + (1 << 32) })))),
        ChannelRule::NotListed
    );
    assert_eq!(rule(telegram(&with("/message/from", json!({ "id": 7.000000001e9 })))), ChannelRule::Malformed);
    // Who is forwarded has written nothing here.
    let origin = json!({ "type": "user", "sender_user": { "id": ME } });
    assert!(message(telegram(&with("/message/forward_origin", origin.clone()))).forwarded);
    let mut stranger = with("/message/from", json!({ "id": 1 }));
    stranger["message"]["forward_origin"] = origin;
    assert_eq!(item(telegram(&stranger)), ChannelRule::NotListed);
    // The same message under another number is the same one.
    let again = telegram(&with("/update_id", json!(2))).unwrap();
    assert!(telegram(&update).unwrap().replays.iter().any(|one| again.replays.contains(one)));
    for kind in ["edited_message", "channel_post", "my_chat_member"] {
        let mut other = json!({ "update_id": 3 });
        other[kind] = update["message"].clone();
        assert_eq!(item(telegram(&other)), ChannelRule::Unsupported, "{kind}");
    }
}

#[test]
fn a_pressed_button_is_whose_finger_it_was() {
    let press = |user: i64| {
        json!({ "update_id": 9, "callback_query": { "id": "q1", "from": { "id": user }, "data": "off",
            "message": { "message_id": 1, "chat": { "id": 7_000_000_001_i64 }, "from": { "id": 7_000_000_001_i64 } } } })
    };
    assert_eq!(message(telegram(&press(7_000_000_001))).text, "off");
    assert_eq!(item(telegram(&press(8))), ChannelRule::NotListed);
}

fn matrix(path: &str, events: &Value) -> Result<Event, Refused> {
    let body = json!({ "events": events }).to_string();
    look(ChannelKind::Matrix, &proven(ChannelKind::Matrix, body.as_bytes(), JSON), path, body.as_bytes())
}

#[test]
fn matrix_events_are_looked_at_one_by_one() {
    let said = |id: &str, room: &str, sender: &str, kind: &str| {
        json!({ "type": kind, "event_id": id, "room_id": room, "sender": sender, "origin_server_ts": 1,
            "content": { "msgtype": "m.text", "body": "hi" } })
    };
    let (room, me) = ("!room:home.example", "@me:home.example");
    let path = "_matrix/app/v1/transactions/42";
    let mut replaced = said("$6", room, me, "m.room.message");
    replaced["content"]["m.relates_to"] = json!({ "rel_type": "m.replace" });
    let mut notice = said("$7", room, me, "m.room.message");
    notice["content"]["msgtype"] = json!("m.notice");
    let events = json!([
        said("$1", room, me, "m.room.message"),
        said("$2", "!other:home.example", me, "m.room.message"),
        said("$3", room, "@you:home.example", "m.room.message"),
        said("$4", room, me, "m.room.encrypted"),
        said("$5", room, me, "m.room.member"),
        replaced,
        notice,
        { "type": "m.room.message" },
        7,
    ]);
    let event = matrix(path, &events).unwrap();
    let rules: Vec<_> =
        event.items.iter().map(|item| item.message.as_ref().err().map(|refused| refused.rule)).collect();
    let (not_listed, unsupported, malformed) =
        (ChannelRule::NotListed, ChannelRule::Unsupported, ChannelRule::Malformed);
    let expected = [not_listed, not_listed, unsupported, unsupported, unsupported, unsupported, malformed, malformed];
    assert_eq!(rules, [None].into_iter().chain(expected.map(Some)).collect::<Vec<_>>());
    assert_eq!(event.acknowledgement, Acknowledgement::EmptyObject);

    let one = json!([said("$1", room, me, "m.room.message")]);
    for other in [
        "",
        "transactions/42",
        "_matrix/app/v1/transactions/",
        "_matrix/app/v1/transactions/a/b",
        "_matrix/app/v1/transactions/a%2f",
        "_matrix/app/v1/users/x",
    ] {
        assert_eq!(rule(matrix(other, &one)), ChannelRule::Malformed, "{other}");
    }
    let unproven = look(ChannelKind::Matrix, &head([]), path, b"{\"events\":[]}");
    assert_eq!(rule(unproven), ChannelRule::Unauthenticated);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    /// Any bytes, proven and not.
    #[test]
    fn any_bytes_are_answered(choice in any::<u8>(), rest in prop::collection::vec(any::<u8>(), 0..512)) {
        hold_for_delivery(&[&[choice][..], &rest].concat());
    }

    /// Messages as they should be, damaged.
    #[test]
    fn damaged_messages_are_answered(
        which in 0..6_usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 0..6),
    ) {
        let mail = [FOUND, TRACE, REST, "\r\nhi"].concat();
        let (kind, body) = [
            (4, r#"{"type":"event_callback","event_id":"E","event":{"type":"message","user":"U1","channel":"C1","text":"x","ts":"1"}}"#.to_owned()),
            (5, format!(r#"{{"token":"{SECRET}","user_id":"u1","channel_id":"c","text":"x","post_id":"p"}}"#)),
            (6, r#"{"update_id":1,"message":{"message_id":5,"text":"x","from":{"id":7000000001},"chat":{"id":7000000001}}}"#.to_owned()),
            (7, r#"{"events":[{"type":"m.room.message","event_id":"$1","room_id":"!room:home.example","sender":"@me:home.example","content":{"msgtype":"m.text","body":"x"}}]}"#.to_owned()),
            (8, mail),
            (3, r#"{"repository":{"full_name":"a/b"},"sender":{"login":"c"}}"#.to_owned()),
        ][which].clone();
        let mut body = body.into_bytes();
        for (at, byte, how) in damage {
            let at = at.index(body.len());
            match how {
                0 => body[at] = byte,
                1 => body.insert(at, byte),
                _ => body.truncate(at.max(1)),
            }
        }
        hold_for_delivery(&[&[kind | 0x40][..], &body].concat());
    }
}

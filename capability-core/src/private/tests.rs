//! Generated code at work: parsing, `check`, `preview`, the call, and what becomes of its result.
#![expect(
    unsafe_code,
    reason = "in the crate that declares the registry, an entry's section attribute counts as written here"
)]

use std::sync::Arc;

use super::{ArgumentRefusal, BodyFault, CAPABILITIES, PreparedBody};
use crate::audit::InvocationId;
use crate::call::Call;
use crate::contract::Class;
use crate::failure::Failure;
use crate::future::BoxFuture;
use crate::handle::{Broker, BrokerFault, BrokerReply, BrokerRequest, Clock, Context, HandleKind, Lease, Terms};
use crate::preview::Preview;
use crate::session::{Ending, Mode, Origin, SessionId, SessionIdentity, Subject, TurnId};
use crate::{Capability, capability};

/// Answers a subject's words back, as often as asked.
#[capability(
    name = "private.echo",
    version = 1,
    side_effect = read_only,
    network = local,
    bounds(max_result = "64 B"),
    check = sensible,
    preview = show
)]
async fn echo(context: &Context, text: String, #[serde(default = "once")] times: u8) -> Result<String, Failure> {
    tokio::task::yield_now().await;
    match text.as_str() {
        "public" => Err(Failure::public("in words")),
        "private" => Err(std::io::Error::other("secret").into()),
        text => Ok(format!("{}:{}", context.subject(), text.repeat(usize::from(times)))),
    }
}

const fn once() -> u8 {
    1
}

fn sensible(text: &str, times: &u8) -> Result<(), String> {
    if *times > 100 { Err(format!("{text} {times} times is too often")) } else { Ok(()) }
}

async fn show(context: &Context, text: &str, times: &u8) -> Result<Preview, std::fmt::Error> {
    tokio::task::yield_now().await;
    if text == "private" {
        Err(std::fmt::Error)
    } else {
        Ok(Preview { text: format!("{} {times}", context.turn().0), rests_on: vec![], ..Preview::default() })
    }
}

#[capability(name = "private.plain", version = 1, side_effect = read_only, network = local)]
fn plain(clock: &Clock, #[args] words: Words) -> Vec<String> {
    let _ = clock;
    words.words
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Words {
    words: Vec<String>,
}

/// Does not serialise: JSON has no such key.
#[capability(name = "private.unserialisable", version = 1, side_effect = read_only, network = local)]
fn unserialisable() -> Odd {
    Odd
}

#[derive(schemars::JsonSchema)]
struct Odd;

impl serde::Serialize for Odd {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("no"))
    }
}

#[capability(name = "private.locked", version = 1, side_effect = mutating, network = external, locked)]
fn locked(text: String) -> String;

struct Nobody;

impl Broker for Nobody {
    fn serves(&self, _: HandleKind, _: Class) -> bool {
        true
    }

    fn serve(&self, _: &Lease, _: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        Box::pin(core::future::ready(Err(BrokerFault::Unserved)))
    }
}

fn entry(name: &str) -> &'static Capability {
    CAPABILITIES.iter().find(|entry| entry.name().as_str() == name).unwrap()
}

fn prepare(name: &str, arguments: &str) -> Result<Box<dyn PreparedBody>, ArgumentRefusal> {
    entry(name).code().prepare.unwrap()(arguments.as_bytes())
}

fn call(name: &str) -> Call {
    let identity = SessionIdentity {
        id: SessionId::from_bytes([1; 16]),
        subject: Subject::local(),
        mode: Mode::Live,
        origin: Origin::Model,
        turn: TurnId(7),
    };
    let entry = entry(name);
    let lease = Lease::new(Terms {
        entry,
        invocation: InvocationId([2; 16]),
        identity: Arc::new(identity),
        target: None,
        broker: Arc::new(Nobody),
        max_result: entry.bounds().max_result(),
        foreign: None,
        asks: None,
        ending: Ending::default(),
        rules: None,
        shown: std::sync::OnceLock::new(),
        elsewhere: false,
    });
    Call::new(lease)
}

async fn run(name: &str, arguments: &str) -> Result<String, BodyFault> {
    let body = prepare(name, arguments).map_err(|refusal| panic!("{refusal:?}")).unwrap();
    body.run(call(name)).await.map(|bytes| String::from_utf8(bytes).unwrap())
}

#[tokio::test]
async fn a_call_gets_its_handles_and_its_arguments() {
    assert_eq!(run("private.echo", r#"{"text":"a","times":3}"#).await.unwrap(), r#""local:aaa""#);
    assert_eq!(run("private.echo", r#"{"text":"a"}"#).await.unwrap(), r#""local:a""#);
    assert_eq!(run("private.plain", r#"{"words":["a","b"]}"#).await.unwrap(), r#"["a","b"]"#);
}

#[tokio::test]
async fn a_result_above_its_cap_is_not_made() {
    // The cap is on the JSON text: quotes and escapes count.
    assert!(run("private.echo", r#"{"text":"a","times":56}"#).await.is_ok_and(|text| text.len() == 64));
    assert!(matches!(run("private.echo", r#"{"text":"a","times":57}"#).await, Err(BodyFault::TooLarge)));
    assert!(matches!(run("private.echo", r#"{"text":"\u0000","times":10}"#).await, Err(BodyFault::TooLarge)));
    assert!(matches!(run("private.unserialisable", "{}").await, Err(BodyFault::Unserialisable)));
}

#[tokio::test]
async fn failures_keep_what_was_marked_public() {
    let failure = |end| match end {
        Err(BodyFault::Failed(failure)) => failure,
        other => panic!("{other:?}"),
    };
    assert_eq!(failure(run("private.echo", r#"{"text":"public"}"#).await).public_message(), Some("in words"));
    assert_eq!(failure(run("private.echo", r#"{"text":"private"}"#).await).public_message(), None);
}

#[test]
fn typed_parsing_and_the_check_refuse_before_anything_runs() {
    for wrong in [r#"{"text":1}"#, "{}", r#"{"text":"a","other":1}"#, r#"{"text":"a","times":256}"#] {
        assert!(matches!(prepare("private.echo", wrong), Err(ArgumentRefusal::Typed(_))), "{wrong}");
    }
    let Err(ArgumentRefusal::Check(words)) = prepare("private.echo", r#"{"text":"a","times":101}"#) else {
        panic!("the check refuses")
    };
    assert_eq!(words, "a 101 times is too often");
}

#[tokio::test]
async fn a_preview_gives_the_body_back() {
    let body = prepare("private.echo", r#"{"text":"a","times":2}"#).ok().unwrap();
    assert!(body.previews());
    let (body, preview) = body.preview(call("private.echo")).await;
    assert_eq!(preview.unwrap().text, "7 2");
    assert_eq!(body.run(call("private.echo")).await.unwrap(), br#""local:aa""#);

    let body = prepare("private.echo", r#"{"text":"private"}"#).ok().unwrap();
    assert!(body.preview(call("private.echo")).await.1.is_err());

    let body = prepare("private.plain", r#"{"words":[]}"#).ok().unwrap();
    assert!(!body.previews());
    let (body, preview) = body.preview(call("private.plain")).await;
    assert!(preview.is_err());
    assert_eq!(body.run(call("private.plain")).await.unwrap(), b"[]");
}

#[test]
fn what_is_locked_has_nothing_to_run() {
    assert!(entry("private.locked").code().prepare.is_none());
}

/// The functions are still the author's.
#[tokio::test]
async fn annotated_functions_are_callable() {
    let context = <Context as crate::handle::Handle>::lend(&call("private.echo"));
    assert_eq!(echo(&context, "a".to_owned(), 1).await.unwrap(), "local:a");
}

/// Whoever asks, and by whatever way: the entry's declaration decides, and the lease's end.
#[tokio::test]
async fn a_call_asks_for_what_its_entry_declares_until_its_lease_ends() {
    let call = call("private.plain");
    let ask = |request| call.ask(request);
    assert_eq!(ask(BrokerRequest::Now).await.err(), Some(BrokerFault::Unserved), "it came as far as the broker");
    assert_eq!(ask(BrokerRequest::Device).await.err(), Some(BrokerFault::Undeclared));
    assert_eq!(ask(BrokerRequest::Connect).await.err(), Some(BrokerFault::Undeclared));
    let ending = call.lease().ending();
    assert!(!ending.has_come());
    drop(crate::handle::LeaseHolder::of(call.lease()));
    ending.comes().await;
    assert_eq!(ask(BrokerRequest::Now).await.err(), Some(BrokerFault::Ended));
}

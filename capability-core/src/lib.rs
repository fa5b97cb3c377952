//! Capabilities: typed functions that a machine may ask for, and the one executor that every request passes.
//!
//! An annotated function is a registry entry. Its contract is fixed when it compiles: name, version, schemas, side effect,
//! network, bounds. Whether a person must confirm a call is computed from side effect and network; there is nothing an
//! author or a caller could write to change it. [`capability`] is the attribute, [`Executor`] is what runs the entries, and
//! [`handle`] is the only way in which a running capability reaches anything.
//!
//! # Where to start
//!
//! | you want to | look at |
//! |---|---|
//! | write a capability | [`capability`]: keys, parameters, results; then [`handle`] and [`Failure`] |
//! | have a binary that runs it | `capability_host::main!();` of the crate `capability-host` |
//! | pin what callers rely on | [`contracts!`] |
//! | build a host of your own | the example below, then [`executor`] |
//!
//! This is a whole capability. It stays an ordinary function, and tests call it as one:
//!
//! ```
//! use capability_core::capability;
//!
//! /// Turns a lamp on or off.
//! #[capability(name = "lamp.switch", version = 1, side_effect = mutating, network = external)]
//! fn lamp_switch(lamp: String, on: bool) -> String {
//!     format!("{lamp} is {}", if on { "on" } else { "off" })
//! }
//!
//! assert_eq!(lamp_switch("porch".to_owned(), true), "porch is on");
//! ```
//!
//! # From a function to an outcome
//!
//! What a host does, by hand: most authors never write this. The example builds an executor whose stores, audit sink and clock are all in memory, asks for something that is read-only
//! and local, and reads what the log knows of it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use capability_core::approval::{DigestKey, GrantLimits};
//! use capability_core::audit::MemorySink;
//! use capability_core::contract::Class;
//! use capability_core::executor::{InlineRunner, Limits, Parts, Setup};
//! use capability_core::handle::{Broker, BrokerFault, BrokerReply, BrokerRequest, HandleKind, Lease};
//! use capability_core::policy::MemoryPolicy;
//! use capability_core::session::{Declarations, Mode, Origin, SessionId, SessionIdentity, Subject, TurnId};
//! use capability_core::store::{MemoryApprovals, MemoryGrants, MemoryHistory, MemoryOptIns, MemoryTurns};
//! use capability_core::{BoxFuture, Code, Environment, Executor, Proposal, Registry, Stage, Timestamp, capability};
//!
//! /// Adds two integers.
//! #[capability(name = "math.add", version = 1, side_effect = read_only, network = local)]
//! fn add(
//!     /// One.
//!     a: i64,
//!     /// Another.
//!     b: i64,
//! ) -> Result<i64, String> {
//!     a.checked_add(b).ok_or_else(|| "the sum does not fit".to_owned())
//! }
//!
//! /// A clock that stands still, and randomness for an example only.
//! struct Still;
//! impl Environment for Still {
//!     fn now(&self) -> Timestamp {
//!         Timestamp::from_micros(0)
//!     }
//!     fn fill_random(&self, bytes: &mut [u8]) {
//!         bytes.fill(7);
//!     }
//! }
//!
//! /// A host that lends nothing.
//! struct Nothing;
//! impl Broker for Nothing {
//!     fn serves(&self, _: HandleKind, _: Class) -> bool {
//!         false
//!     }
//!     fn serve(&self, _: &Lease, _: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
//!         Box::pin(core::future::ready(Err(BrokerFault::Unserved)))
//!     }
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let sink = Arc::new(MemorySink::new());
//!     let Parts { executor, sessions, operators: _ } = Executor::build(Setup {
//!         // Only entries of listed packages are taken; this one's own.
//!         registry: Registry::collect(&[env!("CARGO_PKG_NAME")])?,
//!         runner: Arc::new(InlineRunner),
//!         broker: Arc::new(Nothing),
//!         sink: Arc::clone(&sink) as _,
//!         approvals: Arc::new(MemoryApprovals::new()),
//!         turns: Arc::new(MemoryTurns::new()),
//!         opt_ins: Arc::new(MemoryOptIns::new()),
//!         grants: Arc::new(MemoryGrants::new()),
//!         grant_limits: GrantLimits::off(),
//!         history: Arc::new(MemoryHistory::new()),
//!         policy: Arc::new(MemoryPolicy::new()),
//!         providers: Arc::new(capability_core::provider::NoProviders),
//!         environment: Arc::new(Still),
//!         key: DigestKey::new([7; 32]),
//!         limits: Limits::default(),
//!     });
//!
//!     // The host says who asks; nothing a caller sends becomes a session.
//!     let session = sessions.open(
//!         SessionIdentity {
//!             id: SessionId::from_bytes([1; 16]),
//!             subject: Subject::local(),
//!             mode: Mode::Live,
//!             origin: Origin::Model,
//!             turn: TurnId(1),
//!         },
//!         Declarations::everything(),
//!     );
//!
//!     let outcome = executor.invoke(&session, Proposal::new("math.add", 1, r#"{"a":40,"b":2}"#)).await;
//!     assert_eq!(outcome.result(), Some("42"));
//!
//!     // A confirmation in the arguments is an unknown argument, and is refused where arguments are.
//!     let smuggled = Proposal::new("math.add", 1, r#"{"a":40,"b":2,"confirmed":true}"#);
//!     let refused = executor.invoke(&session, smuggled).await;
//!     assert_eq!((refused.stage(), refused.code()), (Stage::Validate, Some(Code::SchemaViolation)));
//!
//!     // Both are on record, with the size of what was answered and without a word of it.
//!     let log = sink.lines();
//!     assert!(log.contains(r#""result_bytes":2"#) && log.contains(r#""code":"schema_violation""#));
//!     assert!(!log.contains("confirmed"));
//!     Ok(())
//! }
//! ```
//!
//! A host for real use is the crate `capability-host`: durable stores, a chained log, an operator credential and a command
//! line around this executor.
//!
//! # The parts
//!
//! | module | what it holds |
//! |---|---|
//! | [`contract`] | the entry and its types: class, bounds, name, target, schemas, contract lists |
//! | [`registry`] | the entries of a build: sorted, each once, from listed packages only |
//! | [`handle`] | authority as parameters, and the [`handle::Broker`] behind it |
//! | [`session`] | who asks: identity, mode, declarations |
//! | [`policy`] | the verdict: the maximum over pure contributors |
//! | [`approval`] | a person's answer to one pending call, bound to it by a keyed digest |
//! | [`executor`] | the six stages as typestates, outcomes, runners |
//! | `self_model` | what a session can do at one moment, what it takes, and what is out of reach and why (feature `analysis`) |
//! | [`observation`] | an outcome as data: with where it comes from, in a frame its content cannot leave |
//! | [`provider`] | who executes a call |
//! | [`surface`] | the tools a model sees |
//! | [`redact`] | takes secrets out of whatever goes to somebody |
//! | [`audit`] | the one event type, and the sink that takes records |
//! | [`store`] | what the executor remembers, as traits with implementations in memory |
//!
//! # What this crate does not do
//!
//! It opens no file, socket or process, starts no thread and reads no wall clock. All of that is handed to it in
//! [`executor::Setup`]. A body that runs under [`executor::InlineRunner`] is not isolated, and its deadline binds only where
//! it awaits; the runner says so ([`executor::Guarantees`]) and every record carries it.

// Unit tests use the macro as an author does, and it names this crate.
#[cfg(test)]
extern crate self as capability_core;

#[path = "private.rs"]
#[doc(hidden)]
pub mod __private;
pub mod approval;
mod arguments;
pub mod audit;
mod call;
mod code;
pub mod contract;
pub mod executor;
mod failure;
mod future;
pub mod handle;
mod hex;
pub mod observation;
pub mod policy;
mod preview;
use __private as private;
#[path = "arguments/laws.rs"]
#[doc(hidden)]
pub mod __validation;
pub mod provider;
pub mod redact;
pub mod registry;
#[cfg(feature = "analysis")]
pub mod self_model;
pub mod session;
pub mod skill;
pub mod store;
pub mod surface;
mod time;

pub use arguments::{
    ArgumentCode, ArgumentFault, Arguments, MAX_ARGUMENT_BYTES, MAX_ARGUMENT_DEPTH, ResultFault, nearest,
};
pub use call::{Call, CallTerms};
#[doc = include_str!("capability.md")]
pub use capability_macros::capability;
pub use code::{Code, Stage};
pub use contract::{Bounds, Capability, Class, Confirmation, Network, SideEffect};
pub use executor::{Executor, Outcome, Proposal};
pub use failure::{Failure, IntoFailure};
pub use future::{BoxFuture, Soon, SoonFuture};
pub use handle::{
    AgentRuns, Agents, Clock, Context, Device, Endpoint, Http, Journal, Mailer, OwnHistory, Repository, Reviews,
    Schedules, Secret, State, Trees, Workspace,
};
pub use hex::HexError;
pub use preview::{Concern, MAX_ACTS_ON, MAX_PREVIEW_BYTES, MAX_RESTS_ON, Preview, Raise, RaisedTo};
pub use registry::Registry;
pub use session::Session;
pub use time::{Environment, Timestamp};

/// The examples of the guide for authors.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/authoring.md")]
struct Authoring;

/// The examples of the page about schemas.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/schemas.md")]
struct SchemaGuide;

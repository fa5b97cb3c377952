//! What goes over the one channel between a host and a worker.
//!
//! A frame is a header of twelve bytes, a message in JSON, and a tail of raw bytes: `[flags u32][message length u32][tail
//! length u32]`, little-endian. The tail carries what is already bytes and must not be wrapped again: the arguments one way,
//! the result the other. A descriptor travels with the first byte of the frame that announces it, from host to worker only.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use capability_core::executor::{BodyEnd, PrepareFault};
use capability_core::handle::{BrokerFault, BrokerReply, BrokerRequest};
use capability_core::{CallTerms, Code, Failure, Preview};
use serde::{Deserialize, Serialize};

use super::place::Place;
use super::sandbox::Achieved;
use super::sandbox::attempts::{Finding, Outside};

/// The longest message, in bytes of JSON: the largest answer of the broker, with room for escapes.
pub const MAX_MESSAGE: u32 = 24 << 20;
/// The longest that a worker may send: a file to be written, the largest there may be, takes four bytes a byte.
pub const MAX_SAID: u32 = 5 << 20;

/// The three words before the message.
pub const HEADER: usize = 12;
/// The flag of a frame that a descriptor came with.
pub const WITH_DESCRIPTOR: u32 = 1;

/// What a host sends.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToWorker {
    /// Parse the arguments in the tail, check them, make the preview.
    Prepare { name: String, version: u32, terms: CallTerms, reused: bool },
    /// Run what was prepared.
    Run { terms: CallTerms },
    /// The same for a body that holds no handle: of the call it has nothing but its time.
    RunFor { remaining: Duration },
    /// Try every way out, and tell what became of it.
    Attest(Outside),
    /// Try the one way out that is expected to end the process.
    AttestEnding { outside: Outside, attempt: String },
    /// An answer of the broker; `Ok(None)` is the descriptor that came with it.
    Reply { id: u32, reply: Result<Option<BrokerReply>, BrokerFault> },
}

/// What a worker sends. All of it is data from a process that may be hostile by then.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromWorker {
    /// It is sealed, warm, and has these capabilities.
    Ready { fingerprint: [u8; 32], achieved: Achieved },
    /// It could not be sealed.
    Unsealed(String),
    /// What became of the ways out.
    Attested(Vec<Finding>),
    /// The body waits for `Run`.
    Prepared(Result<Option<Preview>, Unprepared>),
    /// Something panicked; the end comes by itself.
    Panic(Place),
    /// A handle asks.
    Ask { id: u32, request: BrokerRequest },
    /// The body ended; a result is the tail.
    End(Ending),
}

/// [`PrepareFault`] as data.
#[derive(Debug, Serialize, Deserialize)]
pub enum Unprepared {
    Typed(String),
    Check(String),
    Locked,
    Failed(Failed),
    TimedOut,
    Panicked,
}

impl From<PrepareFault> for Unprepared {
    fn from(fault: PrepareFault) -> Self {
        match fault {
            PrepareFault::Refused(Code::CheckRefused, words) => Self::Check(words),
            PrepareFault::Refused(Code::ArgumentRefused, words) => Self::Typed(words),
            PrepareFault::Refused(..) => Self::Locked,
            PrepareFault::Failed(failure) => Self::Failed(failure.into()),
            PrepareFault::TimedOut => Self::TimedOut,
            PrepareFault::Panicked | PrepareFault::Saturated | PrepareFault::Unisolated => Self::Panicked,
        }
    }
}

impl From<Unprepared> for PrepareFault {
    fn from(fault: Unprepared) -> Self {
        match fault {
            Unprepared::Typed(words) => Self::Refused(Code::ArgumentRefused, words),
            Unprepared::Check(words) => Self::Refused(Code::CheckRefused, words),
            Unprepared::Locked => Self::Refused(Code::Locked, Code::Locked.message().to_owned()),
            Unprepared::Failed(failed) => Self::Failed(failed.into()),
            Unprepared::TimedOut => Self::TimedOut,
            Unprepared::Panicked => Self::Panicked,
        }
    }
}

/// [`Failure`] as data.
#[derive(Debug, Serialize, Deserialize)]
pub struct Failed {
    public: Option<String>,
    before_effect: bool,
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self { public: failure.public_message().map(str::to_owned), before_effect: failure.is_before_effect() }
    }
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        let failure = failed.public.map_or_else(Self::private, Self::public);
        if failed.before_effect { failure.and_before_effect() } else { failure }
    }
}

/// [`BodyEnd`] as data.
#[derive(Debug, Serialize, Deserialize)]
pub enum Ending {
    /// The result is the tail.
    Result,
    Failed(Failed),
    TooLarge,
    Unserialisable,
    TimedOut,
    Panicked,
}

impl Ending {
    /// The end as data, and the bytes that travel beside it.
    pub fn of(end: BodyEnd) -> (Self, Vec<u8>) {
        let end = match end {
            BodyEnd::Result(bytes) => return (Self::Result, bytes),
            BodyEnd::Failed(failure) => Self::Failed(failure.into()),
            BodyEnd::TooLarge => Self::TooLarge,
            BodyEnd::Unserialisable => Self::Unserialisable,
            BodyEnd::TimedOut => Self::TimedOut,
            BodyEnd::Panicked | BodyEnd::Saturated => Self::Panicked,
        };
        (end, Vec::new())
    }

    /// The end with its bytes.
    pub fn into_end(self, tail: Vec<u8>) -> BodyEnd {
        match self {
            Self::Result => BodyEnd::Result(tail),
            Self::Failed(failed) => BodyEnd::Failed(failed.into()),
            Self::TooLarge => BodyEnd::TooLarge,
            Self::Unserialisable => BodyEnd::Unserialisable,
            Self::TimedOut => BodyEnd::TimedOut,
            Self::Panicked => BodyEnd::Panicked,
        }
    }
}

/// Why a channel gave no frame.
#[derive(Debug)]
pub enum FrameFault {
    /// The other end is gone.
    Closed,
    /// A frame announces a tail above the cap.
    TailTooLong,
    /// What came is no frame.
    Malformed,
}

impl From<io::Error> for FrameFault {
    fn from(_: io::Error) -> Self {
        Self::Closed
    }
}

/// One message with its tail, as bytes that are sent at once.
pub fn encoded<M: Serialize>(message: &M, tail: &[u8], descriptor: bool) -> Result<Vec<u8>, FrameFault> {
    let mut bytes = vec![0; HEADER];
    serde_json::to_writer(&mut bytes, message).map_err(|_| FrameFault::Malformed)?;
    let long = |length: usize| u32::try_from(length).map_err(|_| FrameFault::TailTooLong);
    let (message, tail_length) = (long(bytes.len() - HEADER)?, long(tail.len())?);
    if message > MAX_MESSAGE {
        return Err(FrameFault::Malformed);
    }
    let flags = if descriptor { WITH_DESCRIPTOR } else { 0 };
    for (place, word) in bytes.chunks_exact_mut(4).zip([flags, message, tail_length]) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes.extend_from_slice(tail);
    Ok(bytes)
}

/// A frame that arrived.
pub struct Frame<M> {
    pub message: M,
    pub tail: Vec<u8>,
    pub descriptor: Option<OwnedFd>,
}

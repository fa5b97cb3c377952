//! What goes over the one channel between a host and a worker.
//!
//! A frame is a header of twelve bytes, a message in JSON, and a tail of raw bytes: `[flags u32][message length u32][tail
//! length u32]`, little-endian. The tail carries what is already bytes and must not be wrapped again: the arguments one way,
//! the result the other. Both lengths are checked before anything is allocated for them. A descriptor travels with the first
//! byte of the frame that announces it, from host to worker only.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::Location;

use capability_core::executor::{BodyEnd, PrepareFault};
use capability_core::handle::{BrokerFault, BrokerReply, BrokerRequest};
use capability_core::{CallTerms, Code, Failure, Preview};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::Interest;
use tokio::net::UnixStream;

use super::sandbox::Achieved;
use super::sandbox::attempts::{Finding, Outside};

/// The longest message, in bytes of JSON: the largest answer of the broker, with room for escapes.
pub const MAX_MESSAGE: u32 = 24 << 20;
/// The longest that a worker may send: a file to be written, the largest there may be, takes four bytes a byte.
const MAX_SAID: u32 = 5 << 20;

const HEADER: usize = 12;
/// How much is read at a time.
const CHUNK: usize = 64 << 10;
const WITH_DESCRIPTOR: u32 = 1;

/// What a host sends.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToWorker {
    /// Parse the arguments in the tail, check them, make the preview.
    Prepare { name: String, version: u32, terms: CallTerms, reused: bool },
    /// Run what was prepared.
    Run { terms: CallTerms },
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

/// Where a body panicked, as its worker says: a path in a source tree, and a line.
///
/// It is shown to whoever reads the host's own output, so anything that could be more than a place is left out.
#[derive(Debug, Serialize, Deserialize)]
pub struct Place {
    file: String,
    line: u32,
}

impl Place {
    pub fn of(location: &Location<'_>) -> Self {
        Self { file: location.file().to_owned(), line: location.line() }
    }

    /// The line for the host's output.
    pub fn line(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        let is_path = self.file.len() <= 256 && self.file.ends_with(".rs") && self.file.chars().all(plain);
        let file = if is_path { &self.file } else { "an unknown place" };
        format!("panic at {file}:{} (message withheld)", self.line)
    }
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

/// Sends a whole frame, with at most one descriptor.
pub async fn send(stream: &UnixStream, mut bytes: &[u8], descriptor: Option<&OwnedFd>) -> Result<(), FrameFault> {
    if let Some(descriptor) = descriptor {
        let sent = stream.async_io(Interest::WRITABLE, || Ok(send_with(stream, bytes, &[descriptor.as_fd()])?)).await?;
        bytes = bytes.get(sent..).unwrap_or_default();
    }
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(0) => return Err(FrameFault::Closed),
            Ok(sent) => bytes = bytes.get(sent..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return Err(FrameFault::Closed),
        }
    }
    Ok(())
}

/// Sends the first bytes together with one or two descriptors, and says how many bytes went out.
pub fn send_with<S: AsFd>(socket: S, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> rustix::io::Result<usize> {
    let mut space = [core::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(rustix::io::Errno::NOBUFS);
    }
    rustix::net::sendmsg(socket, &[io::IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL)
}

/// Receives bytes, and the descriptors that came along.
pub fn receive_with<S: AsFd>(socket: S, into: &mut [u8]) -> rustix::io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [core::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received =
        rustix::net::recvmsg(socket, &mut [io::IoSliceMut::new(into)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    Ok((received.bytes, descriptors))
}

/// A frame that arrived.
pub struct Frame<M> {
    pub message: M,
    pub tail: Vec<u8>,
    pub descriptor: Option<OwnedFd>,
}

/// What has been read of a channel. Nothing of it is lost when a wait for the next frame is given up.
#[derive(Default)]
pub struct Reader {
    buffer: Vec<u8>,
    descriptors: VecDeque<OwnedFd>,
    /// Whether descriptors are taken: a host takes none from a worker, and the kernel closes what is sent to it.
    takes_descriptors: bool,
}

impl Reader {
    /// A worker's reader, which takes descriptors.
    pub fn with_descriptors() -> Self {
        Self { takes_descriptors: true, ..Self::default() }
    }

    /// Whether nothing was read that nobody has taken.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The next frame, with a tail of at most this many bytes.
    pub async fn next<M: DeserializeOwned>(
        &mut self,
        stream: &UnixStream,
        max_tail: u64,
    ) -> Result<Frame<M>, FrameFault> {
        loop {
            if let Some(frame) = self.take(max_tail)? {
                return Ok(frame);
            }
            stream.readable().await?;
            let (room, taking) = (self.buffer.len(), self.takes_descriptors);
            self.buffer.resize(room + CHUNK, 0);
            let free = self.buffer.get_mut(room..).unwrap_or_default();
            let read = if taking {
                stream.try_io(Interest::READABLE, || Ok(receive_with(stream, free)?))
            } else {
                stream.try_read(free).map(|read| (read, Vec::new()))
            };
            match read {
                Ok((read, descriptors)) => {
                    self.buffer.truncate(room + read);
                    self.descriptors.extend(descriptors);
                    if read == 0 {
                        return Err(FrameFault::Closed);
                    }
                }
                Err(error) => {
                    self.buffer.truncate(room);
                    if error.kind() != io::ErrorKind::WouldBlock {
                        return Err(FrameFault::Closed);
                    }
                }
            }
        }
    }

    /// A whole frame, if one is there. Its lengths are judged as soon as its header is.
    fn take<M: DeserializeOwned>(&mut self, max_tail: u64) -> Result<Option<Frame<M>>, FrameFault> {
        let mut words = self.buffer.get(..HEADER).unwrap_or_default().chunks_exact(4).map(|word| match word {
            [a, b, c, d] => u32::from_le_bytes([*a, *b, *c, *d]),
            _ => 0,
        });
        let (Some(flags), Some(message), Some(tail)) = (words.next(), words.next(), words.next()) else {
            return Ok(None);
        };
        let most = if self.takes_descriptors { MAX_MESSAGE } else { MAX_SAID };
        if message > most || flags & !WITH_DESCRIPTOR != 0 {
            return Err(FrameFault::Malformed);
        }
        if u64::from(tail) > max_tail {
            return Err(FrameFault::TailTooLong);
        }
        let (message, tail) = (message as usize, tail as usize);
        let whole = HEADER + message + tail;
        if self.buffer.len() < whole {
            return Ok(None);
        }
        let later = self.buffer.split_off(whole);
        let frame = core::mem::replace(&mut self.buffer, later);
        let (head, tail) = frame.split_at(HEADER + message);
        let message = head.get(HEADER..).unwrap_or_default();
        let message = serde_json::from_slice(message).map_err(|_| FrameFault::Malformed)?;
        let descriptor = if flags & WITH_DESCRIPTOR == 0 { None } else { self.descriptors.pop_front() };
        Ok(Some(Frame { message, tail: tail.to_vec(), descriptor }))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;
    use tokio::net::UnixStream;

    use super::{Ending, FrameFault, FromWorker, MAX_MESSAGE, Place, Reader, encoded};

    /// What a host reads when a worker sends these bytes in these pieces and ends.
    fn read(pieces: &[Vec<u8>], max_tail: u64) -> (Vec<(bool, Vec<u8>)>, FrameFault) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (own, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        own.set_nonblocking(true).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || pieces.iter().try_for_each(|piece| theirs.write_all(piece)));
            runtime.block_on(async {
                let (stream, mut reader, mut frames) =
                    (UnixStream::from_std(own).unwrap(), Reader::default(), Vec::new());
                loop {
                    match reader.next::<FromWorker>(&stream, max_tail).await {
                        Ok(frame) => {
                            frames.push((matches!(frame.message, FromWorker::End(Ending::Result)), frame.tail))
                        }
                        Err(fault) => return (frames, fault),
                    }
                }
            })
        })
    }

    fn cut(bytes: &[u8], lengths: &[usize]) -> Vec<Vec<u8>> {
        let (mut rest, mut pieces) = (bytes, Vec::new());
        for length in lengths {
            let (piece, left) = rest.split_at((*length).min(rest.len()));
            pieces.push(piece.to_vec());
            rest = left;
        }
        pieces.push(rest.to_vec());
        pieces
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

        /// However a channel cuts them, frames arrive whole and in order.
        #[test]
        fn frames_do_not_depend_on_how_they_are_cut(
            tails in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..2000), 0..6),
            lengths in prop::collection::vec(1_usize..700, 0..20),
        ) {
            let mut bytes = Vec::new();
            for tail in &tails {
                bytes.extend(encoded(&FromWorker::End(Ending::Result), tail, false).unwrap());
            }
            let (frames, fault) = read(&cut(&bytes, &lengths), 2000);
            prop_assert_eq!(frames, tails.into_iter().map(|tail| (true, tail)).collect::<Vec<_>>());
            prop_assert!(matches!(fault, FrameFault::Closed));
        }

        /// Whatever a worker sends is frames or an end, and nothing is kept beyond what a header may announce.
        #[test]
        fn any_bytes_are_frames_or_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
            let (frames, _) = read(&[bytes], 100);
            prop_assert!(frames.iter().all(|(_, tail)| tail.len() <= 100));
        }

        /// Lengths are judged from the header on, before anything of what they announce has come.
        #[test]
        fn a_header_is_refused_before_its_body_comes(message in any::<u32>(), tail in any::<u32>()) {
            let header = [[0; 4], message.to_le_bytes(), tail.to_le_bytes()].concat();
            let (frames, fault) = read(&[header], 100);
            prop_assert!(frames.is_empty());
            let expected = match (message > MAX_MESSAGE, tail > 100) {
                (true, _) => matches!(fault, FrameFault::Malformed),
                (_, true) => matches!(fault, FrameFault::TailTooLong),
                // No message is the empty text, and any other is still to come.
                _ => matches!(fault, FrameFault::Closed | FrameFault::Malformed),
            };
            prop_assert!(expected, "{message} {tail}: {fault:?}");
        }
    }

    #[test]
    fn a_place_of_a_panic_is_a_place_and_nothing_else() {
        let place = |file: &str| Place { file: file.to_owned(), line: 7 }.line();
        assert_eq!(place("src/lamp-2/main.rs"), "panic at src/lamp-2/main.rs:7 (message withheld)");
        for file in ["", "tangerine", "the secret.rs", "a\u{1b}[31m.rs", "a\nb.rs", &format!("{}.rs", "x".repeat(300))]
        {
            assert_eq!(place(file), "panic at an unknown place:7 (message withheld)", "{file:?}");
        }
    }
}

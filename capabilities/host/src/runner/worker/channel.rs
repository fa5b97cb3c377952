//! The one channel between a host and a worker, and how frames go over it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use serde::de::DeserializeOwned;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::frame::{Frame, FrameFault, HEADER, MAX_MESSAGE, MAX_SAID, WITH_DESCRIPTOR};

/// How much is read at a time: what most frames fit into, and what a long one is taken in by.
const CHUNKS: core::ops::RangeInclusive<usize> = 4 << 10..=64 << 10;

/// One end, in a runtime. It is woken when there is something to read and for nothing else: whoever waits to write as well
/// is woken once more for every frame, when the other end has taken it.
pub struct Channel(AsyncFd<UnixStream>);

impl Channel {
    /// Takes an end into the runtime that this is called in.
    pub fn new(socket: UnixStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        registered(socket, Interest::READABLE).map(Self)
    }

    /// Sends a whole frame, with at most one descriptor.
    pub async fn send(&self, mut bytes: &[u8], mut descriptor: Option<&OwnedFd>) -> Result<(), FrameFault> {
        let socket = self.0.get_ref();
        // Made when there is no room for the first time, which few frames see.
        let mut room = None;
        while !bytes.is_empty() {
            let sent = match descriptor {
                Some(descriptor) => send_with(socket, bytes, &[descriptor.as_fd()]),
                None => rustix::net::send(socket, bytes, SendFlags::NOSIGNAL),
            };
            match sent {
                Ok(0) => return Err(FrameFault::Closed),
                Ok(sent) => {
                    bytes = bytes.get(sent..).unwrap_or_default();
                    descriptor = None;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let room = match &mut room {
                        Some(room) => room,
                        none => none.insert(registered(socket.try_clone()?, Interest::WRITABLE)?),
                    };
                    wait_for_room(room).await?;
                }
                Err(_) => return Err(FrameFault::Closed),
            }
        }
        Ok(())
    }
}

/// Waits until the other end has read something.
async fn wait_for_room(room: &AsyncFd<UnixStream>) -> io::Result<()> {
    let mut ready = room.writable().await?;
    // What is known from before may have changed, so the kernel is asked.
    let mut now = [PollFd::new(room.get_ref(), PollFlags::OUT)];
    if poll(&mut now, Some(&Timespec::default()))? == 0 {
        ready.clear_ready();
    }
    Ok(())
}

/// Waits for an owned descriptor in the runtime that this is called in.
pub fn registered<T: AsRawFd + Owned>(owned: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    #[expect(unsafe_code, reason = "the runtime waits for a descriptor that it cannot see is open")]
    // SAFETY: see `Owned`: it is open for as long as the value lives, and the same one throughout. The runtime keeps the value
    // for as long as it waits.
    Ok(unsafe { AsyncFd::register_with_interest(owned, interest) }?)
}

/// What owns one open descriptor for as long as it lives, and tells it and no other.
pub trait Owned: sealed::Sealed {}
impl Owned for UnixStream {}
impl Owned for std::sync::Arc<OwnedFd> {}
mod sealed {
    pub trait Sealed {}
    impl Sealed for std::os::unix::net::UnixStream {}
    impl Sealed for std::sync::Arc<std::os::fd::OwnedFd> {}
}

/// Sends the first bytes together with one or two descriptors, and says how many bytes went out.
pub fn send_with<S: AsFd>(socket: S, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> rustix::io::Result<usize> {
    let mut space = [core::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Errno::NOBUFS);
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

/// Whether there is more to read, as far as it is known.
enum Read {
    More,
    Drained,
}

/// What has been read of a channel. Nothing of it is lost when a wait for the next frame is given up.
/// Both lengths of a frame are checked before anything is allocated for them.
#[derive(Default)]
pub struct Reader {
    buffer: Vec<u8>,
    /// How many bytes of the frame that has begun are still to come, once its header tells.
    missing: usize,
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
        channel: &Channel,
        max_tail: u64,
    ) -> Result<Frame<M>, FrameFault> {
        loop {
            if let Some(frame) = self.take(max_tail)? {
                return Ok(frame);
            }
            let mut ready = channel.0.readable().await?;
            match self.read(channel.0.get_ref()) {
                Ok(Read::Drained) => ready.clear_ready(),
                Ok(Read::More) => {}
                Err(fault) => return Err(fault),
            }
        }
    }

    /// The same on a socket that blocks, outside of any runtime.
    pub fn wait<M: DeserializeOwned>(&mut self, socket: &UnixStream, max_tail: u64) -> Result<Frame<M>, FrameFault> {
        loop {
            if let Some(frame) = self.take(max_tail)? {
                return Ok(frame);
            }
            self.read(socket)?;
        }
    }

    /// Reads what is there, or as much as is of use now.
    fn read(&mut self, socket: &UnixStream) -> Result<Read, FrameFault> {
        let (room, wanted) = (self.buffer.len(), self.missing.clamp(*CHUNKS.start(), *CHUNKS.end()));
        self.buffer.resize(room + wanted, 0);
        let free = self.buffer.get_mut(room..).unwrap_or_default();
        let read = if self.takes_descriptors {
            receive_with(socket, free)
        } else {
            rustix::net::recv(socket, free, RecvFlags::empty()).map(|(read, _)| (read, Vec::new()))
        };
        let (read, descriptors) = match read {
            Ok(read) => read,
            Err(error) => {
                self.buffer.truncate(room);
                return match error {
                    Errno::AGAIN => Ok(Read::Drained),
                    Errno::INTR => Ok(Read::More),
                    _ => Err(FrameFault::Closed),
                };
            }
        };
        self.buffer.truncate(room + read);
        self.descriptors.extend(descriptors);
        match read {
            0 => Err(FrameFault::Closed),
            // The kernel stops short of bytes that come with descriptors, so for whoever takes these a short read says nothing.
            short if short < wanted && !self.takes_descriptors => Ok(Read::Drained),
            _ => Ok(Read::More),
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
        self.missing = whole.saturating_sub(self.buffer.len());
        if self.missing > 0 {
            return Ok(None);
        }
        let (head, tail) = self.buffer.get(..whole).unwrap_or_default().split_at(HEADER + message);
        let message = serde_json::from_slice(head.get(HEADER..).unwrap_or_default());
        let message = message.map_err(|_| FrameFault::Malformed)?;
        let tail = tail.to_vec();
        self.buffer.drain(..whole);
        // What a long frame needed is not held on to.
        self.buffer.shrink_to(*CHUNKS.end());
        let descriptor = if flags & WITH_DESCRIPTOR == 0 { None } else { self.descriptors.pop_front() };
        Ok(Some(Frame { message, tail, descriptor }))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::frame::{FrameFault, encoded};
    use super::{Channel, Reader};

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    /// Long ones do not fit into the kernel's own buffer: whoever sends waits for whoever reads.
    #[test]
    fn frames_of_any_length_arrive_in_order() {
        runtime().block_on(async {
            let (near, far) = UnixStream::pair().unwrap();
            let (near, far) = (Channel::new(near).unwrap(), Channel::new(far).unwrap());
            let lengths = [0, 1, 4083, 4084, 5000, 1 << 20, 3, 8 << 20, 0];
            let sending = async {
                for length in lengths {
                    near.send(&encoded(&json!(length), &vec![b'x'; length], false).unwrap(), None).await.unwrap();
                }
            };
            let reading = async {
                let mut reader = Reader::default();
                for length in lengths {
                    let frame = reader.next::<usize>(&far, 8 << 20).await.unwrap();
                    assert_eq!((frame.message, frame.tail.len()), (length, length));
                }
                assert!(reader.buffer.is_empty() && reader.buffer.capacity() <= *super::CHUNKS.end());
            };
            tokio::join!(sending, reading);
        });
    }

    proptest! {
        /// However a stream of frames is cut, and by whichever way it is read, the same frames come out.
        #[test]
        fn frames_arrive_whatever_pieces_they_come_in(
            frames in prop::collection::vec((".{0,40}", 0..6000_usize), 1..6),
            cuts in prop::collection::vec(1..5000_usize, 1..8),
            blocking: bool,
        ) {
            let mut stream = Vec::new();
            for (words, length) in &frames {
                stream.extend(encoded(words, &vec![7; *length], false).unwrap());
            }
            let (mut near, far) = UnixStream::pair().unwrap();
            let sender = std::thread::spawn(move || {
                let (mut left, mut cuts) = (stream.as_slice(), cuts.into_iter().cycle());
                while !left.is_empty() {
                    let (now, later) = left.split_at(cuts.next().unwrap().min(left.len()));
                    near.write_all(now).unwrap();
                    left = later;
                }
            });
            let mut reader = if blocking { Reader::with_descriptors() } else { Reader::default() };
            let runtime = runtime();
            let _inside = runtime.enter();
            let mut got = Vec::new();
            if blocking {
                for _ in &frames {
                    got.push(reader.wait::<String>(&far, 6000).unwrap());
                }
                prop_assert!(matches!(reader.wait::<String>(&far, 6000), Err(FrameFault::Closed)));
            } else {
                let far = Channel::new(far).unwrap();
                for _ in &frames {
                    got.push(runtime.block_on(reader.next::<String>(&far, 6000)).unwrap());
                }
                prop_assert!(matches!(runtime.block_on(reader.next::<String>(&far, 6000)), Err(FrameFault::Closed)));
            }
            sender.join().unwrap();
            let got: Vec<_> = got.into_iter().map(|frame| (frame.message, frame.tail.len())).collect();
            prop_assert_eq!(got, frames);
        }

        /// Whatever a worker sends is a frame or a fault, and a long tail is a fault before it has come.
        #[test]
        fn any_bytes_are_frames_or_faults(bytes in prop::collection::vec(any::<u8>(), 0..200), tail in 11..u32::MAX) {
            let (mut near, far) = UnixStream::pair().unwrap();
            near.write_all(&bytes).unwrap();
            drop(near);
            let mut reader = Reader::default();
            while reader.wait::<Value>(&far, 10).is_ok() {}
            let (mut near, far) = UnixStream::pair().unwrap();
            near.write_all(&[[0; 4], 2_u32.to_le_bytes(), tail.to_le_bytes()].concat()).unwrap();
            prop_assert!(matches!(Reader::default().wait::<Value>(&far, 10), Err(FrameFault::TailTooLong)));
        }
    }
}

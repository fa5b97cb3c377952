//! An output that is taken in while the command runs, so that it never waits for its reader.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use capability_core::redact::{RedactingStream, Redaction};
use tokio::net::unix::pipe;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::kept::Output;

/// How long the rest of an output is waited for once nobody is left who could write it.
const DRAIN: Duration = Duration::from_millis(100);
/// How much is read at a time: what a pipe holds.
const CHUNK: usize = 64 << 10;

/// What was taken in of an output, without secrets: what is kept never held one, wherever it is cut. Where its end was cut off,
/// by a kill or the end of its time, it holds at most three bytes of the beginning of one. For whoever looks meanwhile.
#[derive(Clone)]
pub struct Taken(Arc<Mutex<Inner>>);

struct Inner {
    output: Output,
    /// None once the output has ended.
    stream: Option<RedactingStream>,
    told: Vec<u8>,
    /// Knows what is secret at each moment: a command may run for longer than that stays the same.
    redaction: Arc<dyn Redaction>,
}

impl Taken {
    /// Nothing yet.
    pub fn into(output: Output, redaction: &Arc<dyn Redaction>) -> Self {
        let (stream, redaction) = (Some(redaction.redactor().stream()), Arc::clone(redaction));
        Self(Arc::new(Mutex::new(Inner { output, stream, told: Vec::new(), redaction })))
    }

    /// As it is now.
    pub fn look<T>(&self, look: impl FnOnce(&Output) -> T) -> T {
        look(&self.inner().output)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn add(&mut self, bytes: &[u8]) {
        if let Some(stream) = &mut self.stream {
            stream.renew(self.redaction.redactor());
            stream.push(bytes, &mut self.told);
            self.output.add(&self.told);
            self.told.clear();
        }
    }

    fn end(&mut self, end: impl FnOnce(RedactingStream, &mut Vec<u8>)) {
        if let Some(stream) = self.stream.take() {
            end(stream, &mut self.told);
            self.output.add(&self.told);
            self.told.clear();
        }
    }
}

/// The task that takes it in.
pub struct Reading {
    taken: Taken,
    task: JoinHandle<()>,
}

impl Reading {
    pub fn of(pipe: OwnedFd, taken: &Taken) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let pipe = Arc::new(pipe::Receiver::from_owned_fd(pipe)?);
        let (taken, into) = (taken.clone(), taken.clone());
        let task = tokio::spawn(async move {
            let mut chunk = vec![0; CHUNK];
            while pipe.readable().await.is_ok() {
                // A command that has the kernel move something into its output (`splice`) holds the pipe while nothing comes, and
                // whoever reads then waits for it, whatever the pipe says. That is no thread of the runtime, and ends with the command.
                let from = Arc::clone(&pipe);
                let reading = spawn_blocking(move || (from.try_read(&mut chunk), chunk));
                let Ok((read, back)) = reading.await else { break };
                chunk = back;
                match read {
                    Ok(read @ 1..) => into.inner().add(chunk.get(..read).unwrap_or_default()),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Ok(0) | Err(_) => break,
                }
            }
        });
        Ok(Self { taken, task })
    }

    /// Waits until all of it is taken in. Nobody is left who could write more; `whole` says that it ended where its writer ended it.
    pub async fn rest(mut self, whole: bool) {
        let whole = timeout(DRAIN, &mut self.task).await.is_ok() && whole;
        self.taken.inner().end(if whole { RedactingStream::finish } else { RedactingStream::cut });
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use capability_core::redact::{MARK, RedactingStream, Redaction, Redactor};
    use proptest::prelude::*;

    use super::{Output, Taken};

    /// No letter of it is in what stands in its place, and no two are the same.
    const VALUE: &str = "SWORDFI7H-ANUMQ";

    /// What is known, and can be more later.
    struct Told(Mutex<Arc<Redactor>>);

    impl Told {
        fn of(values: &[&'static str]) -> Arc<Self> {
            Arc::new(Self(Mutex::new(Arc::new(Redactor::new(values.iter().copied())))))
        }
    }

    impl Redaction for Told {
        fn redactor(&self) -> Arc<Redactor> {
            Arc::clone(&self.0.lock().unwrap())
        }
    }

    fn kept(taken: &Taken) -> [String; 2] {
        let kept = taken.look(Output::kept);
        [kept.head, kept.tail]
    }

    /// Whether a text holds so much of the value.
    fn holds(text: &str, most: usize) -> bool {
        VALUE.as_bytes().windows(most).any(|part| text.as_bytes().windows(most).any(|own| own == part))
    }

    proptest! {
        /// Whatever falls out of the middle, and wherever in the value it begins or ends; and wherever the end was cut off.
        #[test]
        fn no_edge_of_what_is_kept_holds_a_part_of_a_value(
            before in 0_usize..100, after in 0_usize..100, cut in 0_usize..120, chunk in 1_usize..40,
        ) {
            let redaction: Arc<dyn Redaction> = Told::of(&[VALUE]);
            let text = format!("{}{VALUE}{}{VALUE}", ".".repeat(before), ".".repeat(after));
            let whole = Taken::into(Output::keeping(40, 40), &redaction);
            text.as_bytes().chunks(chunk).for_each(|chunk| whole.inner().add(chunk));
            whole.inner().end(RedactingStream::finish);
            prop_assert!(kept(&whole).iter().all(|part| !holds(part, 1)), "{:?}", kept(&whole));
            // In the middle of its being written, somebody looks.
            let begun = Taken::into(Output::keeping(40, 40), &redaction);
            let text = &text[..cut.min(text.len())];
            text.as_bytes().chunks(chunk).for_each(|chunk| begun.inner().add(chunk));
            prop_assert!(kept(&begun).iter().all(|part| !holds(part, 1)), "{:?}", kept(&begun));
            begun.inner().end(RedactingStream::cut);
            prop_assert!(kept(&begun).iter().all(|part| !holds(part, 4)), "{:?}", kept(&begun));
        }
    }

    /// A command that runs on comes across a secret that was stored after it began.
    #[test]
    fn what_becomes_known_meanwhile_is_in_no_output() {
        let told = Told::of(&[]);
        let redaction: Arc<dyn Redaction> = Arc::clone(&told) as _;
        let taken = Taken::into(Output::of_the_background(), &redaction);
        taken.inner().add(b"it begins; ");
        *told.0.lock().unwrap() = Arc::new(Redactor::new([VALUE]));
        for piece in VALUE.as_bytes().chunks(4) {
            taken.inner().add(piece);
        }
        taken.inner().end(RedactingStream::finish);
        assert_eq!(kept(&taken)[0], format!("it begins; {MARK}"));
    }
}

//! Messages over streams: one a line.

use std::sync::Arc;

use capability_core::redact::RedactingStream;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, mpsc};

use super::message::MAX_MESSAGE;
use crate::secrets::redactor;

/// How much is read at a time.
const CHUNK: usize = 64 << 10;
/// How much of one line is passed over before the other side is taken for mad.
const MAX_SKIPPED: usize = 256 << 20;
/// The most messages that wait to be written.
const MAX_QUEUED: usize = 16;

/// What stands on a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Something, without its end.
    Text(Vec<u8>),
    /// More than a message may be. It was passed over.
    TooLong,
}

/// Reads lines, each within the cap. Memory for no more than one is held.
pub struct Lines<R> {
    from: R,
    /// What was read and not given out.
    kept: Vec<u8>,
    /// How much of `kept` holds no line's end.
    searched: usize,
    /// How much of a line that is too long was passed over.
    skipped: Option<usize>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub const fn new(from: R) -> Self {
        Self { from, kept: Vec::new(), searched: 0, skipped: None }
    }

    /// The next line that is not empty; none at the end. A last line without its end was cut off, and is none.
    pub async fn next(&mut self) -> Option<Line> {
        loop {
            let unsearched = self.kept.get(self.searched..).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', unsearched) {
                let mut line: Vec<u8> = self.kept.drain(..=self.searched + at).collect();
                self.searched = 0;
                self.kept.shrink_to(CHUNK);
                line.pop();
                if self.skipped.take().is_some() {
                    return Some(Line::TooLong);
                }
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                if line.is_empty() {
                    continue;
                }
                return Some(Line::Text(line));
            }
            self.searched = self.kept.len();
            if self.kept.len() > MAX_MESSAGE || self.skipped.is_some() {
                let skipped = self.skipped.unwrap_or_default().saturating_add(self.kept.len());
                if skipped > MAX_SKIPPED {
                    return None;
                }
                self.skipped = Some(skipped);
                self.kept = Vec::new();
                self.searched = 0;
            }
            self.kept.reserve(CHUNK);
            match (&mut self.from).take(CHUNK as u64).read_buf(&mut self.kept).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }
}

/// Writes lines in the order in which they are given, each whole.
#[derive(Debug, Clone)]
pub struct Writer(mpsc::Sender<String>);

impl Writer {
    /// Writes in a task of its own, which ends with the last clone or when the other side reads no more.
    pub fn start(mut to: impl AsyncWrite + Unpin + Send + 'static) -> Self {
        let (sender, mut waiting) = mpsc::channel::<String>(MAX_QUEUED);
        tokio::spawn(async move {
            while let Some(mut line) = waiting.recv().await {
                line.push('\n');
                if to.write_all(line.as_bytes()).await.is_err() || to.flush().await.is_err() {
                    return;
                }
            }
        });
        Self(sender)
    }

    /// Puts a line behind those that wait; false when nobody reads any more.
    pub async fn send(&self, line: String) -> bool {
        self.0.send(line).await.is_ok()
    }

    /// The same where nobody can wait: without room it is not sent.
    pub fn try_send(&self, line: String) {
        let _ = self.0.try_send(line);
    }
}

/// The newest part of what a program says on its error stream, for the operator. It may hold anything but secrets of this host, is
/// looked through for those before it is cut, and is never logged.
#[derive(Debug, Clone)]
pub struct Said(Arc<Mutex<Kept>>);

#[derive(Debug)]
struct Kept {
    told: Vec<u8>,
    /// Holds what may be the beginning of a secret.
    stream: RedactingStream,
}

/// How much of it is kept.
pub const MAX_SAID: usize = 8 << 10;

impl Said {
    /// Listens in a task of its own until the stream ends.
    pub fn listen(from: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let said = Self(Arc::new(Mutex::new(Kept { told: Vec::new(), stream: redactor().stream() })));
        let kept = Arc::clone(&said.0);
        tokio::spawn(async move {
            let (mut from, mut chunk) = (from, vec![0; 4096]);
            while let Ok(read @ 1..) = from.read(&mut chunk).await {
                let mut kept = kept.lock().await;
                let Kept { told, stream } = &mut *kept;
                stream.renew(redactor());
                stream.push(chunk.get(..read).unwrap_or_default(), told);
                newest(told);
            }
        });
        said
    }

    /// What is kept, as text. Nobody knows whether more follows: the program may have been killed in the middle of a word.
    pub async fn text(&self) -> String {
        let kept = self.0.lock().await;
        let (mut told, mut stream) = (kept.told.clone(), kept.stream.clone());
        drop(kept);
        stream.renew(redactor());
        stream.cut(&mut told);
        newest(&mut told);
        String::from_utf8_lossy(&told).into_owned()
    }
}

fn newest(told: &mut Vec<u8>) {
    let over = told.len().saturating_sub(MAX_SAID);
    told.drain(..over);
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Line, Lines, MAX_MESSAGE, MAX_SAID, Said};
    use proptest::prelude::*;

    async fn all(bytes: &[u8]) -> Vec<Line> {
        let mut lines = Lines::new(bytes);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await {
            all.push(line);
        }
        all
    }

    fn text(text: &str) -> Line {
        Line::Text(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn a_line_is_what_stands_before_its_end() {
        assert_eq!(all(b"a\r\n\n\r\nbc\n\xff\nhalf").await, [text("a"), text("bc"), Line::Text(vec![0xff])]);
        assert_eq!(all(b"").await, []);
    }

    #[tokio::test]
    async fn what_is_too_long_is_passed_over_and_told() {
        let mut long = vec![b'x'; MAX_MESSAGE + 2 * CHUNK];
        long.extend_from_slice(b"\nok\n");
        assert_eq!(all(&long).await, [Line::TooLong, text("ok")]);
    }

    #[tokio::test]
    async fn the_newest_of_what_was_said_is_kept() {
        let long = [vec![b'a'; 3 * MAX_SAID], b"the end".to_vec()].concat();
        let said = Said::listen(std::io::Cursor::new(long));
        for _ in 0..1000 {
            if said.text().await.ends_with("the end") {
                break;
            }
            tokio::task::yield_now().await;
        }
        let text = said.text().await;
        assert!(text.len() == MAX_SAID && text.ends_with("the end"));
    }

    /// Wherever the bound cuts, and where its end was cut off.
    #[tokio::test]
    async fn the_newest_of_what_was_said_holds_no_part_of_a_secret() {
        const SECRET: &str = "SWORDFI7H-ANUMQ-said";
        crate::secrets::note(SECRET.as_bytes()).unwrap();
        for after in [0, 1, 5, SECRET.len()] {
            let (filler, end) = (vec![b'.'; MAX_SAID - 8 - after], &SECRET.as_bytes()[..12]);
            let said = Said::listen(std::io::Cursor::new([SECRET.as_bytes(), &filler, b"the end", end].concat()));
            for _ in 0..1000 {
                if said.text().await.ends_with("[redacted]") {
                    break;
                }
                tokio::task::yield_now().await;
            }
            let text = said.text().await;
            assert!(text.ends_with("the end[redacted]"), "{after}: {}", &text[text.len() - 40..]);
            assert!(
                !SECRET.as_bytes().windows(4).any(|part| text.as_bytes().windows(4).any(|own| own == part)),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_text(parts in prop::collection::vec("[a-z]{0,4}", 0..20)) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let whole = parts.iter().map(|part| format!("{part}\n")).collect::<String>();
            let expected: Vec<_> = parts.iter().filter(|part| !part.is_empty()).map(|part| text(part)).collect();
            prop_assert_eq!(runtime.block_on(all(whole.as_bytes())), expected);
        }
    }
}

//! Reading a log from its beginning: how far it holds, and what stands behind that.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};

use capability_core::Timestamp;
use capability_core::audit::{LineHash, Receipt};

use super::checkpoint::Checkpoint;
use super::committer::MAX_BATCH;
use super::disk::Disk;
use super::line::{self, Break, GENESIS, MAX_LINE};
use super::segment::Segment;
use super::tree::Frontier;

/// The unit in which a disk writes or does not.
const SECTOR: u64 = 512;

/// What stands behind the part that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing.
    Clean,
    /// What an interrupted write leaves, in the last segment: so many bytes that were never acknowledged.
    Torn { bytes: u64 },
    /// Something that no interruption explains. The line is counted from 1, in the segment that is being read.
    Tampered { line: u64, what: &'static str },
}

/// What a log says nothing final of, by the text of its invocation: the last record of each, and whether it is an intent.
pub(super) type Unfinished = HashMap<(Begun, String), (bool, Vec<u8>)>;

/// What has an end of its own. The order is that in which the ends are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Begun {
    /// The call itself.
    Call,
    /// The command that it left running.
    Process,
}

/// Reads a log record by record, and can go on where it stopped.
pub(super) struct Scanner {
    next: u64,
    pub(super) last: LineHash,
    pub(super) tree: Frontier,
    /// The segment that is being read, as far as it holds.
    pub(super) segment: Segment,
    /// The one before it, whole.
    pub(super) before: Option<Segment>,
    /// When the segment's first record was written.
    pub(super) began: Option<Timestamp>,
    /// What the log must reach, and be, at that size.
    anchor: Checkpoint,
    /// The last record of the largest checkpoint that was found to be true, and its time.
    pub(super) proved: (u64, Option<Timestamp>),
    /// Filled when somebody asks for it.
    pub(super) unfinished: Option<Unfinished>,
    /// A receipt to look for, and whether it was seen.
    pub(super) watched: Option<(Receipt, bool)>,
    pub(super) end: End,
    expected: Vec<u8>,
}

impl Scanner {
    /// At the beginning of a log that this checkpoint was signed for.
    pub(super) fn new(anchor: Checkpoint) -> Self {
        let mut scanner = Self {
            next: 1,
            last: GENESIS,
            tree: Frontier::default(),
            segment: Segment { first: 1, len: 0 },
            before: None,
            began: None,
            anchor,
            proved: (0, None),
            unfinished: None,
            watched: None,
            end: End::Clean,
            expected: Vec::with_capacity(128),
        };
        scanner.prove(None);
        scanner
    }

    /// How many records hold.
    pub(super) const fn records(&self) -> u64 {
        self.next - 1
    }

    /// Goes on under a later checkpoint. One that is behind what was read already proves nothing more.
    pub(super) fn anchor(&mut self, later: Checkpoint) {
        if later.size >= self.records() {
            self.anchor = later;
            self.prove(None);
        }
    }

    /// Compares the tree with the checkpoint once it has the checkpoint's size.
    fn prove(&mut self, at: Option<Timestamp>) {
        if self.tree.size() == self.anchor.size && self.end == End::Clean {
            if self.tree.root() == self.anchor.root {
                self.proved = (self.anchor.size, at.or(self.proved.1));
            } else {
                let what = "the records up to here are not those that the checkpoint was signed for";
                self.end = End::Tampered { line: self.next - self.segment.first, what };
            }
        }
    }

    /// Reads these segments, as they were listed, to their end or to this many records.
    pub(super) fn advance(&mut self, disk: &impl Disk, segments: &[Segment], until: Option<u64>) -> io::Result<()> {
        for (at, listed) in segments.iter().enumerate() {
            let is_last = at + 1 == segments.len();
            if listed.first < self.segment.first {
                continue;
            }
            if listed.first != self.segment.first {
                // A segment is made before its first record: an empty one at the end is the beginning of a rotation.
                if is_last && listed.len == 0 {
                    break;
                }
                self.before = Some(self.segment);
                self.segment = Segment { first: listed.first, len: 0 };
                if listed.first != self.next {
                    let what = "the segment before it does not end where this one begins";
                    self.end = End::Tampered { line: 1, what };
                }
            }
            if self.end == End::Clean {
                self.read(disk, listed.len, is_last, until)?;
            }
            if self.end != End::Clean || until == Some(self.records()) {
                return Ok(());
            }
        }
        if self.records() < self.anchor.size && self.end == End::Clean {
            let what = "it is missing: the checkpoint says that it was committed, so the log was cut off here";
            self.end = End::Tampered { line: self.next - self.segment.first + 1, what };
        }
        Ok(())
    }

    /// Reads the present segment from where it was left.
    fn read(&mut self, disk: &impl Disk, len: u64, is_last: bool, until: Option<u64>) -> io::Result<()> {
        let rest = disk.read(&self.segment.name(), self.segment.len)?;
        let mut log = BufReader::with_capacity(1 << 16, rest.take(len.saturating_sub(self.segment.len)));
        let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        while until != Some(self.records()) {
            bytes.clear();
            log.by_ref().take(limit).read_until(b'\n', &mut bytes)?;
            let broken = match bytes.strip_suffix(b"\n") {
                None if bytes.is_empty() => break,
                None => None,
                Some(whole) => match self.take(whole) {
                    Ok(()) => {
                        self.segment.len += bytes.len() as u64;
                        if self.end == End::Clean { continue } else { break }
                    }
                    Err(broken) => Some(broken.as_str()),
                },
            };
            self.end = self.behind(&mut log, bytes, is_last, broken)?;
            break;
        }
        Ok(())
    }

    /// One more record.
    fn take(&mut self, whole: &[u8]) -> Result<(), Break> {
        if !line::is_next(&mut self.expected, whole, self.next, self.last) {
            return Err(line::marks(whole).map_or(Break::Garbage, |_| Break::Chain));
        }
        // What the checkpoint vouches for need not be read in detail: its root does not match a line that is no record.
        let begins = self.segment.len == 0;
        let ends = self.next == self.anchor.size;
        let mut at = None;
        if begins || ends || self.next > self.anchor.size || self.unfinished.is_some() {
            let marks = line::marks(whole)?;
            at = marks.at;
            if begins {
                self.began = marks.at;
                if let Some(before) = self.before {
                    let names = (marks.event.as_ref(), marks.first, marks.bytes);
                    if names != ("rotation", Some(before.first), Some(before.len)) {
                        return Err(Break::Rotation);
                    }
                }
            }
            note(self.unfinished.as_mut(), &marks, whole);
        }
        let hash = line::hash(whole);
        if let Some((receipt, seen)) = &mut self.watched
            && receipt.seq == self.next
        {
            *seen = receipt.hash == Some(hash);
        }
        self.last = hash;
        self.tree.push(hash);
        self.next += 1;
        self.prove(at);
        Ok(())
    }

    /// Judges everything from the first byte that does not hold on. An interrupted append leaves a part of one batch
    /// behind: either cut off in the middle of a line, or with sectors that were never written and read as zeros. What a
    /// checkpoint was signed for was durable before.
    fn behind(
        &self,
        log: &mut impl BufRead,
        mut rest: Vec<u8>,
        is_last: bool,
        broken: Option<&'static str>,
    ) -> io::Result<End> {
        let room = (MAX_BATCH + 1).saturating_sub(rest.len());
        log.take(u64::try_from(room).unwrap_or(u64::MAX)).read_to_end(&mut rest)?;
        let one_batch = rest.len() <= MAX_BATCH;
        // Without a break so far the line is the last one, and has no end.
        let cut_off = broken.is_none() && !rest.contains(&b'\n');
        let unanchored = self.records() >= self.anchor.size;
        if is_last && unanchored && one_batch && (cut_off || has_unwritten_sector(&rest, self.segment.len)) {
            return Ok(End::Torn { bytes: rest.len() as u64 });
        }
        let what = broken.unwrap_or(if cut_off { "it has no end" } else { "it is longer than any record" });
        Ok(End::Tampered { line: self.next - self.segment.first + 1, what })
    }
}

/// Keeps book of invocations, which only an outcome settles, and of the commands that they left running.
fn note(unfinished: Option<&mut Unfinished>, marks: &line::Marks<'_>, whole: &[u8]) {
    let (Some(unfinished), Some(invocation)) = (unfinished, &marks.invocation) else { return };
    match marks.event.as_ref() {
        "outcome" => drop(unfinished.remove(&(Begun::Call, invocation.to_string()))),
        event @ ("policy_decision" | "intent") => {
            unfinished.insert((Begun::Call, invocation.to_string()), (event == "intent", whole.to_vec()));
        }
        "process_begun" => drop(unfinished.insert((Begun::Process, invocation.to_string()), (false, whole.to_vec()))),
        "process_ended" => drop(unfinished.remove(&(Begun::Process, invocation.to_string()))),
        _ => {}
    }
}

/// Whether `rest`, which stands at `offset` of the file, has a run of zeros that covers all that a sector has of it. No
/// record holds a zero byte.
fn has_unwritten_sector(rest: &[u8], offset: u64) -> bool {
    let first = usize::try_from(SECTOR - offset % SECTOR).unwrap_or(rest.len()).min(rest.len());
    let (first, others) = rest.split_at(first);
    let unwritten = |part: &[u8]| !part.is_empty() && part.iter().all(|byte| *byte == 0);
    unwritten(first) || others.chunks(usize::try_from(SECTOR).unwrap_or(512)).any(unwritten)
}

//! Reading a log from its beginning: how far it holds, and what stands behind that.

use std::collections::HashSet;
use std::io::{self, BufRead, Read};

use capability_core::audit::LineHash;

use super::committer::BATCH_BYTES;
use super::head::Head;
use super::line::{self, GENESIS, MAX_LINE};

/// What can be left of one interrupted write.
const MAX_TORN: usize = BATCH_BYTES + MAX_LINE;
/// The unit in which a disk writes or does not.
const SECTOR: u64 = 512;

/// A log as far as it holds.
pub(super) struct Scan {
    pub(super) records: u64,
    pub(super) last: LineHash,
    /// The length of everything that holds.
    pub(super) len: u64,
    /// Intents without an outcome that no earlier recovery has reported.
    pub(super) unfinished: u64,
    pub(super) end: End,
}

/// What stands behind the part that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing.
    Clean,
    /// What an interrupted write leaves: so many bytes that were never acknowledged.
    Torn { bytes: u64 },
    /// Something that no interruption explains.
    Tampered { line: u64, what: &'static str },
}

/// Reads everything.
pub(super) fn scan(mut log: impl BufRead, head: Head) -> io::Result<Scan> {
    let mut scan = Scan { records: 0, last: GENESIS, len: 0, unfinished: 0, end: End::Clean };
    let mut intents = HashSet::new();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
        log.by_ref().take(limit).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            break;
        }
        let Some(whole) = bytes.strip_suffix(b"\n") else {
            scan.end = behind(&mut log, bytes, &scan, None)?;
            break;
        };
        let number = scan.records + 1;
        let marks = match line::check(whole, number, scan.last) {
            Ok(marks) => marks,
            Err(broken) => {
                scan.end = behind(&mut log, bytes, &scan, Some(broken.as_str()))?;
                break;
            }
        };
        note(&mut intents, &marks);
        let hash = line::hash(whole);
        if number == head.seq && hash != head.hash {
            scan.end = End::Tampered { line: number, what: "it is not the line that the head file names" };
            break;
        }
        scan.records = number;
        scan.last = hash;
        scan.len += bytes.len() as u64;
    }
    if scan.records < head.seq && !matches!(scan.end, End::Tampered { .. }) {
        scan.end = End::Tampered {
            line: scan.records + 1,
            what: "it is missing: the head file says that it was committed, so the log was cut off here",
        };
    }
    scan.unfinished = intents.len() as u64;
    Ok(scan)
}

/// Keeps book of intents. An intent that an earlier recovery reported is settled: its effect stays unknown.
fn note(intents: &mut HashSet<String>, marks: &line::Marks<'_>) {
    match (marks.event.as_ref(), &marks.invocation, marks.kind.as_deref()) {
        ("intent", Some(invocation), _) => {
            intents.insert(invocation.clone().into_owned());
        }
        ("outcome", Some(invocation), _) => {
            intents.remove(invocation.as_ref());
        }
        ("recovery", _, Some("unfinished_intents")) => intents.clear(),
        _ => {}
    }
}

/// Judges everything from the first byte that does not hold on. An interrupted append leaves a part of one batch behind:
/// either cut off in the middle of a line, or with sectors that were never written and read as zeros.
fn behind(log: &mut impl BufRead, mut rest: Vec<u8>, scan: &Scan, broken: Option<&'static str>) -> io::Result<End> {
    let room = (MAX_TORN + 1).saturating_sub(rest.len());
    log.take(u64::try_from(room).unwrap_or(u64::MAX)).read_to_end(&mut rest)?;
    let one_batch = rest.len() <= MAX_TORN;
    // Without a break so far the line is the last one, and has no end.
    let cut_off = broken.is_none() && !rest.contains(&b'\n');
    if one_batch && (cut_off || has_unwritten_sector(&rest, scan.len)) {
        return Ok(End::Torn { bytes: rest.len() as u64 });
    }
    Ok(End::Tampered { line: scan.records + 1, what: broken.unwrap_or("it is longer than any record") })
}

/// Whether `rest`, which stands at `offset` of the file, has a run of zeros that covers all that a sector has of it. No
/// record holds a zero byte.
fn has_unwritten_sector(rest: &[u8], offset: u64) -> bool {
    let first = usize::try_from(SECTOR - offset % SECTOR).unwrap_or(rest.len()).min(rest.len());
    let (first, others) = rest.split_at(first);
    let unwritten = |part: &[u8]| !part.is_empty() && part.iter().all(|byte| *byte == 0);
    unwritten(first) || others.chunks(usize::try_from(SECTOR).unwrap_or(512)).any(unwritten)
}

//! The files of a log.

use std::io;

use super::disk::Disk;

/// The checkpoint's name.
pub(super) const CHECKPOINT: &str = "checkpoint";
/// Where a checkpoint is written before it takes the last one's place.
pub(super) const NEW_CHECKPOINT: &str = "checkpoint.new";

/// One file of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    /// The number of its first record.
    pub(super) first: u64,
    /// Its length in bytes.
    pub(super) len: u64,
}

impl Segment {
    pub(super) fn name(&self) -> String {
        name(self.first)
    }
}

/// The name of the segment that begins with this record. All are equally long, so that names sort as numbers do.
pub(super) fn name(first: u64) -> String {
    format!("seg-{first:020}.jsonl")
}

fn first(file: &str) -> Option<u64> {
    let number = file.strip_prefix("seg-")?.strip_suffix(".jsonl")?.parse().ok()?;
    (name(number) == file).then_some(number)
}

/// Every segment with its length at this moment, in order. A log that is written only grows, so what is listed stays.
pub(super) fn list(disk: &impl Disk) -> io::Result<Vec<Segment>> {
    let mut firsts: Vec<u64> = disk.names()?.iter().filter_map(|file| first(file)).collect();
    firsts.sort_unstable();
    firsts.into_iter().map(|first| disk.len(&name(first)).map(|len| Segment { first, len })).collect()
}

/// Whether a file in the directory is one of ours.
pub(super) fn is_ours(file: &str) -> bool {
    file == CHECKPOINT || file == NEW_CHECKPOINT || first(file).is_some()
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_have_one_form() {
        assert_eq!(super::name(1), "seg-00000000000000000001.jsonl");
        assert_eq!(super::first(&super::name(u64::MAX)), Some(u64::MAX));
        for strange in ["seg-1.jsonl", "seg-+0000000000000000001.jsonl", "seg-.jsonl", "torn-00000000000000000001"] {
            assert_eq!(super::first(strange), None, "{strange}");
        }
    }
}

//! Where a body panicked, as its worker says.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

/// A path in a source tree, and a line.
///
/// It is shown to whoever reads the host's own output, and a body that means to could send any text in its place. So only
/// a path that this executable holds is shown: the compiler wrote it there, for a panic to name.
#[derive(Debug, Serialize, Deserialize)]
pub struct Place {
    file: String,
    line: u32,
}

/// The longest path that is shown, in bytes.
const MAX_FILE: usize = 256;
/// How much of the executable is looked through at a time, in bytes.
const CHUNK: usize = 1 << 20;
/// How many paths are looked for in one life of a host. A source tree has no more places that panic, and a body that makes
/// up one after the other is not given a pass over the executable for each.
const MAX_LOOKED_FOR: usize = 512;

impl Place {
    pub fn of(location: &Location<'_>) -> Self {
        Self { file: location.file().to_owned(), line: location.line() }
    }

    /// The line for the host's output.
    pub fn line(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        let is_path = self.file.len() <= MAX_FILE && self.file.ends_with(".rs") && self.file.chars().all(plain);
        let file = if is_path && is_ours(&self.file) { &self.file } else { "an unknown place" };
        format!("panic at {file}:{} (message withheld)", self.line)
    }
}

/// Whether this executable holds the path. What was found is remembered; what cannot be read is not shown.
fn is_ours(file: &str) -> bool {
    static LOOKED_FOR: Mutex<(BTreeSet<String>, usize)> = Mutex::new((BTreeSet::new(), 0));
    let mut looked_for = LOOKED_FOR.lock().unwrap_or_else(PoisonError::into_inner);
    let (found, count) = &mut *looked_for;
    if found.contains(file) {
        return true;
    }
    if *count >= MAX_LOOKED_FOR {
        return false;
    }
    *count += 1;
    let holds = File::open("/proc/self/exe").and_then(|executable| holds(executable, file.as_bytes())).unwrap_or(false);
    if holds {
        found.insert(file.to_owned());
    }
    holds
}

/// Whether the bytes of a source occur in what is read, also where two chunks meet.
fn holds(mut source: impl Read, wanted: &[u8]) -> io::Result<bool> {
    let finder = Finder::new(wanted);
    let mut window = Vec::with_capacity(CHUNK + wanted.len());
    loop {
        let read = source.by_ref().take(CHUNK as u64).read_to_end(&mut window)?;
        if finder.find(&window).is_some() {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
        let kept = wanted.len().saturating_sub(1).min(window.len());
        window.drain(..window.len() - kept);
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Place, holds};

    #[test]
    fn a_place_of_a_panic_is_a_place_and_nothing_else() {
        let place = |file: &str| Place { file: file.to_owned(), line: 7 }.line();
        let here = std::panic::Location::caller().file();
        assert_eq!(place(here), format!("panic at {here}:7 (message withheld)"));
        // Put together here, so that this executable does not hold it.
        let made_up = ["src/", "lamp", "-2/", "tangerine", ".rs"].concat();
        for file in [
            &*made_up,
            "",
            "tangerine",
            "the secret.rs",
            "a\u{1b}[31m.rs",
            "a\nb.rs",
            &format!("{}.rs", "x".repeat(300)),
        ] {
            assert_eq!(place(file), "panic at an unknown place:7 (message withheld)", "{file:?}");
        }
    }

    #[test]
    fn a_path_is_found_where_two_chunks_meet() {
        for at in [0, 5, CHUNK - 3, CHUNK, CHUNK + 1, 2 * CHUNK - 1] {
            let mut bytes = vec![0; 2 * CHUNK + 100];
            bytes[at..at + 6].copy_from_slice(b"lib.rs");
            assert!(holds(&*bytes, b"lib.rs").unwrap(), "{at}");
            assert!(!holds(&*bytes, b"lab.rs").unwrap(), "{at}");
        }
        assert!(!holds(&b""[..], b"lib.rs").unwrap());
    }
}

//! A disk in memory: it fails where it is told to, and it can lose power.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard};

use super::super::disk::Disk;

pub const SECTOR: usize = 512;

/// A source of numbers that is the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 20).unwrap() % limit.max(1)
    }

    pub fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// Which operation goes wrong, and how.
#[derive(Debug, Clone, Copy)]
pub struct Fails {
    /// Counted from 0.
    pub at: usize,
    pub kind: io::ErrorKind,
    /// How much of an append is written all the same.
    pub part: usize,
    /// Whether everything after it fails too.
    pub stays: bool,
}

/// What the disk holds for certain, and what is still on its way to it.
#[derive(Clone, Default)]
pub struct Media {
    files: Vec<Content>,
    /// As a running process sees it.
    names: BTreeMap<String, usize>,
    durable: BTreeMap<String, usize>,
    moving: Vec<Moving>,
}

#[derive(Clone, Default)]
struct Content {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Clone, Copy)]
enum Change {
    Written { from: usize, to: usize },
    Cut { len: usize },
}

#[derive(Clone)]
enum Moving {
    Made(String, usize),
    Renamed(String, String, usize),
    Removed(String),
}

/// All files by name: what a power cut left, or what there is.
pub type Image = BTreeMap<String, Vec<u8>>;

impl Media {
    pub fn of(image: &Image) -> Self {
        let mut media = Self::default();
        for (at, (name, bytes)) in image.iter().enumerate() {
            media.files.push(Content { bytes: bytes.clone(), durable: bytes.clone(), pending: vec![] });
            media.names.insert(name.clone(), at);
        }
        media.durable = media.names.clone();
        media
    }

    pub fn now(&self) -> Image {
        self.names.iter().map(|(name, at)| (name.clone(), self.files[*at].bytes.clone())).collect()
    }

    /// What one power cut may leave: of what was not made durable, any part.
    pub fn after_power_cut(&self, random: &mut Random) -> Image {
        let mut names = self.durable.clone();
        for moving in &self.moving {
            if random.coin() {
                match moving {
                    Moving::Made(name, at) => drop(names.insert(name.clone(), *at)),
                    Moving::Renamed(from, to, at) => {
                        names.remove(from);
                        names.insert(to.clone(), *at);
                    }
                    Moving::Removed(name) => drop(names.remove(name)),
                }
            }
        }
        names.into_iter().map(|(name, at)| (name, self.files[at].after_power_cut(random))).collect()
    }
}

impl Content {
    fn after_power_cut(&self, random: &mut Random) -> Vec<u8> {
        // So many of the changes reached the file's length.
        let reached = random.below(self.pending.len() + 1);
        let mut bytes = self.durable.clone();
        let mut first = bytes.len();
        for change in &self.pending[..reached] {
            match *change {
                Change::Written { from, to } => {
                    bytes.resize(from, 0);
                    // What was written and cut again is not there any more: then it was zeros at best.
                    bytes.extend((from..to).map(|at| self.bytes.get(at).copied().unwrap_or(0)));
                    first = first.min(from);
                }
                Change::Cut { len } => {
                    bytes.truncate(len);
                    first = first.min(len);
                }
            }
        }
        let end = bytes.len();
        if end > first {
            // Any sector that was written since may be as it was before.
            let lost = random.below(usize::MAX >> 21);
            let nothing = random.below(4);
            for (number, sector) in (first / SECTOR..=end / SECTOR).enumerate() {
                if nothing != 0 && lost >> (number % 40) & 1 == 1 {
                    let range = (sector * SECTOR).max(first)..((sector + 1) * SECTOR).min(end);
                    for (at, byte) in range.clone().zip(&mut bytes[range]) {
                        *byte = self.durable.get(at).copied().unwrap_or(0);
                    }
                }
            }
            let floor = first.max(self.durable.len().min(end));
            let len = match random.below(4) {
                0 => floor + random.below(end - floor + 1),
                1 => (floor / SECTOR + 1 + random.below(end / SECTOR - floor / SECTOR + 1)) * SECTOR,
                _ => end,
            };
            bytes.truncate(len.clamp(floor, end));
        }
        bytes
    }
}

#[derive(Default)]
struct Inner {
    media: Media,
    fails: Option<Fails>,
    operations: usize,
    /// Which operations they were, by their names.
    done: Vec<&'static str>,
    /// The states between two operations, with a number that whoever drives the log sets.
    kept: Option<Vec<(Media, u64)>>,
    mark: u64,
    /// Bytes that can still be reserved; without it, as many as anybody likes.
    room: Option<u64>,
}

/// The disk. Clones are the same disk.
#[derive(Clone, Default)]
pub struct Sim(Arc<Mutex<Inner>>);

impl Sim {
    pub fn of(image: &Image) -> Self {
        let sim = Self::default();
        sim.lock().media = Media::of(image);
        sim
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub fn fail(&self, fails: Option<Fails>) {
        self.lock().fails = fails;
    }

    pub fn operations(&self) -> usize {
        self.lock().operations
    }

    pub fn done(&self) -> Vec<&'static str> {
        self.lock().done.clone()
    }

    pub fn set_room(&self, room: Option<u64>) {
        self.lock().room = room;
    }

    pub fn image(&self) -> Image {
        self.lock().media.now()
    }

    /// From now on every state is kept.
    pub fn keep(&self) {
        self.lock().kept = Some(vec![]);
        self.mark(0);
    }

    /// What is promised from this moment on.
    pub fn mark(&self, mark: u64) {
        let mut inner = self.lock();
        inner.mark = mark;
        inner.state();
    }

    pub fn kept(&self) -> Vec<(Media, u64)> {
        self.lock().kept.take().unwrap_or_default()
    }

    /// One operation on the media, unless it is one that fails.
    fn step<T>(
        &self,
        name: &'static str,
        failing: impl FnOnce(&mut Media, usize),
        doing: impl FnOnce(&mut Media) -> T,
    ) -> io::Result<T> {
        let mut inner = self.lock();
        let now = inner.operations;
        inner.operations += 1;
        inner.done.push(name);
        if let Some(fails) = inner.fails.filter(|fails| now == fails.at || (fails.stays && now > fails.at)) {
            failing(&mut inner.media, fails.part);
            return Err(fails.kind.into());
        }
        let done = doing(&mut inner.media);
        inner.state();
        Ok(done)
    }
}

impl Inner {
    fn state(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.push((self.media.clone(), self.mark));
        }
    }
}

impl Content {
    fn append(&mut self, bytes: &[u8]) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.pending.push(Change::Written { from, to: self.bytes.len() });
    }
}

impl Disk for Sim {
    type File = usize;

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.lock().media.names.keys().cloned().collect())
    }

    fn read(&self, name: &str, from: u64) -> io::Result<Box<dyn Read + Send>> {
        let inner = self.lock();
        let at = *inner.media.names.get(name).ok_or(io::ErrorKind::NotFound)?;
        let bytes = inner.media.files[at].bytes.get(usize::try_from(from).unwrap()..).unwrap_or_default();
        Ok(Box::new(io::Cursor::new(bytes.to_vec())))
    }

    fn len(&self, name: &str) -> io::Result<u64> {
        let inner = self.lock();
        let at = *inner.media.names.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(inner.media.files[at].bytes.len() as u64)
    }

    fn open(&self, name: &str) -> io::Result<usize> {
        self.lock().media.names.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn create(&self, name: &str) -> io::Result<usize> {
        self.step(
            "create",
            |_, _| {},
            |media| {
                if media.names.remove(name).is_some() {
                    media.moving.push(Moving::Removed(name.to_owned()));
                }
                media.files.push(Content::default());
                let at = media.files.len() - 1;
                media.names.insert(name.to_owned(), at);
                media.moving.push(Moving::Made(name.to_owned(), at));
                at
            },
        )
    }

    fn append(&self, file: &mut usize, bytes: &[u8]) -> io::Result<()> {
        let at = *file;
        let part = |media: &mut Media, part: usize| media.files[at].append(&bytes[..part.min(bytes.len())]);
        self.step("append", part, |media| media.files[at].append(bytes))
    }

    fn sync(&self, file: &mut usize) -> io::Result<()> {
        let at = *file;
        self.step(
            "sync",
            |_, _| {},
            |media| {
                let content = &mut media.files[at];
                content.durable = content.bytes.clone();
                content.pending.clear();
            },
        )
    }

    fn cut(&self, file: &mut usize, len: u64) -> io::Result<()> {
        let (at, len) = (*file, usize::try_from(len).unwrap());
        self.step(
            "cut",
            |_, _| {},
            |media| {
                let content = &mut media.files[at];
                if len < content.bytes.len() {
                    content.bytes.truncate(len);
                    content.pending.push(Change::Cut { len });
                }
            },
        )
    }

    fn reserve(&self, _: &mut usize, _: u64, more: u64) -> io::Result<()> {
        self.step("reserve", |_, _| {}, |_| ())?;
        match self.lock().room {
            Some(room) if room < more => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.step(
            "rename",
            |_, _| {},
            |media| {
                let at = media.names.remove(from).unwrap();
                media.names.insert(to.to_owned(), at);
                media.moving.push(Moving::Renamed(from.to_owned(), to.to_owned(), at));
            },
        )
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.step(
            "remove",
            |_, _| {},
            |media| {
                media.names.remove(name);
                media.moving.push(Moving::Removed(name.to_owned()));
            },
        )
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.step(
            "sync_dir",
            |_, _| {},
            |media| {
                media.durable = media.names.clone();
                media.moving.clear();
            },
        )
    }
}

//! Power cuts: after every operation, in any of the states that a disk may be in then.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use capability_core::Timestamp;
use capability_core::audit::Receipt;

use super::super::anchor::Anchorer;
use super::super::committer::Options;
use super::super::scan::End;
use super::super::segment::CHECKPOINT;
use super::sim::{Image, Media, Random, Sim};
use super::{SMALL, at, commit, ended, expiry, fields, fresh, intent, key, line, lines, opened, scanned};

/// One life of a log: commits of several sizes, rotations, checkpoints and restarts, with every state between two
/// operations. The number beside a state is how many records were acknowledged before it.
struct Life {
    states: Vec<(Media, u64)>,
    acked: Vec<Receipt>,
    /// Every note that was the newest at some time.
    notes: Vec<Vec<u8>>,
    operations: HashSet<&'static str>,
}

fn live(seed: u64) -> Life {
    let mut random = Random(seed);
    let sim = fresh();
    sim.keep();
    let mut acked: Vec<Receipt> = Vec::new();
    let mut notes = vec![sim.image()[CHECKPOINT].clone()];
    let (mut call, mut running) = (0_u8, Vec::new());
    let mut now = at();
    for _ in 0..2 {
        let (mut log, found) = opened(&sim, SMALL).unwrap();
        assert!(found.records >= acked.len() as u64 && found.torn_bytes == 0);
        running.clear();
        for _ in 0..3 + random.below(4) {
            let records: Vec<_> = (0..=random.below(4))
                .map(|_| match random.below(3) {
                    0 => expiry(call),
                    1 if !running.is_empty() => ended(running.swap_remove(random.below(running.len()))),
                    _ => {
                        call += 1;
                        running.push(call);
                        intent(call)
                    }
                })
                .collect();
            if random.below(8) == 0 {
                now = now.after(core::time::Duration::from_secs(86_400));
            }
            let fields = fields(&records);
            let receipts = log.commit(fields.iter().map(Vec::as_slice), now).unwrap();
            acked.extend(receipts);
            sim.mark(acked.len() as u64);
            if random.coin()
                && let Some(checkpoint) = log.unanchored()
            {
                Anchorer::new(Arc::new(sim.clone()), Arc::clone(key())).write(checkpoint).unwrap();
                log.anchored(checkpoint);
                notes.push(sim.image()[CHECKPOINT].clone());
            }
        }
    }
    let operations = sim.done().into_iter().collect();
    Life { states: sim.kept(), acked, notes, operations }
}

/// What one image must be good for.
struct Judge {
    seen: HashSet<u64>,
    images: u64,
    torn: u64,
    rotations: u64,
}

impl Judge {
    fn new() -> Self {
        Self { seen: HashSet::new(), images: 0, torn: 0, rotations: 0 }
    }

    /// Opens what a power cut left; nothing acknowledged is lost, and the log goes on.
    fn opens(&mut self, image: &Image, acked: &[Receipt], told: &str) {
        self.images += 1;
        let mut hasher = DefaultHasher::new();
        (image, acked.len()).hash(&mut hasher);
        // The same image is as good as it was.
        if !self.seen.insert(hasher.finish()) {
            return;
        }
        let sim = Sim::of(image);
        let (mut log, found) = match opened(&sim, SMALL) {
            Ok(opened) => opened,
            Err(refused) => panic!("{told}: {refused:?}"),
        };
        self.torn += u64::from(found.torn_bytes > 0);
        let receipt = commit(&mut log, &[expiry(250)]).unwrap()[0];
        let whole = lines(&sim.image());
        assert_eq!(receipt.seq as usize, whole.len(), "{told}");
        for receipt in acked {
            let line = whole.get(receipt.seq as usize - 1).unwrap_or_else(|| panic!("{told}: {} is lost", receipt.seq));
            assert_eq!(Some(line::hash(line.as_bytes())), receipt.hash, "{told}: {}", receipt.seq);
        }
        self.rotations += u64::from(whole.iter().any(|line| line.contains(r#""event":"rotation""#)));
        let read = scanned(&sim);
        assert_eq!((read.end, read.records()), (End::Clean, receipt.seq), "{told}");
        settled(&whole, told);
    }
}

/// Every call has one outcome.
fn settled(lines: &[String], told: &str) {
    let mut outcomes = HashMap::<String, (u32, u32)>::new();
    for line in lines {
        let Some((_, rest)) = line.split_once(r#""invocation":""#) else { continue };
        let counts = outcomes.entry(rest[..32].to_owned()).or_default();
        match line.contains(r#""event":"outcome""#) {
            true => counts.1 += 1,
            false => counts.0 += 1,
        }
    }
    for (call, (begun, ended)) in outcomes {
        assert_eq!((begun, ended), (1, 1), "{told}: {call}");
    }
}

/// How many images the simulator looks at; more with `CAPABILITY_AUDIT_IMAGES`.
fn wanted() -> u64 {
    std::env::var("CAPABILITY_AUDIT_IMAGES").ok().and_then(|number| number.parse().ok()).unwrap_or(110_000)
}

#[test]
fn nothing_acknowledged_is_lost_wherever_the_power_is_cut() {
    let (mut judge, mut random) = (Judge::new(), Random(0x9e37_79b9_7f4a_7c15));
    let mut operations = HashSet::new();
    let mut seed = 0;
    while judge.images < wanted() {
        seed += 1;
        let Life { states, acked, notes, operations: done } = live(0x1234_5678_9abc_def1 ^ (seed << 20));
        operations.extend(done);
        for (at, (media, promised)) in states.iter().enumerate() {
            let promised = usize::try_from(*promised).unwrap();
            for cut in 0..10 {
                let mut image = media.after_power_cut(&mut random);
                // A checkpoint is written beside the commits: the last one may be as late as one likes.
                if random.below(4) == 0 {
                    let newest = notes.iter().position(|note| image.get(CHECKPOINT) == Some(note));
                    let older = newest.map_or(0, |newest| random.below(newest + 1));
                    image.insert(CHECKPOINT.to_owned(), notes[older].clone());
                }
                judge.opens(&image, &acked[..promised], &format!("life {seed}, state {at}, cut {cut}"));
            }
        }
    }
    let unique = judge.seen.len();
    println!("{} images, {unique} of them different, {} torn, {seed} lives", judge.images, judge.torn);
    assert!(judge.torn > 1000 && judge.rotations > 1000, "{} torn, {} rotated", judge.torn, judge.rotations);
    for operation in ["append", "sync", "create", "rename", "sync_dir", "reserve", "cut"] {
        assert!(operations.contains(operation), "{operation}");
    }
}

/// The power is cut again while the host puts right what the first cut left.
#[test]
fn a_second_power_cut_during_recovery_loses_nothing_either() {
    let (mut judge, mut random) = (Judge::new(), Random(0x2545_f491_4f6c_dd1d));
    let mut operations = HashSet::new();
    for seed in 1..=12_u64 {
        let Life { states, acked, .. } = live(0xfedc_ba98_7654_3210 ^ (seed << 24));
        for _ in 0..24 {
            let (media, promised) = &states[random.below(states.len())];
            let acked = &acked[..usize::try_from(*promised).unwrap()];
            let sim = Sim::of(&media.after_power_cut(&mut random));
            sim.keep();
            drop(opened(&sim, SMALL).unwrap());
            operations.extend(sim.done());
            for (at, (media, _)) in sim.kept().iter().enumerate() {
                for _ in 0..4 {
                    let image = media.after_power_cut(&mut random);
                    judge.opens(&image, acked, &format!("life {seed}, recovery {at}"));
                }
            }
        }
    }
    println!("{} images, {} of them different", judge.images, judge.seen.len());
    for operation in ["append", "sync", "create", "remove", "rename", "sync_dir", "cut"] {
        assert!(operations.contains(operation), "{operation}");
    }
}

/// A day that goes backwards rotates nothing and breaks nothing.
#[test]
fn a_clock_that_is_set_back_changes_nothing() {
    let sim = fresh();
    let options = Options { segment_bytes: 1 << 20, ..SMALL };
    let (mut log, _) = opened(&sim, options).unwrap();
    let fields = fields(&[expiry(1)]);
    for days in [0, -3, 2, 1, -400, 3] {
        let now = Timestamp::from_micros(at().as_micros() + days * 86_400_000_000);
        log.commit(fields.iter().map(Vec::as_slice), now).unwrap();
    }
    // It began on day 0; 2 and 3 are later days than the segment's first.
    assert_eq!(sim.image().keys().filter(|name| name.starts_with("seg-")).count(), 3);
    assert_eq!((scanned(&sim).end, scanned(&sim).records()), (End::Clean, 8));
}

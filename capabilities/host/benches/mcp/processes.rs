//! Processor time of a process and everything below it.

use std::collections::HashMap;

/// A tree of processes, and what each thread of it had used when it was last looked at.
pub struct Tree {
    root: u32,
    known: HashMap<u32, u64>,
}

impl Tree {
    pub fn of(root: u32) -> Self {
        let mut tree = Self { root, known: HashMap::new() };
        tree.spent();
        tree
    }

    /// Microseconds since the last look. What a thread used that came and went between two looks is not seen.
    pub fn spent(&mut self) -> f64 {
        let mut nanoseconds = 0;
        for process in self.processes() {
            for (thread, used) in threads(process) {
                nanoseconds += used - self.known.get(&thread).copied().unwrap_or(0).min(used);
                self.known.insert(thread, used);
            }
        }
        nanoseconds as f64 / 1e3
    }

    fn processes(&self) -> Vec<u32> {
        let all = std::fs::read_dir("/proc").expect("processes");
        let all = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        let parents: Vec<(u32, u32)> = all.filter_map(|pid| Some((pid, parent(pid)?))).collect();
        let mut found = vec![self.root];
        let mut at = 0;
        while let Some(parent) = found.get(at).copied() {
            found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
            at += 1;
        }
        found
    }
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// The threads of a process, and how many nanoseconds each has run.
fn threads(pid: u32) -> Vec<(u32, u64)> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    tasks
        .filter_map(|task| {
            let task = task.ok()?;
            let used = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            Some((task.file_name().to_str()?.parse().ok()?, used.split_whitespace().next()?.parse().ok()?))
        })
        .collect()
}

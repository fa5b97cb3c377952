//! Kills at a deadline, whatever the rest of the host is doing.
//!
//! A runtime whose threads are all blocked runs no timers. This is one thread of the operating system that does nothing but
//! wait for the next deadline; the worker's own kernel timer is behind it, should even this one not get a processor.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Instant;

use rustix::process::{Signal, pidfd_send_signal};

#[derive(Default)]
struct Watched {
    due: Mutex<Due>,
    changed: Condvar,
}

#[derive(Default)]
struct Due {
    by_deadline: BTreeMap<(Instant, u64), Arc<OwnedFd>>,
    next: u64,
    /// When the thread looks again by itself; it sleeps until it is called when there is no such time.
    looks_at: Option<Instant>,
    ended: bool,
}

/// The thread's own handle; dropping it ends the thread.
pub struct Watchdog(Arc<Watched>);

/// A deadline that is watched until this is dropped.
pub struct Guard {
    watched: Weak<Watched>,
    key: (Instant, u64),
}

impl Watchdog {
    /// Starts the thread.
    pub fn start() -> std::io::Result<Self> {
        let watched = Arc::<Watched>::default();
        let own = Arc::clone(&watched);
        thread::Builder::new().name("capability-watchdog".to_owned()).spawn(move || own.watch())?;
        Ok(Self(watched))
    }

    /// Kills this process at the deadline, unless the guard is gone by then.
    pub fn watch(&self, process: Arc<OwnedFd>, deadline: Instant) -> Guard {
        let mut due = self.0.due.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (deadline, due.next);
        due.next += 1;
        due.by_deadline.insert(key, process);
        // Waking the thread costs more than the rest of this: only what is due before it looks by itself needs that.
        let looks_in_time = due.looks_at.is_some_and(|looks_at| looks_at <= deadline);
        drop(due);
        if !looks_in_time {
            self.0.changed.notify_one();
        }
        Guard { watched: Arc::downgrade(&self.0), key }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.0.due.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        self.0.changed.notify_one();
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(watched) = self.watched.upgrade() {
            watched.due.lock().unwrap_or_else(PoisonError::into_inner).by_deadline.remove(&self.key);
        }
    }
}

impl Watched {
    fn watch(&self) {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        while !due.ended {
            due.looks_at = due.by_deadline.first_key_value().map(|((deadline, _), _)| *deadline);
            let Some(deadline) = due.looks_at else {
                due = self.changed.wait(due).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                if let Some((_, process)) = due.by_deadline.pop_first() {
                    // It may have ended by itself a moment ago.
                    let _ = pidfd_send_signal(process.as_ref(), Signal::KILL);
                }
                continue;
            }
            due = self.changed.wait_timeout(due, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use super::Watchdog;

    #[test]
    fn what_is_due_is_killed_in_order_and_what_is_given_back_is_not() {
        let watchdog = Watchdog::start().unwrap();
        let sleeper = || Command::new("sleep").arg("30").spawn().unwrap();
        let process =
            |child: &std::process::Child| Arc::new(pidfd_open(Pid::from_child(child), PidfdFlags::empty()).unwrap());
        let (mut late, mut soon, mut spared) = (sleeper(), sleeper(), sleeper());
        let now = Instant::now();
        let _late = watchdog.watch(process(&late), now + Duration::from_millis(300));
        let spare = watchdog.watch(process(&spared), now + Duration::from_millis(150));
        let _soon = watchdog.watch(process(&soon), now + Duration::from_millis(50));
        drop(spare);
        assert!(!soon.wait().unwrap().success());
        assert!(late.try_wait().unwrap().is_none(), "the later one lives for as long as its deadline is ahead");
        assert!(!late.wait().unwrap().success());
        assert!(now.elapsed() >= Duration::from_millis(300));
        assert!(spared.try_wait().unwrap().is_none());
        spared.kill().unwrap();
        spared.wait().unwrap();
    }
}

//! What is known of each command in the background, and whose it is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use capability_core::Timestamp;
use capability_core::audit::{Asked, InvocationId};
use capability_core::handle::{
    BackgroundCommand, BrokerFault, MAX_PROCESSES, ProcessEnd, ProcessId, ProcessPage, ProcessSeen,
};
use capability_core::redact::Redaction;
use capability_core::session::{SessionId, Subject};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::runner::worker::command::{Output, Taken};
use crate::secrets::Knowing;

/// How many run in one host.
const MOST_RUNNING: usize = 32;
/// How many that are over are remembered in one host.
const MOST_OVER: usize = 64;
/// For how long they are.
const REMEMBERED: Duration = Duration::from_secs(3600);
/// How much of a command's words is told, in characters.
const MOST_SHOWN: usize = 256;

/// One command.
pub struct Process {
    id: ProcessId,
    subject: Subject,
    session: SessionId,
    invocation: InvocationId,
    command: String,
    timeout_ms: u32,
    began_at: Timestamp,
    began: Instant,
    pub outputs: [Taken; 2],
    /// The first word about its end from outside.
    stop: watch::Sender<Option<ProcessEnd>>,
    state: watch::Sender<State>,
}

#[derive(Default)]
struct State {
    own_processes: bool,
    ended: Option<Ended>,
}

/// How it is over.
pub struct Ended {
    why: ProcessEnd,
    status: Option<i32>,
    at: Instant,
}

impl Ended {
    pub fn now(why: ProcessEnd, status: Option<i32>) -> Self {
        Self { why, status, at: Instant::now() }
    }
}

impl Process {
    pub fn new(id: ProcessId, asked: &Asked, command: &BackgroundCommand, began_at: Timestamp) -> Self {
        // What runs on is given no secret; what it comes across by itself is left out of what it writes all the same.
        let redaction: Arc<dyn Redaction> = Arc::new(Knowing);
        Self {
            id,
            subject: asked.identity.subject.clone(),
            session: asked.identity.id,
            invocation: asked.invocation,
            command: command.argv.join(" ").chars().take(MOST_SHOWN).collect(),
            timeout_ms: command.timeout_ms,
            began_at,
            began: Instant::now(),
            outputs: [(); 2].map(|()| Taken::into(Output::of_the_background(), &redaction)),
            stop: watch::Sender::default(),
            state: watch::Sender::default(),
        }
    }

    pub fn holds(&self, own_processes: bool) {
        self.state.send_modify(|state| state.own_processes = own_processes);
    }

    /// Tells it to end. The first reason stays.
    pub fn stop(&self, why: ProcessEnd) {
        self.stop.send_modify(|told| *told = told.or(Some(why)));
    }

    /// Waits until it is told to.
    pub async fn stopped(&self) -> ProcessEnd {
        match self.stop.subscribe().wait_for(Option::is_some).await.as_deref() {
            Ok(Some(why)) => *why,
            // Whoever could tell is gone.
            Ok(None) | Err(_) => ProcessEnd::HostStopped,
        }
    }

    /// It is over. The first end stays.
    pub fn end(&self, ended: Ended) {
        self.state.send_modify(|state| state.ended = state.ended.take().or(Some(ended)));
    }

    /// Waits until it is over.
    pub async fn over(&self) {
        let _ = self.state.subscribe().wait_for(|state| state.ended.is_some()).await;
    }

    fn ended_at(&self) -> Option<Instant> {
        self.state.borrow().ended.as_ref().map(|ended| ended.at)
    }

    /// Whether it is over, and that subject's; of any where none is named.
    fn is_over(&self, subject: Option<&Subject>) -> bool {
        self.ended_at().is_some() && subject.is_none_or(|subject| self.subject == *subject)
    }

    pub fn ran_ms(&self) -> u32 {
        let ran = self.ended_at().unwrap_or_else(Instant::now).saturating_duration_since(self.began);
        u32::try_from(ran.as_millis()).unwrap_or(u32::MAX)
    }

    pub fn seen(&self) -> ProcessSeen {
        let ran_ms = self.ran_ms();
        let [stdout_bytes, stderr_bytes] = self.outputs.each_ref().map(|taken| taken.look(Output::total));
        let state = self.state.borrow();
        let (end, status) = state.ended.as_ref().map_or((None, None), |ended| (Some(ended.why), ended.status));
        ProcessSeen {
            id: self.id,
            command: self.command.clone(),
            began_at: self.began_at,
            ran_ms,
            timeout_ms: self.timeout_ms,
            end,
            status,
            stdout_bytes,
            stderr_bytes,
            own_processes: state.own_processes,
        }
    }

    pub fn page(&self, stdout: u64, stderr: u64) -> ProcessPage {
        // Before the outputs: what is over by now has written everything.
        let process = self.seen();
        let [out, err] = self.outputs.each_ref();
        let is_over = process.end.is_some();
        let (stdout, stderr) = (out.look(|out| out.page(stdout, is_over)), err.look(|err| err.page(stderr, is_over)));
        ProcessPage { stdout, stderr, process }
    }
}

/// All of them, the oldest first.
#[derive(Default)]
pub struct Table(Mutex<Held>);

#[derive(Default)]
struct Held {
    processes: Vec<Arc<Process>>,
    closed: bool,
}

impl Table {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one in, if there is room for it.
    pub fn admit(&self, process: Process) -> Result<Arc<Process>, BrokerFault> {
        let mut held = self.held();
        held.sweep();
        if held.closed {
            return Err(BrokerFault::Ended);
        }
        if held.processes.iter().any(|other| other.invocation == process.invocation) {
            return Err(BrokerFault::BudgetSpent);
        }
        let running = || held.processes.iter().filter(|process| process.ended_at().is_none());
        let own = running().filter(|other| other.subject == process.subject).count();
        if own >= MAX_PROCESSES || running().count() >= MOST_RUNNING {
            return Err(BrokerFault::ProcessLimit);
        }
        let process = Arc::new(process);
        held.processes.push(Arc::clone(&process));
        Ok(process)
    }

    pub fn of(&self, subject: &Subject) -> Vec<Arc<Process>> {
        let mut held = self.held();
        held.sweep();
        held.processes.iter().filter(|process| process.subject == *subject).cloned().collect()
    }

    pub fn find(&self, subject: &Subject, id: ProcessId) -> Option<Arc<Process>> {
        self.of(subject).into_iter().find(|process| process.id == id)
    }

    /// Tells those to end that were begun in this session.
    pub fn leave(&self, session: SessionId) {
        let held = self.held();
        let begun = held.processes.iter().filter(|process| process.session == session);
        begun.for_each(|process| process.stop(ProcessEnd::SessionEnded));
    }

    /// How many are over, of one subject or of all.
    pub fn count_over(&self, subject: Option<&Subject>) -> usize {
        let mut held = self.held();
        held.sweep();
        held.processes.iter().filter(|process| process.is_over(subject)).count()
    }

    /// Forgets those that are over, of one subject or of all, and says how many.
    pub fn forget(&self, subject: Option<&Subject>) -> usize {
        let mut held = self.held();
        let before = held.processes.len();
        held.processes.retain(|process| !process.is_over(subject));
        before - held.processes.len()
    }

    pub fn sweep(&self) {
        self.held().sweep();
    }

    /// Admits none any more, tells all to end, and gives them.
    pub fn close(&self) -> Vec<Arc<Process>> {
        let mut held = self.held();
        held.closed = true;
        held.processes.iter().for_each(|process| process.stop(ProcessEnd::HostStopped));
        held.processes.clone()
    }
}

impl Held {
    /// Forgets what ended long ago, and of many that ended the first ones.
    fn sweep(&mut self) {
        let now = Instant::now();
        let fresh = |at: Instant| now.saturating_duration_since(at) < REMEMBERED;
        self.processes.retain(|process| process.ended_at().is_none_or(fresh));
        loop {
            let mut over: Vec<_> = self.processes.iter().filter_map(|one| Some((one.ended_at()?, one))).collect();
            over.sort_unstable_by_key(|(at, _)| *at);
            let of = |subject: &Subject| over.iter().filter(|(_, one)| one.subject == *subject).count();
            let is_full = over.len() > MOST_OVER;
            let first = over.iter().find(|(_, one)| is_full || of(&one.subject) > MAX_PROCESSES).map(|(_, one)| one.id);
            let Some(first) = first else { return };
            self.processes.retain(|one| one.id != first);
        }
    }
}

//! Commands that run on after the call that began them.
//!
//! Each has a task of its own, which holds the way to its keeper: with the task the command ends, and so it does with this process. What
//! is kept of it, its outputs included, is in memory, for its subject alone.

mod table;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use capability_core::Environment;
use capability_core::audit::{Asked, Event, InvocationId, Record, Sink, Submission};
use capability_core::handle::{
    BackgroundCommand, BrokerFault, HowEnded, Lease, ProcessEnd, ProcessId, ProcessPage, ProcessSeen, SessionEnding,
};
use capability_core::session::{SessionId, Subject};
use tokio::time::timeout;

use crate::broker::files::Files;
use crate::runner::worker::command::{self, End, Over};
use table::{Ended, Process, Table};

/// How long whoever begins a command waits for its end: one that ends at once is told as that.
const SETTLE: Duration = Duration::from_millis(300);
/// How long whoever ends a command waits until nothing of it is left.
const GONE: Duration = Duration::from_secs(12);

/// The commands that subjects left running.
pub struct Processes(Arc<Shared>);

struct Shared {
    environment: Arc<dyn Environment>,
    sink: Arc<dyn Sink>,
    /// Whether this host stays when the call that it was started for is over.
    stays: AtomicBool,
    table: Table,
}

/// Who begins a command, by which call, and in which session.
pub struct Beginning {
    asked: Asked,
    session: SessionEnding,
}

impl Beginning {
    /// As the lease has it. A capability without a `Context` has no session whose end would be seen, so it begins nothing.
    pub fn of(lease: &Lease) -> Result<Self, BrokerFault> {
        let session = lease.session_ending().ok_or(BrokerFault::Undeclared)?;
        Ok(Self { asked: lease.asked(), session })
    }
}

impl Processes {
    /// None yet. Their beginnings and ends are recorded there.
    pub fn new(environment: Arc<dyn Environment>, sink: Arc<dyn Sink>) -> Self {
        let (stays, table) = (AtomicBool::new(false), Table::default());
        Self(Arc::new(Shared { environment, sink, stays, table }))
    }

    /// This host stays until it is told to end: commands can be left running in it from now on.
    pub fn stay(&self) {
        self.0.stays.store(true, Ordering::Release);
    }

    pub fn stays(&self) -> bool {
        self.0.stays.load(Ordering::Acquire)
    }

    /// Begins a command, in the runtime that this is called in. Whoever goes away before it is told that it runs ends it.
    pub async fn start(
        &self,
        files: &Files,
        by: Beginning,
        command: BackgroundCommand,
    ) -> Result<ProcessPage, BrokerFault> {
        if !self.stays() {
            return Err(BrokerFault::NotLasting);
        }
        let workdir = files.directory(&command.workdir)?;
        let Beginning { asked, session } = by;
        let mut life = Life::begin(&self.0, asked, &command).await?;
        let process = Arc::clone(&life.process);
        let Ok(running) = command::begin(files.root(), workdir, command.into_command(), &process.outputs).await else {
            life.settle(ProcessEnd::Lost, None).await;
            return Err(BrokerFault::Unavailable);
        };
        process.holds(running.has_own_processes());
        life.unfinished = ProcessEnd::HostStopped;
        let told = Arc::clone(&process);
        tokio::spawn(async move {
            let stop = async {
                tokio::select! {
                    biased;
                    why = told.stopped() => why,
                    () = session.comes() => ProcessEnd::SessionEnded,
                }
            };
            let (why, status) = match running.end(stop).await {
                Ok(End { over: Over::Stopped(why), .. }) => (why, None),
                Ok(End { over: Over::ByItself(how), .. }) => ended(how),
                Err(_) => (ProcessEnd::Lost, None),
            };
            life.settle(why, status).await;
        });
        let mut claim = Unclaimed(Some(process));
        if let Some(process) = &claim.0 {
            let _ = timeout(SETTLE, process.over()).await;
        }
        claim.0.take().map(|process| process.page(0, 0)).ok_or(BrokerFault::Unavailable)
    }

    /// Those of a subject, the oldest first.
    pub fn list(&self, subject: &Subject) -> Vec<ProcessSeen> {
        self.0.table.of(subject).iter().map(|process| process.seen()).collect()
    }

    /// One of a subject's, and what it wrote from there on.
    pub fn inspect(
        &self,
        subject: &Subject,
        id: ProcessId,
        stdout: u64,
        stderr: u64,
    ) -> Result<ProcessPage, BrokerFault> {
        self.0.table.find(subject, id).map(|process| process.page(stdout, stderr)).ok_or(BrokerFault::UnknownProcess)
    }

    /// Ends one of a subject's, and waits until nothing of it is left.
    pub async fn stop(&self, subject: &Subject, id: ProcessId) -> Result<ProcessPage, BrokerFault> {
        let process = self.0.table.find(subject, id).ok_or(BrokerFault::UnknownProcess)?;
        process.stop(ProcessEnd::Cancelled);
        timeout(GONE, process.over()).await.map_err(|_| BrokerFault::Unavailable)?;
        Ok(process.page(u64::MAX, u64::MAX))
    }

    /// Those of everybody that have not ended, the oldest first: whose, by which call, and what is told of them.
    pub fn running(&self) -> Vec<(Subject, InvocationId, ProcessSeen)> {
        self.0.table.running().iter().map(|process| process.told()).collect()
    }

    /// Ends one, whosever it is, and waits until nothing of it is left.
    pub async fn end(&self, id: ProcessId) -> Result<(), BrokerFault> {
        let process = self.0.table.running().into_iter().find(|process| process.is(id));
        let process = process.ok_or(BrokerFault::UnknownProcess)?;
        process.stop(ProcessEnd::Cancelled);
        timeout(GONE, process.over()).await.map_err(|_| BrokerFault::TimedOut)
    }

    /// Ends those that were begun in this session: nobody asks in it any more.
    pub fn leave(&self, session: SessionId) {
        self.0.table.leave(session);
    }

    /// How many of a subject's, or of everybody's, are over and remembered.
    pub fn count_over(&self, subject: Option<&Subject>) -> usize {
        self.0.table.count_over(subject)
    }

    /// Forgets what a subject's processes wrote that are over, or everybody's; says of how many.
    pub fn forget(&self, subject: Option<&Subject>) -> usize {
        self.0.table.forget(subject)
    }

    /// Forgets what ended long ago.
    pub fn sweep(&self) {
        self.0.table.sweep();
    }

    /// Ends all of them, and waits until nothing is left and it is on record. None begins any more.
    pub async fn close(&self) {
        let all = self.0.table.close();
        let gone = async {
            for process in &all {
                process.over().await;
            }
        };
        let _ = timeout(GONE, gone).await;
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        drop(self.0.table.close());
    }
}

fn ended(how: HowEnded) -> (ProcessEnd, Option<i32>) {
    match how {
        HowEnded::Exited(status) => (ProcessEnd::Exited, Some(status)),
        HowEnded::Signalled(signal) => (ProcessEnd::Signalled, Some(signal)),
        HowEnded::TimedOut => (ProcessEnd::Deadline, None),
        HowEnded::NotStarted => (ProcessEnd::NotStarted, None),
    }
}

impl Shared {
    fn submit(&self, event: Event) -> Submission {
        self.sink.submit(Record { at: self.environment.now(), event })
    }
}

/// A command that is on record as begun. Dropped before its end was, it records that.
struct Life {
    shared: Arc<Shared>,
    process: Arc<Process>,
    /// Until its end is on record.
    asked: Option<Asked>,
    /// Why it is over when this is dropped.
    unfinished: ProcessEnd,
}

impl Life {
    /// Takes a place and records it, before anything runs.
    async fn begin(shared: &Arc<Shared>, asked: Asked, command: &BackgroundCommand) -> Result<Self, BrokerFault> {
        let mut id = [0; 16];
        shared.environment.fill_random(&mut id);
        let process = Process::new(ProcessId::from_bytes(id), &asked, command, shared.environment.now());
        let process = shared.table.admit(process)?;
        let begun = Event::ProcessBegun { asked: asked.clone(), timeout_ms: command.timeout_ms };
        let begun = shared.submit(begun);
        // From here on there may be a record of it, whoever still waits, and then there is one of its end.
        let unfinished = ProcessEnd::Cancelled;
        let mut life = Self { shared: Arc::clone(shared), process, asked: Some(asked), unfinished };
        if begun.durable().await.is_err() {
            life.unfinished = ProcessEnd::Lost;
            return Err(BrokerFault::Unavailable);
        }
        Ok(life)
    }

    /// It is over: recorded first, told second.
    async fn settle(mut self, why: ProcessEnd, status: Option<i32>) {
        if let Some(recorded) = self.record(why, status) {
            let _ = recorded.durable().await;
        }
        self.process.end(Ended::now(why, status));
    }

    fn record(&mut self, why: ProcessEnd, status: Option<i32>) -> Option<Submission> {
        let asked = self.asked.take()?;
        let ran_ms = self.process.ran_ms().into();
        Some(self.shared.submit(Event::ProcessEnded { asked, why, status, ran_ms }))
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        let why = self.unfinished;
        drop(self.record(why, None));
        self.process.end(Ended::now(why, None));
    }
}

/// A command that nobody was told of yet: dropped, it is ended.
struct Unclaimed(Option<Arc<Process>>);

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if let Some(process) = &self.0 {
            process.stop(ProcessEnd::Cancelled);
        }
    }
}

//! Whatever becomes of calls and of their host, the next start of the log leaves one outcome of each.

#[cfg(test)]
#[expect(dead_code, unused_imports, reason = "each suite uses some of the laboratory")]
#[path = "../fixtures/mod.rs"]
mod fixtures;

#[cfg(test)]
mod kills;

#[cfg(test)]
mod tests {
    use core::future::{Future, poll_fn};
    use core::pin::Pin;
    use core::task::{Context, Poll, Waker};
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
    use std::time::Duration;

    use capability_core::approval::{DigestKey, OperatorMint};
    use capability_core::audit::{Receipt, Sink};
    use capability_core::executor::{Ended, InlineRunner, Parts, Setup};
    use capability_core::session::{Declarations, Mode, SessionMint, Subject};
    use capability_core::store::{Answer, MemoryApprovals, MemoryTurns};
    use capability_core::{Executor, Outcome, Registry};
    use capability_host::audit_log::{AuditLog, tail, verify};
    use proptest::prelude::*;
    use proptest::test_runner::TestRunner;
    use serde_json::{Value, json};

    use crate::fixtures::bench::{ROOMY, identity, proposal};
    use crate::fixtures::capabilities::ACTING;
    use crate::fixtures::parts::Broken;

    /// How many calls a kill met, after their intent and before.
    static UNKNOWN: AtomicU64 = AtomicU64::new(0);
    static NOT_STARTED: AtomicU64 = AtomicU64::new(0);

    /// What happens next.
    #[derive(Debug, Clone, Copy)]
    enum Step {
        /// A call begins: which capability, and what its body does.
        Begin(usize, &'static str),
        /// A call goes on as far as it can.
        Poll(usize),
        /// Its caller goes away.
        Cancel(usize),
        /// Every deadline passes.
        TimeOut,
        /// The host is killed: what stands in its files at this moment is all that the next one finds.
        Kill,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let behaviour = prop::sample::select(vec!["answer", "wait", "panic_after", "hang", "fail_private"]);
        let step = prop_oneof![
            3 => (0..4_usize, behaviour).prop_map(|(which, behaviour)| Step::Begin(which, behaviour)),
            12 => (0..6_usize).prop_map(Step::Poll),
            1 => (0..6_usize).prop_map(Step::Cancel),
            1 => Just(Step::TimeOut),
            2 => Just(Step::Kill),
        ];
        prop::collection::vec(step, 10..50)
    }

    struct World {
        executor: Executor,
        sessions: SessionMint,
        operators: OperatorMint,
        subject: Subject,
        audit: PathBuf,
    }

    type Running = Pin<Box<dyn Future<Output = Outcome>>>;

    impl World {
        fn new(dir: &Path) -> Self {
            static NUMBER: AtomicU8 = AtomicU8::new(0);
            let audit = dir.join("audit");
            let parts = Broken::default();
            parts.switch.set(capability_core::policy::OptIn::On);
            let (log, _) = AuditLog::open(&audit).expect("a fresh log opens");
            let Parts { executor, sessions, operators } = Executor::build(Setup {
                registry: Registry::collect(&["capability-tests", "capabilities"]).expect("fit to start"),
                runner: Arc::new(InlineRunner),
                broker: Arc::clone(&parts.bindings) as _,
                sink: Arc::new(log) as Arc<dyn Sink>,
                approvals: Arc::new(MemoryApprovals::new()),
                turns: Arc::new(MemoryTurns::new()),
                opt_ins: Arc::clone(&parts.switch) as _,
                grants: Arc::new(capability_core::store::MemoryGrants::new()),
                grant_limits: capability_core::approval::GrantLimits::off(),
                history: Arc::new(capability_core::store::MemoryHistory::new()),
                policy: Arc::clone(&parts.policy) as _,
                providers: Arc::new(capability_core::provider::NoProviders),
                environment: Arc::clone(&parts.time) as _,
                key: DigestKey::new([7; 32]),
                limits: ROOMY,
            });
            let subject = format!("survivor-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
            Self { executor, sessions, operators, subject: subject.parse().expect("plain"), audit }
        }

        /// A call to its end, with an operator who says yes where one is asked.
        fn begin(&self, which: usize, behaviour: &str) -> Running {
            let session = self.sessions.open(identity(&self.subject, 1, Mode::Live, 1), Declarations::everything());
            let operator = self.operators.admit("operator".parse().expect("plain"));
            let proposal = proposal(ACTING[which], &json!({ "behaviour": behaviour }));
            let executor = self.executor.clone();
            Box::pin(async move {
                let outcome = executor.invoke(&session, proposal).await;
                let Ended::Pending { approval, .. } = outcome.ended() else { return outcome };
                let approval = *approval;
                match executor.answer(&operator, approval, Answer::Approve).await {
                    Ok(_) => executor.resume(&session, approval).await,
                    Err(_) => outcome,
                }
            })
        }

        /// The files as they are while the host goes on writing: the checkpoint before what it was signed for.
        fn killed(&self, into: &Path) {
            let to = into.join("audit");
            fs::DirBuilder::new().create(&to).expect("a directory");
            fs::set_permissions(&to, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("closed");
            fs::copy(self.audit.with_extension("key"), to.with_extension("key")).expect("the key");
            fs::copy(self.audit.join("checkpoint"), to.join("checkpoint")).expect("the checkpoint");
            for file in fs::read_dir(&self.audit).expect("readable").filter_map(Result::ok) {
                if file.file_name().to_string_lossy().starts_with("seg-") {
                    fs::copy(file.path(), to.join(file.file_name())).expect("a segment");
                }
            }
        }
    }

    /// The next start finds what was acknowledged, and leaves one outcome of every invocation.
    fn survives(audit: &Path, promised: &[Receipt]) {
        let (log, opened) = AuditLog::open(audit).expect("whatever a kill leaves is put right");
        drop(log);
        assert!(promised.iter().all(|receipt| receipt.seq <= opened.records), "{promised:?}, {opened:?}");
        assert_eq!(verify(audit).expect("readable").exit_code(), 0);
        let mut outcomes = BTreeMap::<String, (Vec<String>, bool)>::new();
        for line in tail(audit, usize::MAX).expect("readable") {
            let record: Value = serde_json::from_str(&line).expect("a record");
            let Some(invocation) = record["invocation"].as_str() else { continue };
            let (ends, intent) = outcomes.entry(invocation.to_owned()).or_default();
            match record["event"].as_str() {
                Some("outcome") => ends.push(line.clone()),
                Some("intent") => *intent = true,
                _ => {}
            }
        }
        for (invocation, (ends, intent)) in outcomes {
            assert_eq!(ends.len(), 1, "{invocation}: {ends:?}");
            let end: Value = serde_json::from_str(&ends[0]).expect("a record");
            if end["outcome"] == "interrupted" {
                assert_eq!(end["effect"], if intent { "unknown" } else { "not_started" }, "{end}");
                if intent { &UNKNOWN } else { &NOT_STARTED }.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    async fn play(steps: Vec<Step>) {
        let dir = tempfile::tempdir().expect("a directory");
        let world = World::new(dir.path());
        let mut running: Vec<Running> = Vec::new();
        let mut promised = Vec::new();
        for step in steps {
            match step {
                Step::Begin(which, behaviour) => running.push(world.begin(which, behaviour)),
                Step::Poll(which) if which < running.len() => {
                    // The committer is a thread of its own: sometimes it is done by now, and sometimes not.
                    std::thread::sleep(Duration::from_micros(300));
                    let polled =
                        poll_fn(|_| Poll::Ready(running[which].as_mut().poll(&mut Context::from_waker(Waker::noop()))))
                            .await;
                    if let Poll::Ready(outcome) = polled {
                        promised.extend(outcome.receipt());
                        drop(running.swap_remove(which));
                    }
                    tokio::task::yield_now().await;
                }
                Step::Cancel(which) if which < running.len() => drop(running.swap_remove(which)),
                Step::TimeOut => tokio::time::advance(Duration::from_secs(30)).await,
                Step::Kill => {
                    let copy = tempfile::tempdir().expect("a directory");
                    world.killed(copy.path());
                    survives(&copy.path().join("audit"), &promised);
                }
                Step::Poll(_) | Step::Cancel(_) => {}
            }
        }
        drop(running);
        let World { executor, audit, .. } = world;
        drop(executor);
        survives(&audit, &promised);
    }

    #[test]
    fn every_interleaving_of_ends_and_a_kill_leaves_one_outcome_each() {
        let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
        let hook = std::panic::take_hook();
        // Bodies panic on purpose.
        std::panic::set_hook(Box::new(|_| {}));
        let counted = || [&UNKNOWN, &NOT_STARTED].map(|count| count.load(Ordering::Relaxed));
        let enough = || counted().iter().all(|count| *count > 5);
        let play_one = |steps| {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .start_paused(true)
                .build()
                .expect("a runtime")
                .block_on(play(steps));
            Ok(())
        };
        // Chance decides how many kills meet an open call: rounds are added until enough of both kinds did.
        let mut ran = TestRunner::new(config.clone()).run(&steps(), play_one);
        for _ in 0..20 {
            if ran.is_err() || enough() {
                break;
            }
            ran = TestRunner::new(config.clone()).run(&steps(), play_one);
        }
        std::panic::set_hook(hook);
        if let Err(failed) = ran {
            panic!("{failed}");
        }
        assert!(enough(), "kills met calls: {:?}", counted());
    }
}

//! The two calls that are measured, and the executor around them.

pub mod calls;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use capability_core::approval::DigestKey;
use capability_core::audit::MemorySink;
use capability_core::contract::Class;
use capability_core::executor::{InlineRunner, Limits, Parts, Setup};
use capability_core::handle::{Broker, BrokerFault, BrokerReply, BrokerRequest, HandleKind, Lease};
use capability_core::policy::MemoryPolicy;
use capability_core::session::{Declarations, Mode, Origin, SessionId, SessionIdentity, Subject, TurnId};
use capability_core::store::{MemoryApprovals, MemoryOptIns, MemoryTurns};
use capability_core::{BoxFuture, Environment, Executor, Registry, Session, Timestamp};

struct Still;

impl Environment for Still {
    fn now(&self) -> Timestamp {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Timestamp::from_micros(now.as_micros() as i64)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

struct Nothing;

impl Broker for Nothing {
    fn serves(&self, _: HandleKind, _: Class) -> bool {
        true
    }

    fn serve(&self, _: &Lease, _: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        Box::pin(core::future::ready(Err(BrokerFault::Unserved)))
    }
}

/// An executor with everything in memory, and a session whose turn changes with every call.
pub struct Bench {
    pub executor: Executor,
    pub sink: Arc<MemorySink>,
    pub policy: Arc<MemoryPolicy>,
    pub parts_sessions: capability_core::session::SessionMint,
    turn: AtomicU64,
}

impl Bench {
    pub fn new() -> Self {
        Self::with(Arc::new(capability_core::provider::NoProviders))
    }

    pub fn with(providers: Arc<dyn capability_core::provider::Providers>) -> Self {
        let (sink, policy) = (Arc::new(MemorySink::new()), Arc::new(MemoryPolicy::new()));
        let Parts { executor, sessions, operators: _ } = Executor::build(Setup {
            registry: Registry::collect(&["capability-core"]).unwrap(),
            runner: Arc::new(InlineRunner),
            broker: Arc::new(Nothing),
            sink: Arc::clone(&sink) as _,
            approvals: Arc::new(MemoryApprovals::new()),
            turns: Arc::new(MemoryTurns::new()),
            opt_ins: Arc::new(MemoryOptIns::new()),
            grants: Arc::new(capability_core::store::MemoryGrants::new()),
            grant_limits: capability_core::approval::GrantLimits::off(),
            history: Arc::new(capability_core::store::MemoryHistory::new()),
            policy: Arc::clone(&policy) as _,
            providers,
            environment: Arc::new(Still),
            key: DigestKey::new([7; 32]),
            limits: Limits { per_turn: u32::MAX, ..Limits::default() },
        });
        Self { executor, sink, policy, parts_sessions: sessions, turn: AtomicU64::new(0) }
    }

    /// A session in a new turn; call it now and then so that no cap is reached.
    pub fn session(&self) -> Session {
        let turn = TurnId(self.turn.fetch_add(1, Ordering::Relaxed));
        let identity = SessionIdentity {
            id: SessionId::from_bytes([1; 16]),
            subject: Subject::local(),
            mode: Mode::Live,
            origin: Origin::Model,
            turn,
        };
        self.parts_sessions.open(identity, Declarations::everything())
    }
}

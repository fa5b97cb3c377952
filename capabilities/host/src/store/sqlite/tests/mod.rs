mod contract;
mod denied;
mod desk;
mod file;
mod grants;
mod health;
mod killed;
mod turns_and_journal;

use std::sync::Arc;

use capability_core::Timestamp;
use capability_core::approval::{ApprovalId, Claims, Filed, Ground, InvocationDigest, PendingApproval};
use capability_core::contract::{Class, Network, Risk, SideEffect, TargetKind};
use capability_core::policy::Verdict;
use capability_core::session::{Mode, Origin, SessionId, SessionIdentity, Subject, TurnId};
use capability_core::store::{Approvals, MemoryApprovals};
use capability_core::{Code, Preview};

use super::Database;

/// What a caller wrote: must be in no file once the approval is final.
const MARKER: &str = "zanzibar-tangerine";

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(1_000_000_000_000_000 + micros)
}

fn id(number: u64) -> ApprovalId {
    let mut bytes = [0; 16];
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    ApprovalId::from_bytes(bytes)
}

fn digest(byte: u8) -> InvocationDigest {
    InvocationDigest::from_bytes([byte; 32])
}

fn identity(subject: &str) -> SessionIdentity {
    SessionIdentity {
        id: SessionId::from_bytes([7; 16]),
        subject: subject.parse::<Subject>().unwrap(),
        mode: Mode::Plan,
        origin: Origin::Model,
        turn: TurnId(u64::MAX),
    }
}

/// A pending invocation that expires at `expires`.
fn filed(number: u64, subject: &str, expires: i64) -> Filed {
    let approval = PendingApproval {
        id: id(number),
        capability: "web.search".to_owned(),
        version: core::num::NonZeroU32::MIN,
        class: Class::new(SideEffect::ReadOnly, Network::External),
        risk: Risk::High,
        identity: identity(subject),
        slot: None,
        behind: Vec::new(),
        arguments: format!(r#"{{"query":"{MARKER} é"}}"#).into_bytes(),
        target: Some((TargetKind::Url, format!("https://{MARKER}.example/"))),
        preview: Some(Preview { text: MARKER.to_owned(), rests_on: vec![[9; 32]], ..Preview::default() }),
        claims: Claims { reason: Some(MARKER.to_owned()), evidence: None },
        because: vec![Code::FloorRequired],
        verdict: Verdict::AskFresh,
        grant: None,
        provider: None,
        instead_of: None,
        created_at: at(0),
        expires_at: at(expires),
    };
    let mut repeated = [3; 32];
    repeated[..8].copy_from_slice(&number.to_be_bytes());
    Filed {
        approval,
        digest: digest(1),
        repeated: InvocationDigest::from_bytes(repeated),
        ground: Ground::from_bytes(&[7; 96]),
    }
}

/// The directory and a store in it.
fn sqlite() -> (tempfile::TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open(&dir.path().join("state.db")).unwrap();
    (dir, database)
}

/// Runs one test against both implementations.
async fn both<F: Future<Output = ()>>(test: impl Fn(Arc<dyn Approvals>) -> F) {
    test(Arc::new(MemoryApprovals::new())).await;
    let (_dir, database) = sqlite();
    test(Arc::new(database.approvals())).await;
}

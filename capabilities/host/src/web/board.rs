//! What waits, in the order in which people should look at it; worked out once for everybody who looks.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use capability_core::approval::{ApprovalId, ApprovalStatus, ApprovalSummary, Operator, PendingApproval};
use capability_core::store::StoreFault;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use crate::display::target::Brief;
use crate::service::Service;
use crate::words::acting_for;

/// One call that waits.
#[derive(Debug, Clone)]
pub struct Waiting {
    /// Where it stands.
    pub summary: ApprovalSummary,
    /// What it acts on.
    pub target: Option<Brief>,
    /// For whom it is asked, in words behind its subject.
    pub acts_for: String,
    /// The same for calls of one subject that ask for the same thing.
    same: [u8; 32],
}

impl Waiting {
    /// One that stands for itself.
    pub const fn new(summary: ApprovalSummary, target: Option<Brief>) -> Self {
        Self { summary, target, acts_for: String::new(), same: [0; 32] }
    }
}

/// Everything that waits, at one revision.
#[derive(Default)]
pub struct Snapshot {
    revision: Option<u64>,
    /// For an answer: the gravest first, and of those what expires first. Identical ones stand together.
    pub waiting: Vec<Vec<Waiting>>,
    /// For its run: it is answered.
    pub answered: Vec<Waiting>,
    /// The queue as it was rendered from this.
    pub rendered: OnceLock<Bytes>,
}

impl Snapshot {
    /// How many wait for an answer.
    pub fn count(&self) -> usize {
        self.waiting.iter().map(Vec::len).sum()
    }

    fn all(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter().flatten().chain(&self.answered)
    }

    /// Where everything stands that has not ended.
    pub fn standing(&self) -> HashMap<ApprovalId, &Waiting> {
        self.all().map(|waiting| (waiting.summary.id, waiting)).collect()
    }
}

/// Keeps the newest snapshot.
#[derive(Default)]
pub struct Board {
    newest: Mutex<Arc<Snapshot>>,
}

impl Board {
    /// What waits now, for an operator. Of those who ask at once, one looks and all are told.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn look(&self, service: &Service, operator: &Operator) -> Result<Arc<Snapshot>, StoreFault> {
        let mut newest = self.newest.lock().await;
        // Read before the store: what changes meanwhile makes the next look look again.
        let revision = *service.host().executor().changes(operator).borrow();
        let due = newest.all().any(|waiting| waiting.summary.expires_at <= service.host().environment().now());
        if newest.revision == Some(revision) && !due {
            return Ok(Arc::clone(&newest));
        }
        let open = service.host().executor().waiting(operator).await?;
        let known: HashMap<_, _> = newest.all().map(|waiting| (waiting.summary.id, waiting.clone())).collect();
        let mut all = Vec::with_capacity(open.len());
        for summary in open {
            let waiting = match known.get(&summary.id) {
                Some(known) => Waiting { summary, ..known.clone() },
                None => match service.host().filed(operator, summary.id).await? {
                    Some(filed) => {
                        let (same, acts_for) = (same(&filed.approval), acting_for(&filed.approval.behind));
                        // A proposer decides how long a target is; what is kept for everybody who looks is bounded.
                        let target = filed.approval.target.map(|(kind, target)| Brief::of(kind, &target));
                        Waiting { same, target, acts_for, summary }
                    }
                    // It ended while we looked.
                    None => continue,
                },
            };
            all.push(waiting);
        }
        *newest = Arc::new(in_order(all, revision));
        Ok(Arc::clone(&newest))
    }
}

/// Every part is written with its length before it.
fn same(approval: &PendingApproval) -> [u8; 32] {
    let (kind, target) = approval.target.as_ref().map_or(("", ""), |(kind, target)| (kind.as_str(), target.as_str()));
    let mut hash = Sha256::new();
    for part in [
        approval.capability.as_bytes(),
        &approval.version.get().to_be_bytes(),
        approval.identity.subject.as_str().as_bytes(),
        acting_for(&approval.behind).as_bytes(),
        kind.as_bytes(),
        target.as_bytes(),
        &approval.arguments,
    ] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn in_order(all: Vec<Waiting>, revision: u64) -> Snapshot {
    let (mut waiting, mut answered): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|waiting| waiting.summary.status == ApprovalStatus::Pending);
    answered.sort_by_key(|waiting| waiting.summary.expires_at);
    waiting.sort_by_key(|waiting| (core::cmp::Reverse(waiting.summary.risk), waiting.summary.expires_at));
    let mut groups: Vec<Vec<Waiting>> = Vec::new();
    let mut place = HashMap::new();
    for one in waiting {
        let at = *place.entry(one.same).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    Snapshot { revision: Some(revision), waiting: groups, answered, rendered: OnceLock::new() }
}

//! Rules about paths, held against every path that a call asks for beyond its target.
//!
//! A call is judged by what its arguments name. One that searches a directory asks for files that no argument names, and a
//! rule about one of them is about this call, too.

use std::sync::Arc;

use super::{Binding, OptIn, Policy, Question, Verdict, evaluate};
use crate::contract::{Capability, TargetKind};
use crate::session::Session;
use crate::time::Timestamp;

/// The rules as they were when the call began, and for whom it is.
pub(crate) struct PathRules {
    pub(crate) policy: Arc<Policy>,
    pub(crate) session: Session,
    pub(crate) scope: Option<String>,
    pub(crate) at: Timestamp,
}

impl PathRules {
    /// Whether a call with this target may ask for this path: rules say no more to it than they said to the call, or only
    /// that a person is to be asked, and one was.
    pub(crate) fn admit(&self, entry: &Capability, target: Option<&str>, path: &str, answered: bool) -> bool {
        if target == Some(path) {
            return true;
        }
        let said = self.said(entry, Some(path));
        said < Verdict::Deny && (answered || said <= self.said(entry, target))
    }

    fn said(&self, entry: &Capability, path: Option<&str>) -> Verdict {
        let identity = self.session.identity();
        let decision = evaluate(&Question {
            capability: entry,
            class: entry.class(),
            subject: &identity.subject,
            origin: identity.origin,
            declarations: self.session.declarations(),
            behind: self.session.behind(),
            scope: self.scope.as_deref(),
            target: path.map(|path| (TargetKind::Path, path)),
            mode: identity.mode,
            opt_in: OptIn::On,
            binding: Binding::Bound,
            raised: None,
            acts_on: &[],
            secrets: &[],
            faulted: false,
            at: self.at,
            policy: &self.policy,
        });
        decision.verdict()
    }
}

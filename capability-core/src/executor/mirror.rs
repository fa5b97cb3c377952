//! What a session could do, by the same parts that would judge it.

use super::Executor;
use crate::code::Code;
use crate::contract::Capability;
use crate::policy::OptIn;
use crate::policy::analysis::{Asker, Surroundings};
use crate::self_model::SelfModel;
use crate::session::{Session, Subject};

impl Executor {
    /// What this session can do at this moment, what it takes, and what is out of its reach and why.
    #[must_use]
    pub fn self_model(&self, session: &Session) -> SelfModel {
        let identity = session.identity();
        let asker = Asker {
            subject: &identity.subject,
            declarations: session.declarations(),
            mode: identity.mode,
            behind: session.behind(),
        };
        let now = self.0.environment.now();
        SelfModel::of(self.registry(), &self.policy(), &asker, identity.origin, self, now)
    }
}

impl Surroundings for Executor {
    fn opt_in(&self, family: &str) -> OptIn {
        self.0.opt_ins.state(family)
    }

    fn binds(&self, entry: &Capability) -> bool {
        self.is_bound(entry)
    }

    fn provider_fault(&self, entry: &Capability, subject: &Subject) -> Option<Code> {
        let held = self.registry().resolve(entry.name().as_str(), entry.version().get())?;
        self.0.provider_fault(held, subject)
    }
}

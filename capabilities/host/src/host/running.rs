//! What runs on in this host: turns of agents, and commands in the background.

use capability_core::Timestamp;
use capability_core::approval::Operator;
use capability_core::audit::{ConfiguredName, InvocationId, RunKind, RunStopped, SettingKey};
use capability_core::handle::BrokerFault;
use capability_core::session::{Declarations, Principal, Session, SessionIdentity, SlotPath, Subject};

use super::Host;
use crate::error::SettingError;
use crate::secrets::redactor;

/// One of them, as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// What it is called: 32 hexadecimal digits.
    pub id: String,
    /// What kind of thing it is.
    pub kind: RunKind,
    /// The agent's name, or the beginning of the command, without a secret that the host knows: untrusted text.
    pub what: String,
    /// In whose name it runs.
    pub subject: Subject,
    /// For whom that one acts, where it is an agent.
    pub acts_for: Option<Subject>,
    /// Since when.
    pub since: Timestamp,
    /// When its time is over.
    pub ends_at: Timestamp,
    /// The call that began it.
    pub invocation: InvocationId,
}

impl Host {
    /// Everything that runs on, the oldest first, for operators.
    #[must_use]
    pub fn running(&self, _: &Operator) -> Vec<Running> {
        let mut all = self.agents().running();
        let processes = self.broker.processes().map(|processes| processes.running()).unwrap_or_default();
        all.extend(processes.into_iter().map(|(subject, invocation, seen)| Running {
            id: seen.id.to_string(),
            kind: RunKind::Process,
            what: redactor().text(&seen.command).into_owned(),
            subject,
            acts_for: None,
            since: seen.began_at,
            ends_at: seen.began_at.after(core::time::Duration::from_millis(seen.timeout_ms.into())),
            invocation,
        }));
        all.sort_by(|one, other| (one.since, &one.id).cmp(&(other.since, &other.id)));
        all
    }

    /// Stops one of those, with everything that it started: recorded first, stopped second. It is gone when this comes back.
    ///
    /// # Errors
    /// [`SettingError::NoSuchRun`] when nothing runs under that id; [`SettingError::Log`] when it could not be recorded, and it goes on
    /// then; [`SettingError::StillEnding`] when it was told to end and is not gone yet.
    pub async fn stop_running(&self, operator: &Operator, id: &str) -> Result<RunKind, SettingError> {
        let found = self.running(operator).into_iter().find(|running| running.id == id);
        let Running { kind, subject, invocation, .. } = found.ok_or(SettingError::NoSuchRun)?;
        let key = SettingKey::Stopped(RunStopped { kind, subject, invocation });
        self.executor.record_setting(operator, key).await?;
        let ended = match kind {
            RunKind::Agent => match id.parse() {
                Ok(run) => self.agents().end(run).await,
                Err(_) => Err(BrokerFault::UnknownRun),
            },
            RunKind::Process => match (self.broker.processes(), id.parse()) {
                (Some(processes), Ok(id)) => processes.end(id).await,
                _ => Err(BrokerFault::UnknownProcess),
            },
        };
        match ended {
            // What ended by itself meanwhile has ended.
            Ok(()) | Err(BrokerFault::UnknownRun | BrokerFault::UnknownProcess) => Ok(kind),
            Err(_) => Err(SettingError::StillEnding),
        }
    }

    /// Opens a session of a subject that acts for these, the nearest first, each of whom is held to what its own manifest declares
    /// now: to nothing where it has none any more.
    pub(crate) fn open_behind(
        &self,
        principals: &[Principal],
        slot: Option<SlotPath>,
        identity: SessionIdentity,
        declarations: Declarations,
    ) -> Session {
        let open = |above: Option<&(Session, Option<ConfiguredName>)>, slot, identity, declarations| match above {
            None => self.sessions().open_in(slot, identity, declarations),
            Some((parent, by)) => self.sessions().open_for_in(parent, (by.clone(), slot), identity, declarations),
        };
        let mut above = None;
        for Principal { identity, slot, agent } in principals.iter().rev() {
            let declared = self.declarations(&identity.subject, slot.as_ref());
            let session = open(above.as_ref(), slot.clone(), identity.clone(), declared);
            above = Some((session, agent.clone()));
        }
        open(above.as_ref(), slot, identity, declarations)
    }
}

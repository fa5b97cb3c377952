//! What the broker has to do with commands that run on.

use std::sync::Arc;

use capability_core::BoxFuture;
use capability_core::audit::Sink;
use capability_core::handle::{BrokerFault, BrokerReply, BrokerRequest, Lease};
use capability_core::session::SessionId;

use super::terminal::{Beginning, Processes};
use super::{HostBroker, refused};

impl HostBroker {
    /// The same broker, which records there what it does for a call beside what is recorded of every call, and in which commands can
    /// be left running once it [stays](Self::stay).
    #[must_use]
    pub fn recording(self, sink: Arc<dyn Sink>) -> Self {
        let processes = Processes::new(Arc::clone(&self.environment), Arc::clone(&sink));
        Self { sink: Some(sink), processes: Some(Arc::new(processes)), ..self }
    }

    /// The host stays until it is told to end: from now on commands can be left running in it.
    pub fn stay(&self) {
        if let Some(processes) = &self.processes {
            processes.stay();
        }
    }

    /// Nobody asks in this session any more: what was left running in it ends.
    pub fn leave(&self, session: SessionId) {
        if let Some(processes) = &self.processes {
            processes.leave(session);
        }
    }

    /// The commands that were left running, if any can be.
    pub(crate) fn processes(&self) -> Option<&Processes> {
        self.processes.as_deref()
    }

    /// Begins one, or looks at those of the lease's own subject: there is nothing in a request that could name another's.
    pub(super) fn in_background(
        &self,
        lease: &Lease,
        request: BrokerRequest,
    ) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        let Some(processes) = self.processes.clone() else { return refused(BrokerFault::Unserved) };
        let (files, by) = (self.files.clone(), Beginning::of(lease));
        let subject = lease.identity().subject.clone();
        self.carried(lease, async move {
            let page = match request {
                BrokerRequest::Start { command } => {
                    let files = files.ok_or(BrokerFault::Unserved)?;
                    processes.start(&files, by?, command).await?
                }
                BrokerRequest::Inspect { id, stdout, stderr } => processes.inspect(&subject, id, stdout, stderr)?,
                BrokerRequest::Stop { id } => processes.stop(&subject, id).await?,
                _ => return Ok(BrokerReply::Processes(processes.list(&subject))),
            };
            Ok(BrokerReply::Process(Box::new(page)))
        })
    }
}

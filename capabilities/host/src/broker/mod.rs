//! What stands behind the handles.

mod device;
#[cfg(target_os = "linux")]
mod linux;

pub use device::{DeviceSource, machine};
#[cfg(target_os = "linux")]
pub use linux::LinuxDevice;

use std::sync::Arc;

use capability_core::contract::Class;
use capability_core::handle::{Broker, BrokerFault, BrokerReply, BrokerRequest, HandleFamily, HandleKind, Lease};
use capability_core::{BoxFuture, Environment};

use crate::store::sqlite::SqliteJournal;

/// Serves `Context`, `Clock`, `Device` and `Journal`. What it does not serve is refused at policy with
/// `missing_runtime_binding`, before anything runs.
pub struct HostBroker {
    environment: Arc<dyn Environment>,
    device: Arc<dyn DeviceSource>,
    journal: SqliteJournal,
}

impl HostBroker {
    /// A broker in front of this clock, this machine and these journals.
    #[must_use]
    pub fn new(environment: Arc<dyn Environment>, device: Arc<dyn DeviceSource>, journal: SqliteJournal) -> Self {
        Self { environment, device, journal }
    }
}

impl core::fmt::Debug for HostBroker {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("HostBroker")
    }
}

impl Broker for HostBroker {
    fn serves(&self, kind: HandleKind, _: Class) -> bool {
        match kind.family() {
            HandleFamily::Context | HandleFamily::Clock | HandleFamily::Device | HandleFamily::Journal => true,
            HandleFamily::Http | HandleFamily::Endpoint | HandleFamily::Workspace | HandleFamily::Secret => false,
        }
    }

    fn serve(&self, lease: &Lease, request: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        match request {
            BrokerRequest::Now => {
                let now = self.environment.now();
                Box::pin(core::future::ready(Ok(BrokerReply::Now(now))))
            }
            BrokerRequest::Device => {
                let device = Arc::clone(&self.device);
                // Reading a machine is reading many small files, and a file system that hangs must not hang its caller.
                Box::pin(async move {
                    let readings = tokio::task::spawn_blocking(move || device.readings()).await;
                    readings
                        .map(|readings| BrokerReply::Device(Box::new(readings)))
                        .map_err(|_| BrokerFault::Unavailable)
                })
            }
            BrokerRequest::Append { text } => {
                let appended = self.journal.append(lease.identity(), self.environment.now(), text);
                Box::pin(async move { appended.await.map(|()| BrokerReply::Appended) })
            }
            // The request type grows; what this broker does not know it does not serve.
            _ => Box::pin(core::future::ready(Err(BrokerFault::Unserved))),
        }
    }
}

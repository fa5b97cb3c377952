//! `web`: the pages, for those who are not there yet.

use capability_core::approval::Operator;
use serde_json::{Value, json};

use super::Service;
use crate::protocol::{Fault, Probe};

impl Service {
    /// A link that opens one session of the pages.
    pub(super) fn link(&self, _: &Operator) -> Result<Value, Fault> {
        let serving = self.web.get().ok_or_else(|| {
            Fault::refused("no host serves the approval centre here", "start one with `capability serve`")
        })?;
        Ok(json!({ "web": serving.address(), "link": serving.link() }))
    }

    /// Where the pages are, and what keeps others away from them.
    pub(super) fn centre(&self) -> Probe {
        let Some(serving) = self.web.get() else {
            let configured = self.host.config().web().listen;
            return super::doctor::ok(
                "approval centre",
                format!("not served by this host; `serve` would listen at {configured}"),
            );
        };
        let address = serving.address();
        if serving.is_loopback() {
            super::doctor::ok("approval centre", format!("{address}, for this machine alone"))
        } else {
            super::doctor::weak(
                "approval centre",
                format!("{address}, open to other machines, without encryption"),
                "put a proxy that speaks TLS before it, list its name under `[web]` `hosts`, and listen at `127.0.0.1`",
            )
        }
    }
}

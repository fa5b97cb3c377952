//! The self-check's part about where bodies run.

use super::Service;
use super::doctor::{failed, ok, weak};
use crate::protocol::{Fault, Probe};
use crate::runner::{Finding, FindingState};

impl Service {
    /// Puts the sandbox up before anything needs it.
    ///
    /// # Errors
    /// When it does not hold what is promised.
    pub async fn prove_isolation(&self) -> Result<(), Fault> {
        match self.host.runner().attest().await {
            Ok(_) => Ok(()),
            Err(fault) => Err(Fault::broken(fault, "see what is missing with `capability doctor`")),
        }
    }

    pub(super) async fn isolation(&self) -> Vec<Probe> {
        let mut probes = match self.host.runner().attest().await {
            Ok(findings) if findings.is_empty() => vec![none()],
            Ok(findings) => findings.into_iter().map(probe).collect(),
            Err(fault) => {
                let help = "nothing runs without: use a Linux kernel with seccomp and Landlock; where a process could not be started, raise this one's limits (`ulimit -n`, `ulimit -u`)";
                vec![failed("sandbox", fault, help)]
            }
        };
        let in_process = self.host.runner().in_process();
        if !in_process.is_empty() {
            let names: Vec<_> = in_process.iter().map(|name| format!("`{name}`")).collect();
            probes.push(weak(
                "in the host's process",
                format!("{} by configuration: isolation none, deadline cooperative", names.join(", ")),
                "take a name out of `in_process` in `config.toml` once it can do without",
            ));
        }
        probes
    }
}

fn probe(Finding { name, found, state, answers }: Finding) -> Probe {
    let probe = match state {
        FindingState::Holds => ok(&name, found),
        FindingState::Extra => weak(&name, found, "nothing: what is promised holds without it"),
        FindingState::Open => {
            failed(&name, found, "use a kernel that has it; `--accept-degraded` runs without, on record")
        }
    };
    Probe { answers, ..probe }
}

fn none() -> Probe {
    weak(
        "isolation",
        "there are no sandboxed processes on this system: isolation none, deadline cooperative",
        "link only capabilities whose source was reviewed",
    )
}

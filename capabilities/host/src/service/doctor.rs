//! The self-check.

use capability_core::Registry;
use capability_core::contract::Contract;
use capability_core::policy::OptIn;
use capability_core::store::OptIns;

mod bound;
mod providers;
mod secrets;

use super::Service;
use crate::audit_log;
use crate::blocking::blocking;
use crate::policy::Standing;
use crate::protocol::{Fault, Probe, ProbeState};
use crate::words::counted;

impl Service {
    pub(super) async fn doctor(&self) -> Vec<Probe> {
        let mut probes = vec![
            self.directory(),
            self.registry(),
            self.contracts(),
            self.stores().await,
            self.log(),
            self.credential(),
            self.families(),
            self.rules(),
            self.bindings(),
            self.secrets(),
            self.centre(),
            self.channels_probe().await,
        ];
        probes.extend(bound::probes(self.host.config().bindings()));
        probes.extend(self.provider_probes());
        probes.extend(self.isolation().await);
        probes
    }

    fn directory(&self) -> Probe {
        // Opening it refused anything but a directory of this user that nobody else can enter.
        ok(
            "data directory",
            format!("`{}`, closed to everybody else, owned by this host", self.host.data_dir().path().display()),
        )
    }

    fn registry(&self) -> Probe {
        let count = self.host.executor().registry().iter().len();
        if count == 0 {
            return weak("registry", "no capability is linked", "write one with `#[capability]`, or enable `builtins`");
        }
        let capabilities = counted(count, "capability", "capabilities");
        ok("registry", format!("{capabilities}, from listed packages only"))
    }

    fn contracts(&self) -> Probe {
        let registry = self.host.executor().registry();
        let mut unlisted = 0;
        for held in registry.iter() {
            let entry = held.entry();
            let schemas = match held.schemas() {
                Ok(schemas) => schemas,
                Err(fault) => {
                    return failed("contracts", format!("`{entry}`: {fault}"), "its author puts the schema right");
                }
            };
            match Registry::contract_list(entry.package()).map(capability_core::contract::PackageLock::parse) {
                None => unlisted += 1,
                Some(Err(error)) => return told("contracts", &error),
                Some(Ok(lock)) => {
                    if let Some(drift) = lock.schema_drift(&Contract::of(entry, schemas)).first() {
                        return told("contracts", drift);
                    }
                }
            }
        }
        if unlisted > 0 {
            return weak(
                "contracts",
                match unlisted {
                    1 => "1 capability has no checked-in contract".to_owned(),
                    _ => format!("{unlisted} capabilities have no checked-in contract"),
                },
                "see what is missing with `capability contract check`",
            );
        }
        ok("contracts", "every schema is as checked in".into())
    }

    async fn stores(&self) -> Probe {
        match self.host.executor().expire_due().await {
            Ok(_) => ok("stores", "approvals, turns and journal answer".into()),
            Err(error) => failed("stores", error.to_string(), "free some disk space and start the host again"),
        }
    }

    fn log(&self) -> Probe {
        if self.host.is_log_poisoned() {
            return failed(
                "audit log",
                "a write failed; nothing runs until the host starts anew",
                "free some disk space and start the host again",
            );
        }
        if self.host.is_log_short() {
            return failed(
                "audit log",
                "there is no room for more; no call begins until there is",
                "free some disk space; the host goes on by itself then",
            );
        }
        // This waits until the last second's records are signed.
        match blocking(|| audit_log::verify(&self.host.audit_dir())) {
            Ok(report) => {
                // What follows the first line is for `audit verify`.
                let found = report.to_string().lines().next().unwrap_or_default().to_owned();
                match report.exit_code() {
                    0 => ok("audit log", format!("{found}; signed with {}", self.host.verifier_key())),
                    _ => failed("audit log", found, "see what to do with `capability audit verify`"),
                }
            }
            Err(error) => told("audit log", &error),
        }
    }

    fn credential(&self) -> Probe {
        match self.host.operators().credential().is_set_up() {
            Ok(true) => ok("operator credential", "a password is set".into()),
            Ok(false) => weak(
                "operator credential",
                "no password is set, so nobody can approve",
                "run `capability operator setup`",
            ),
            Err(error) => told("operator credential", &error),
        }
    }

    fn families(&self) -> Probe {
        let switches = self.switches();
        let damaged = switches.iter().find(|switch| self.host.opt_ins().state(&switch.family) == OptIn::Damaged);
        if let Some(switch) = damaged {
            return failed(
                "external families",
                format!("the switch of `{}` cannot be read, so it counts as off", switch.family),
                format!("set it again with `capability optin set {} on|off`", switch.family),
            );
        }
        let on = switches.iter().filter(|switch| switch.state == "on").count();
        ok("external families", format!("{on} of {} on", switches.len()))
    }

    fn rules(&self) -> Probe {
        let Standing { policy, strange, problem, .. } = self.host.policy().standing();
        let (rules, revision) = (counted(policy.rules().count(), "rule", "rules"), policy.revision());
        if let Some(problem) = problem {
            let Fault { message, help, .. } = Fault::told(6, &problem);
            let found = format!("{message}; what was in force stays: {rules}, revision {revision}");
            return Probe { help, ..failed("policy", found, "") };
        }
        match strange.first() {
            None if policy.is_empty() => ok("policy", "no rules: floors, defaults and switches decide".into()),
            None => ok("policy", format!("{rules} in force, revision {revision}")),
            Some(first) => {
                let Fault { message, help, .. } = Fault::told(6, first);
                let more = match strange.len() {
                    1 => String::new(),
                    many => format!("; {} more with `capability policy check`", many - 1),
                };
                Probe { help, ..weak("policy", format!("{rules} in force, revision {revision}; {message}{more}"), "") }
            }
        }
    }

    fn bindings(&self) -> Probe {
        let executor = self.host.executor();
        let entries = executor.registry().iter().map(|held| held.entry());
        let unbound: Vec<_> =
            entries.filter(|entry| !executor.is_bound(entry)).map(|entry| format!("`{entry}`")).collect();
        if unbound.is_empty() {
            ok("bindings", "every capability has what it needs".into())
        } else {
            weak(
                "bindings",
                format!("nothing is bound to {}", unbound.join(", ")),
                "see what each needs with `capability describe`",
            )
        }
    }
}

pub(super) fn ok(name: &str, found: String) -> Probe {
    Probe { name: name.into(), state: ProbeState::Ok, found, help: None, answers: vec![] }
}

pub(super) fn weak(name: &str, found: impl Into<String>, help: impl Into<String>) -> Probe {
    Probe { name: name.into(), state: ProbeState::Weak, found: found.into(), help: Some(help.into()), answers: vec![] }
}

pub(super) fn failed(name: &str, found: impl Into<String>, help: impl Into<String>) -> Probe {
    Probe {
        name: name.into(),
        state: ProbeState::Failed,
        found: found.into(),
        help: Some(help.into()),
        answers: vec![],
    }
}

/// A failure that says itself what to do.
pub(super) fn told(name: &str, error: &dyn core::fmt::Display) -> Probe {
    let Fault { message, help, .. } = Fault::told(6, error);
    Probe { name: name.into(), state: ProbeState::Failed, found: message, help, answers: vec![] }
}

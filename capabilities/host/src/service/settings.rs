//! `optin` and `operator`.

use std::collections::BTreeMap;

use capability_core::approval::Operator;
use capability_core::contract::Network;
use capability_core::policy::OptIn;
use capability_core::store::OptIns;
use rustix::process::Pid;
use serde_json::{Value, json};

use super::{Service, terminal};
use crate::operator::TerminalBinding;
use crate::protocol::{Fault, OperatorState, Redacted, Switch};

impl Service {
    pub(crate) fn switches(&self) -> Vec<Switch> {
        let mut families: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for held in self.host.executor().registry().iter() {
            let entry = held.entry();
            if entry.class().network == Network::External {
                families.entry(entry.name().family()).or_default().push(entry.to_string());
            }
        }
        families
            .into_iter()
            .map(|(family, capabilities)| {
                let state = match self.host.opt_ins().state(family) {
                    OptIn::On => "on",
                    OptIn::Off => "off",
                    OptIn::Damaged => "damaged",
                };
                Switch { family: family.to_owned(), state: state.to_owned(), capabilities }
            })
            .collect()
    }

    pub(crate) async fn set_switch(&self, operator: &Operator, family: &str, on: bool) -> Result<Value, Fault> {
        if !self.switches().iter().any(|switch| switch.family == family) {
            return Err(Fault::refused(
                format!("no capability of this build is of the family `{family}` and reaches outside the device"),
                "see the families that do with `capability optin show`",
            ));
        }
        self.host.set_opt_in(operator, family, on).await.map_err(|error| Fault::told(4, &error))?;
        Ok(json!({ "family": family, "state": if on { "on" } else { "off" } }))
    }

    pub(super) fn operator_state(&self, peer: Option<Pid>) -> Result<OperatorState, Fault> {
        let credential = self.host.operators().credential();
        let set_up = credential.is_set_up().map_err(|error| Fault::told(6, &error))?;
        let live = |terminal: TerminalBinding| credential.live_session(&terminal).unwrap_or(false);
        Ok(OperatorState { set_up, live_here: set_up && terminal(peer).is_some_and(live) })
    }

    pub(super) async fn set_password(&self, password: &Redacted, old: Option<&Redacted>) -> Result<Value, Fault> {
        let operators = self.host.operators();
        let set = match old {
            Some(old) => operators.change(old.reveal(), password.reveal()).await,
            None => operators.setup(password.reveal()).await,
        };
        set.map_err(|error| Fault::told(4, &error))?;
        Ok(json!({ "operator": "set" }))
    }

    /// Opens a session: bound to a terminal, or by a token for scripts.
    pub(super) async fn login(
        &self,
        password: &Redacted,
        bind: Option<Option<TerminalBinding>>,
    ) -> Result<Value, Fault> {
        let terminal = match bind {
            None => None,
            Some(Some(terminal)) => Some(terminal),
            Some(None) => {
                return Err(Fault::usage(
                    "there is no terminal to bind the session to",
                    "write a token for scripts with `--token-file FILE`",
                ));
            }
        };
        let bound = terminal.is_some();
        let opened = self.host.operators().login(password.reveal(), terminal).await;
        let (_, token) = opened.map_err(|error| Fault::told(4, &error))?;
        let expires_at = self.host.environment().now().after(crate::operator::SESSION_LIFETIME);
        // A session that is bound to its terminal needs no token, and what is not given cannot be lost.
        Ok(if bound {
            json!({ "expires_at": expires_at })
        } else {
            json!({ "expires_at": expires_at, "token": token.reveal() })
        })
    }

    pub(super) fn logout(&self, _: &Operator) -> Result<Value, Fault> {
        self.host.operators().credential().logout_everywhere().map_err(|error| Fault::told(6, &error))?;
        Ok(json!({ "operator": "logged out" }))
    }
}

//! `list` and `describe`.

use core::num::NonZeroU32;
use std::sync::Arc;

use capability_core::Code;
use capability_core::contract::{Capability, Class, Network};
use capability_core::executor::{Deadline, Isolation};
use capability_core::handle::{HandleFamily, HandleKind, HttpMethod};
use capability_core::policy::OptIn;
use capability_core::provider::{AdmissionStatus, Decisions, ProviderDecision, RuntimeBindingStatus};
use capability_core::registry::Registered;
use capability_core::session::{Declarations, Mode, Origin, Session, SessionId, SessionIdentity, Subject, TurnId};
use capability_core::store::OptIns;
use serde_json::Value;

use super::Service;
use crate::broker::Reach;
use crate::protocol::{Description, Fault, Row};
use crate::words::counted;

impl Service {
    pub(crate) fn list(&self) -> Vec<Row> {
        let decisions = self.host.executor().decisions(&self.local());
        self.host.executor().registry().iter().map(|held| self.row(held, &decisions)).collect()
    }

    pub(crate) fn describe(&self, name: &str, version: Option<NonZeroU32>) -> Result<Description, Fault> {
        let registry = self.host.executor().registry();
        let version = version.or_else(|| registry.newest(name));
        let Some(held) = version.and_then(|version| registry.resolve(name, version.get())) else {
            return Err(Fault::refused(
                format!("no capability is called `{name}` in that version"),
                "see what exists with `capability list`",
            ));
        };
        let entry = held.entry();
        let schema = |side: fn(&capability_core::contract::Schemas) -> &Value| match held.schemas() {
            Ok(schemas) => side(schemas).clone(),
            Err(fault) => Value::String(fault.to_string()),
        };
        Ok(Description {
            row: self.row(held, &self.host.executor().decisions(&self.local())),
            title: entry.title().map(str::to_owned),
            description: entry.description().to_owned(),
            risk: entry.risk().as_str().to_owned(),
            default: entry.default_effect().as_str().to_owned(),
            resident: entry.is_resident(),
            idempotent: entry.is_idempotent(),
            target: entry.target().kind.as_str().to_owned(),
            target_argument: entry.target().argument.map(str::to_owned),
            handles: entry.handles().iter().map(ToString::to_string).collect(),
            bound_to: entry.handles().iter().filter_map(|kind| self.bound_to(kind, entry.class())).collect(),
            package: entry.package().to_owned(),
            location: entry.location().to_string(),
            arguments: schema(|schemas| schemas.arguments()),
            result: schema(|schemas| schemas.result()),
        })
    }

    /// What stands behind a handle, for the families where the operator decides that.
    fn bound_to(&self, kind: &HandleKind, class: Class) -> Option<String> {
        let bindings = self.host.config().bindings();
        Some(match kind.family() {
            HandleFamily::Context
            | HandleFamily::Clock
            | HandleFamily::Device
            | HandleFamily::Journal
            | HandleFamily::OwnHistory
            | HandleFamily::State
            | HandleFamily::Reviews
            | HandleFamily::Schedules
            | HandleFamily::AgentRuns => return None,
            HandleFamily::Http => {
                let allowed = bindings.allowed.iter().map(|place| format!(", {place}"));
                format!("{kind}: the approved public host at port 80 or 443{}", allowed.collect::<String>())
            }
            HandleFamily::Endpoint => match bindings.endpoints.get(kind.instance()) {
                None => format!("{kind}: nothing is configured"),
                Some(settings) => {
                    let reach = settings.reach.as_str();
                    let word = |method| match method {
                        HttpMethod::Get => "GET",
                        HttpMethod::Post => "POST",
                    };
                    let allowed = kind.allowed().iter().map(|(method, path)| format!("{} {path}", word(*method)));
                    let allowed = allowed.collect::<Vec<_>>().join(", ");
                    let kept = class.network == Network::Local && settings.reach == Reach::External;
                    let unless = if kept { ", which no local capability may use" } else { "" };
                    format!("{kind}: {allowed} at {} ({reach}{unless})", settings.place)
                }
            },
            HandleFamily::Workspace => match &bindings.workspace {
                None => format!("{kind}: nothing is configured"),
                Some(root) => format!(
                    "{kind}: {} `{}`",
                    if kind.may_change() { "written below" } else { "read below" },
                    root.display()
                ),
            },
            HandleFamily::Mailer => match &bindings.mail {
                None => format!("{kind}: nothing is configured"),
                Some(mail) => {
                    let recipients = counted(mail.recipients.len(), "listed recipient", "listed recipients");
                    format!("{kind}: from {} by {}, to {recipients}", mail.from, mail.server.place)
                }
            },
            HandleFamily::Repository => {
                match bindings.repositories.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>() {
                    names if names.is_empty() => format!("{kind}: nothing is configured"),
                    names => format!("{kind}: {}, one file at a time", names.join(", ")),
                }
            }
            HandleFamily::Agents => {
                match bindings
                    .agents
                    .iter()
                    .map(|(name, agent)| format!("`{name}` for {}", agent.subject))
                    .collect::<Vec<_>>()
                {
                    agents if agents.is_empty() => format!("{kind}: nothing is configured"),
                    agents => format!("{kind}: {}", agents.join(", ")),
                }
            }
            HandleFamily::Trees => {
                match bindings.trees.iter().map(|(name, tree)| format!("`{name}` at {}", tree.live)).collect::<Vec<_>>()
                {
                    trees if trees.is_empty() => format!("{kind}: nothing is configured"),
                    trees => format!("{kind}: {}", trees.join(", ")),
                }
            }
            HandleFamily::Terminal | HandleFamily::Processes => match &bindings.workspace {
                None => format!("{kind}: no workspace is configured"),
                Some(root) => format!("{kind}: commands in `{}`, without a network", root.display()),
            },
            HandleFamily::Secret => {
                format!("{kind}: the file `{}`", self.host.data_dir().secrets().join(kind.instance()).display())
            }
            HandleFamily::ProviderTool | HandleFamily::ProviderLink => {
                format!("{kind}: {}", self.configured(kind.instance()))
            }
        })
    }

    /// The providers of one kind that the operator configured, by name.
    fn configured(&self, kind: &str) -> String {
        let servers = self.host.providers().told().into_iter();
        let servers = servers.filter(|told| kind == "mcp" && told.whose.is_none()).map(|told| told.name);
        let edges = self.host.edges().told().into_iter().filter(|told| told.kind == kind).map(|told| told.name);
        match servers.chain(edges).map(|name| format!("`{name}`")).collect::<Vec<_>>() {
            names if names.is_empty() => "nothing is configured".to_owned(),
            names => names.join(", "),
        }
    }

    /// The session that this host's own operator asks in, who declares everything.
    fn local(&self) -> Session {
        let identity = SessionIdentity {
            id: SessionId::from_bytes([0; 16]),
            subject: Subject::local(),
            mode: Mode::Live,
            origin: Origin::Terminal,
            turn: TurnId(0),
        };
        self.host.sessions().open(identity, Declarations::everything())
    }

    /// Whether it can be called here and now, as the decision about it says; of what only leads to providers' tools, whether any
    /// of those can.
    fn status(&self, held: &Registered, decisions: &Decisions) -> &'static str {
        let entry = held.entry();
        if held.through().is_none() {
            return decisions.compiled(entry.name().as_str(), entry.version()).map_or("hidden", |own| status_of(own));
        }
        let led = |own: &&Arc<ProviderDecision>| own.definition.is_some() && own.capability == entry.name();
        let mut words = decisions.iter().filter(led).map(|own| status_of(own)).collect::<Vec<_>>();
        words.sort_by_key(|word| *word != "ready");
        let is_off = || {
            entry.class().network == Network::External && self.host.opt_ins().state(entry.name().family()) != OptIn::On
        };
        match words.first() {
            Some(word) => word,
            None if !self.host.executor().is_bound(entry) => "unbound",
            None if is_off() => "off",
            None => AdmissionStatus::ProviderOffline.as_str(),
        }
    }

    fn row(&self, held: &Registered, decisions: &Decisions) -> Row {
        let entry = held.entry();
        let executor = self.host.executor();
        let status = self.status(held, decisions);
        let guarantees = executor.guarantees(entry);
        let isolation = match guarantees.isolation {
            Isolation::None => "none",
            Isolation::Process if guarantees.degraded => "process, degraded",
            Isolation::Process => "process",
        };
        let deadline = match guarantees.deadline {
            Deadline::Cooperative => "cooperative",
            Deadline::Enforced => "enforced",
        };
        Row {
            name: entry.name().as_str().to_owned(),
            version: entry.version(),
            side_effect: entry.class().side_effect.as_str().to_owned(),
            network: entry.class().network.as_str().to_owned(),
            confirmation: entry.confirmation().as_str().to_owned(),
            status: status.to_owned(),
            isolation: isolation.to_owned(),
            deadline: deadline.to_owned(),
            timeout_ms: u64::try_from(entry.bounds().timeout().as_millis()).unwrap_or(u64::MAX),
            max_result: entry.bounds().max_result(),
            per_turn: entry.bounds().per_turn(),
            needs: needs(entry),
            summary: entry.description().lines().next().unwrap_or_default().to_owned(),
        }
    }
}

/// A decision in a word.
fn status_of(decision: &ProviderDecision) -> &'static str {
    match (decision.code(), decision.runtime_binding_status) {
        (None, _) => "ready",
        (Some(Code::Locked), _) => "locked",
        (Some(Code::DefaultDeny), _) => "denied",
        (Some(_), RuntimeBindingStatus::Missing) => "unbound",
        (Some(Code::OptInOff | Code::OptInDamaged), _) => "off",
        (Some(Code::SchemaFault), _) => "faulty",
        (Some(_), RuntimeBindingStatus::Bound) => decision.admission_status.as_str(),
    }
}

/// What an operator brings so that a capability runs, whether or not it is there. What is locked needs nothing that anybody has.
fn needs(entry: &Capability) -> Vec<String> {
    if entry.is_locked() {
        return Vec::new();
    }
    let class = entry.class();
    let brought = entry.handles().iter().filter_map(|kind| match kind.family() {
        HandleFamily::Context
        | HandleFamily::Clock
        | HandleFamily::Device
        | HandleFamily::Journal
        | HandleFamily::OwnHistory
        | HandleFamily::State
        | HandleFamily::Reviews
        | HandleFamily::Schedules
        | HandleFamily::Http => None,
        HandleFamily::Endpoint if class.network == Network::Local => {
            Some(format!("endpoints.{} on the device", kind.instance()))
        }
        HandleFamily::Endpoint => Some(format!("endpoints.{}", kind.instance())),
        HandleFamily::Workspace | HandleFamily::Terminal | HandleFamily::Processes => Some("workspace".to_owned()),
        HandleFamily::Mailer => Some("mail".to_owned()),
        HandleFamily::Repository => Some("repositories".to_owned()),
        HandleFamily::Agents | HandleFamily::AgentRuns => Some("agents".to_owned()),
        HandleFamily::Trees => Some("trees".to_owned()),
        HandleFamily::Secret => Some(format!("secrets/{}", kind.instance())),
        HandleFamily::ProviderTool | HandleFamily::ProviderLink => Some(format!("{}.servers", kind.instance())),
    });
    let switch = (class.network == Network::External).then(|| format!("optin {}", entry.name().family()));
    let mut needs: Vec<String> = brought.chain(switch).collect();
    needs.dedup();
    needs
}

//! What a session is shown: the same decisions that its calls would take.

use std::sync::Arc;

use super::{Executor, Inner};
use crate::contract::{Capability, Network};
use crate::policy::{Binding, Contributor, OptIn, Policy, Question, Verdict, evaluate};
use crate::provider::decide;
use crate::provider::{
    Decisions, ProvidedTool, ProviderDecision, ProviderFact, ProviderSnapshot, ProviderState, ProviderType,
};
use crate::registry::Registered;
use crate::session::{Declarations, Session};
use crate::time::Timestamp;

impl Executor {
    /// The decision about every tool that there is for this session at this moment: made by the same function that a call
    /// passes, from the same providers, and admitted by the same contributors as far as they do not ask for arguments.
    #[must_use]
    pub fn decisions(&self, session: &Session) -> Arc<Decisions> {
        Arc::new(self.decide(session, None))
    }

    /// Those of [`Executor::decisions`] on which it depends what is called `name`: by that name the same tool is found in
    /// these as in all of them, and nothing else need be decided for it.
    #[must_use]
    pub fn decisions_called(&self, session: &Session, name: &str) -> Decisions {
        self.decide(session, Some(name))
    }

    /// About everything, or about what can be called so.
    fn decide(&self, session: &Session, called: Option<&str>) -> Decisions {
        let inner = &self.0;
        let snapshot = inner.providers.snapshot_for(session.identity());
        let policy = inner.policy.current();
        let now = if policy.asks_for_the_time() { inner.environment.now() } else { Timestamp::from_micros(0) };
        let admitting = Admitting { inner, session, policy: &policy, now };
        let all = match called {
            None => {
                let mut all = admitting.every_compiled(inner.registry.iter(), &snapshot);
                for kind in ProviderType::ALL {
                    all.extend(admitting.provided(kind, &snapshot));
                }
                all
            }
            Some(name) => {
                let mut some = admitting.every_compiled(inner.registry.called(name).iter(), &snapshot);
                some.extend(admitting.provided_called(name, &snapshot));
                some
            }
        };
        let revision = *policy.revision().as_bytes();
        // Whoever calls something by its name asks for nothing else.
        let kinds = if called.is_none() { &ProviderType::ALL[..] } else { &[] };
        let unready = kinds.iter().flat_map(|kind| admitting.unready(*kind, &snapshot)).collect();
        Decisions::new(session.identity().id, snapshot.revision(), revision, all, unready)
    }
}

/// Whoever lists for one session.
struct Admitting<'a> {
    inner: &'a Inner,
    session: &'a Session,
    policy: &'a Arc<Policy>,
    now: Timestamp,
}

impl Admitting<'_> {
    /// About these entries, but for those that are only ways to other tools.
    fn every_compiled<'r>(
        &self,
        entries: impl Iterator<Item = &'r Registered>,
        snapshot: &ProviderSnapshot,
    ) -> Vec<ProviderDecision> {
        entries.filter(|held| held.through().is_none()).map(|held| self.compiled(held, snapshot)).collect()
    }

    fn compiled(&self, held: &Registered, snapshot: &ProviderSnapshot) -> ProviderDecision {
        let entry = held.entry();
        let bound = self.inner.binds(entry);
        let elsewhere = decide::of_compiled(entry, bound, snapshot, self.session.identity());
        let decision = elsewhere.unwrap_or_else(|| ProviderDecision::compiled(entry, bound));
        // As a call of it ends: before policy is asked.
        if held.built().is_err() && !self.session.identity().mode.is_refused_on_entry() {
            return decision.blocked(crate::code::Code::SchemaFault);
        }
        let scoped = entry.scope().map(|scope| held.requires(scope));
        self.admitted(entry, decision, None, scoped)
    }

    /// Every tool of providers of one kind, by provider and native id: in the order of the kinds, which are sorted. One entry
    /// leads to them, the newest of that name. Those of other sessions are not this one's to know of.
    fn provided(&self, kind: ProviderType, snapshot: &ProviderSnapshot) -> Vec<ProviderDecision> {
        let Some((entry, bound)) = self.way(kind) else { return Vec::new() };
        let own = snapshot.own(self.session.identity()).filter(|state| state.kind == kind);
        let mut decided: Vec<_> = own
            .flat_map(|state| state.tools.iter().map(|tool| self.provided_tool((entry, bound), state, tool)))
            .collect();
        decided.sort_by(|one, other| (&one.provider_id, &one.native_id).cmp(&(&other.provider_id, &other.native_id)));
        decided
    }

    /// The tools of providers that are called so: one, where no two names are one.
    fn provided_called(&self, name: &str, snapshot: &ProviderSnapshot) -> Vec<ProviderDecision> {
        let called = snapshot.called(name, self.session.identity());
        called.filter_map(|(state, tool)| Some(self.provided_tool(self.way(state.kind)?, state, tool))).collect()
    }

    /// The entry that leads to tools of this kind, and whether this host serves what it holds.
    fn way(&self, kind: ProviderType) -> Option<(&'static Capability, bool)> {
        let registry = &self.inner.registry;
        let held = registry.resolve(way_to(kind)?, registry.newest(way_to(kind)?)?.get())?;
        let entry = (held.through() == Some(kind)).then(|| held.entry())?;
        Some((entry, self.inner.binds(entry)))
    }

    fn provided_tool(
        &self,
        (entry, bound): (&'static Capability, bool),
        state: &ProviderState,
        tool: &ProvidedTool,
    ) -> ProviderDecision {
        let decision = decide::provided(entry, bound, state, tool);
        self.admitted(entry, decision, Some((&state.id, &tool.definition().id.native)), None)
    }

    /// The providers of one kind that are not ready, as far as they are this session's to know of.
    fn unready(&self, kind: ProviderType, snapshot: &ProviderSnapshot) -> Vec<ProviderFact> {
        let Some((entry, _)) = self.way(kind) else { return Vec::new() };
        let own = snapshot.own(self.session.identity()).filter(|state| state.kind == kind);
        // Whoever declares one tool of a provider knows that there is the provider.
        let name = entry.name().as_str();
        let names =
            |declared: &Declarations, id: &str| declared.cover_tool(name, id, "\0") || declared.names_a_tool_of(id);
        let may_know = |state: &&ProviderState| {
            let mut behind = self.session.behind().iter();
            names(self.session.declarations(), &state.id) && behind.all(|own| names(&own.declarations, &state.id))
        };
        own.filter(may_know).filter_map(ProviderFact::of).collect()
    }

    /// With what stands against every call of it, whatever its arguments: what a call names is known for a provider's tool,
    /// and for nothing else. `scoped` says of an entry whose calls name a scope that is not known whether all of them do.
    fn admitted(
        &self,
        entry: &Capability,
        decision: ProviderDecision,
        named: Option<(&str, &str)>,
        scoped: Option<bool>,
    ) -> ProviderDecision {
        let identity = self.session.identity();
        let name = entry.name().as_str();
        let question = Question {
            capability: entry,
            class: decision.class,
            subject: &identity.subject,
            origin: identity.origin,
            declarations: self.session.declarations(),
            behind: self.session.behind(),
            scope: named.map(|(provider, _)| provider),
            target: named.map(|(_, native)| (entry.target().kind, native)),
            acts_on: &[],
            secrets: &[],
            mode: identity.mode,
            opt_in: match decision.class.network {
                Network::Local => OptIn::Off,
                Network::External => self.inner.opt_ins.state(entry.name().family()),
            },
            binding: Binding::of(&decision),
            raised: None,
            faulted: false,
            at: self.now,
            policy: self.policy,
        };
        let judged = evaluate(&question);
        if identity.mode.is_refused_on_entry() {
            return decision.blocked(crate::code::Code::ModeRefused);
        }
        let declared = self.session.declarations();
        // What no declaration can be meant for is not there, as if it were not declared at all.
        if scoped.is_some_and(|always| !declared.cover_some(name, !always)) {
            return decision.blocked(crate::code::Code::Undeclared);
        }
        // What a call names may make it another question.
        let scope_is_open = scoped.is_some();
        let is_open = named.is_none()
            && (scope_is_open || entry.target().argument.is_some())
            && self.policy.looks_at_arguments(name);
        let stands = |contributor: Contributor| match contributor {
            Contributor::Declared => !scope_is_open || declared.deny_all(name),
            Contributor::OperatorRules | Contributor::WorkspaceRules | Contributor::PackageRules => !is_open,
            Contributor::Delegation => !is_open && !scope_is_open,
            _ => true,
        };
        let denies =
            judged.contributions().iter().filter(|said| said.verdict == Verdict::Deny && stands(said.contributor));
        // What a subject does not declare is not there for it, whatever else stands against it.
        let denied = denies.min_by_key(|said| said.contributor != Contributor::Declared);
        match denied {
            Some(said) => decision.blocked(said.code),
            None => decision,
        }
    }
}

/// The capability that a provider's own tools are called through.
const fn way_to(kind: ProviderType) -> Option<&'static str> {
    match kind {
        ProviderType::Compiled => None,
        ProviderType::Edge => Some("edge.call"),
        ProviderType::Mcp => Some("mcp.call"),
        ProviderType::Relay => Some("relay.call"),
    }
}

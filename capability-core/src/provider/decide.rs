//! The one function that decides: from an entry, what is asked of it, and the providers of the moment.
//!
//! Listing and running both come here, and nothing here looks at anything else than what it is given.

use std::borrow::Cow;

use super::{
    FallbackPolicy, ProvidedTool, ProviderDecision, ProviderReach, ProviderSnapshot, ProviderState, ProviderType,
    Route, Standing, Whose,
};
use crate::code::Code;
use crate::contract::{Capability, Class, Network};
use crate::session::SessionIdentity;
use crate::surface::WireName;

/// What an entry whose calls go through is asked for, as far as that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named<'a> {
    pub(crate) provider: &'a str,
    pub(crate) tool: &'a str,
}

/// The decision about a provider's tool.
///
/// # Errors
/// [`Code::UnsupportedCapability`] where there is no provider of that kind at all, [`Code::UnknownTool`] where none of that
/// name has such a tool for this session.
pub(crate) fn of_tool(
    entry: &Capability,
    kind: ProviderType,
    bound: bool,
    named: Option<Named<'_>>,
    snapshot: &ProviderSnapshot,
    who: &SessionIdentity,
) -> Result<ProviderDecision, Code> {
    let Some(Named { provider, tool: native }) = named else {
        return Ok(bare(entry, kind, "", "").blocked(Code::ArgumentsMalformed));
    };
    if !snapshot.has(kind, who) {
        return Err(Code::UnsupportedCapability);
    }
    match snapshot.tool(kind, provider, native, who) {
        Some((state, tool)) => Ok(provided(entry, bound, state, tool)),
        // What is not connected may have it, for all that is known.
        None => match snapshot.provider(kind, provider, who) {
            Some(state) if !state.reach.is_there() => Ok(reached(bare(entry, kind, provider, native), state)),
            Some(_) | None => Err(Code::UnknownTool),
        },
    }
}

/// The decision about one tool of one provider.
pub(crate) fn provided(
    entry: &Capability,
    bound: bool,
    state: &ProviderState,
    tool: &ProvidedTool,
) -> ProviderDecision {
    let (class, raised) = tool.class();
    let mut decision = bare(entry, state.kind, &state.id, &tool.definition().id.native);
    decision.class = class;
    decision.through = entry.scope();
    decision.tool_name = String::from(WireName::of_provided(state.kind, &tool.definition().id)).into();
    decision.definition = Some(tool.definition().clone());
    decision.tool = Some(tool.clone());
    if raised {
        decision.trace_fields.to_mut().push(("class", "raised_by_claims"));
        decision = decision.degraded(Some(Cow::Borrowed(
            "the tool claims more effect than its classification says, so the stricter of both holds",
        )));
    }
    if tool.definition().claims.contradict() {
        decision.trace_fields.to_mut().push(("claims", "contradictory"));
    }
    let decision = reached(decision, state);
    if decision.code.is_some() {
        return decision;
    }
    match tool.standing() {
        Standing::Accepted if bound => decision,
        Standing::Accepted | Standing::Unbound => decision.blocked(Code::MissingRuntimeBinding),
        Standing::Changed => decision.blocked(Code::ToolQuarantined),
        Standing::Faulty(_) => decision.blocked(Code::ToolNotTaken),
    }
}

/// The decision about a compiled capability that providers carry out as well; none when no provider does.
///
/// Priority: what was chosen for the session, its person's own machine, a server of the session, this host, and what an
/// operator approves as a fallback. A capability that looks at a call before anybody is asked is carried out where it looks,
/// which is here: whoever chose another one for it is told, and so is whoever has another one that would.
pub(crate) fn of_compiled(
    entry: &Capability,
    bound: bool,
    snapshot: &ProviderSnapshot,
    who: &SessionIdentity,
) -> Option<ProviderDecision> {
    let name = entry.name().as_str();
    let chosen = snapshot.chosen(name, who.id);
    let mut carriers = snapshot.carriers(name, who).map(|state| (state, state.carrying(name))).peekable();
    if chosen.is_none_or(|chosen| chosen.kind == ProviderType::Compiled) {
        let (first, _) = carriers.peek()?;
        if entry.previews() {
            return Some(looked_at_here(entry, bound, first));
        }
    }
    let carrying = carriers.map(|(state, by)| Candidate::Provider { state, by });
    let mut candidates: Vec<Candidate<'_>> = if entry.previews() { Vec::new() } else { carrying.collect() };
    candidates.push(Candidate::Host { bound });
    let is_chosen =
        |candidate: &Candidate<'_>| chosen.is_some_and(|chosen| candidate.is(chosen.kind, &chosen.provider));
    if let Some(chosen) = chosen
        && !candidates.iter().any(is_chosen)
    {
        // What was chosen and is not there is not replaced in silence.
        let why =
            if entry.previews() { HERE_ALONE } else { "the provider that was chosen for this session is not there" };
        candidates.push(Candidate::Gone { kind: chosen.kind, id: &chosen.provider, why });
    }
    let rank = |candidate: &Candidate<'_>| if is_chosen(candidate) { Rank::Chosen } else { candidate.rank() };
    candidates.sort_by(|one, other| (rank(one), one.id()).cmp(&(rank(other), other.id())));
    let policy = snapshot.fallback().of(name);
    // What may only ever stand in for another is nobody's first choice.
    let first = candidates.iter().find(|candidate| rank(candidate) < Rank::Fallback)?;
    let mut decision = first.decision(entry);
    decision.fallback_policy = policy;
    let Some(code) = first.fault() else { return Some(decision) };
    let another = candidates.iter().find(|candidate| candidate.fault().is_none());
    Some(match (policy, another) {
        (FallbackPolicy::Approved, Some(another)) => {
            let mut served = another.decision(entry);
            served.fallback_policy = policy;
            served.fallback_from = Some(first.id().to_owned().into());
            served.trace_fields.to_mut().push(("provider", "fallback"));
            let why = first.why().unwrap_or_default();
            let told =
                format!("{} cannot carry it out ({why}), so {} served in its place", first.told(), another.told());
            served.degraded_reason = also(Some(why), served.degraded_reason);
            served.user_visible_message = also(Some(told.into()), served.user_visible_message);
            served
        }
        (FallbackPolicy::Disabled, Some(_)) => decision.because(first.offline()).blocked(Code::FallbackDisabled),
        (FallbackPolicy::Never | FallbackPolicy::Disabled | FallbackPolicy::Approved, _) => {
            decision.because(first.offline()).blocked(code)
        }
    })
}

/// Why nobody else carries out what is looked at before anybody is asked.
const HERE_ALONE: &str =
    "what a call would do is looked at on this host before anybody is asked, so that only this host carries it out";

/// The decision about a capability that looks at its calls here, and that a provider declares as well.
fn looked_at_here(entry: &Capability, bound: bool, declared: &ProviderState) -> ProviderDecision {
    let decision = ProviderDecision::compiled(entry, bound);
    if bound {
        decision.degraded(Some(format!("`{}` declares it too, and {HERE_ALONE}", declared.id).into()))
    } else {
        decision
    }
}

/// Why a provider does not carry out what it says it does.
const NO_SUCH_TOOL: &str = "the tool that is to carry it out is not there";

/// Whether what a decision was made about is still there: the same tool in the same definition, or a provider that still says
/// to carry the capability out by the tool that was judged. And whether it is the same one's credential that goes along.
pub(crate) fn delivers(decision: &ProviderDecision, snapshot: &ProviderSnapshot, who: &SessionIdentity) -> bool {
    let (kind, id) = (decision.provider_type, &*decision.provider_id);
    let judged = decision.carrying.as_ref().map(ProvidedTool::digest);
    match decision.definition_digest() {
        Some(digest) => snapshot.tool(kind, id, &decision.native_id, who).is_some_and(|(state, tool)| {
            // One whose list could not be read again meanwhile has answered all the same.
            let answers = state.reach.is_there() || matches!(state.reach, ProviderReach::Unread(_));
            let judged = tool.standing() == Standing::Accepted && tool.digest() == digest;
            answers && judged && state.credential == decision.credential
        }),
        None => snapshot
            .carriers(decision.capability.as_str(), who)
            .filter(|state| state.kind == kind && *state.id == *id && state.credential == decision.credential)
            .any(|state| {
                let by = state.carrying(decision.capability.as_str());
                state.reach.is_there() && by.is_ok_and(|by| by.map(ProvidedTool::digest) == judged)
            }),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Chosen,
    Edge,
    RequestScoped,
    Host,
    Fallback,
}

/// Who might carry it out.
enum Candidate<'a> {
    /// With the tool of its own by which it would, or why it cannot.
    Provider {
        state: &'a ProviderState,
        by: Result<Option<&'a ProvidedTool>, Code>,
    },
    Host {
        bound: bool,
    },
    Gone {
        kind: ProviderType,
        id: &'a str,
        why: &'static str,
    },
}

impl Candidate<'_> {
    fn rank(&self) -> Rank {
        match self {
            Self::Host { .. } => Rank::Host,
            Self::Gone { .. } => Rank::Chosen,
            Self::Provider { state, .. } => match state.kind {
                ProviderType::Edge => Rank::Edge,
                ProviderType::Mcp if matches!(state.whose, Whose::Session(_)) => Rank::RequestScoped,
                ProviderType::Compiled | ProviderType::Mcp | ProviderType::Relay => Rank::Fallback,
            },
        }
    }

    fn id(&self) -> &str {
        match self {
            Self::Provider { state, .. } => &state.id,
            Self::Host { .. } => "compiled",
            Self::Gone { id, .. } => id,
        }
    }

    fn is(&self, kind: ProviderType, id: &str) -> bool {
        match self {
            Self::Provider { state, .. } => state.kind == kind && *state.id == *id,
            Self::Host { .. } => kind == ProviderType::Compiled,
            Self::Gone { kind: own, id: named, .. } => *own == kind && *named == id,
        }
    }

    /// Why it cannot now.
    fn fault(&self) -> Option<Code> {
        match self {
            Self::Provider { state, by } if state.reach.is_there() => by.err(),
            Self::Provider { .. } | Self::Gone { .. } => Some(Code::ProviderOffline),
            Self::Host { bound: true } => None,
            Self::Host { bound: false } => Some(Code::MissingRuntimeBinding),
        }
    }

    fn offline(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Provider { state, by } if state.reach.is_there() => match by {
                Ok(_) => None,
                Err(code @ (Code::ToolQuarantined | Code::ToolNotTaken)) => Some(Cow::Borrowed(code.message())),
                Err(_) => Some(Cow::Borrowed(NO_SUCH_TOOL)),
            },
            Self::Provider { state, .. } => offline(state.reach),
            Self::Gone { why, .. } => Some(Cow::Borrowed(why)),
            Self::Host { .. } => None,
        }
    }

    /// The same for whoever is told that another one served.
    fn why(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Host { bound: false } => Some(Cow::Borrowed("nothing is bound to it here")),
            Self::Host { bound: true } | Self::Provider { .. } | Self::Gone { .. } => self.offline(),
        }
    }

    /// What a person calls it.
    fn told(&self) -> Cow<'_, str> {
        match self {
            Self::Host { .. } => Cow::Borrowed("this host"),
            Self::Provider { .. } | Self::Gone { .. } => Cow::Owned(format!("`{}`", self.id())),
        }
    }

    fn decision(&self, entry: &Capability) -> ProviderDecision {
        match self {
            Self::Host { .. } => ProviderDecision::compiled(entry, true),
            Self::Gone { kind, id, .. } => bare(entry, *kind, id, entry.name().as_str()),
            Self::Provider { state, by } => {
                let mut decision = bare(entry, state.kind, &state.id, entry.name().as_str());
                decision.route = route(state.kind, Some(&state.whose));
                decision.credential = state.credential;
                decision.carrying = by.ok().flatten().cloned();
                decision.class = match state.kind {
                    ProviderType::Compiled | ProviderType::Edge => entry.class(),
                    // What leaves for elsewhere has left, whatever it does there.
                    ProviderType::Relay => Class::new(entry.class().side_effect, Network::External),
                    // What a tool of somebody else's does nobody here knows.
                    ProviderType::Mcp => Class::STRICTEST,
                };
                decision.degraded(degraded(state.reach))
            }
        }
    }
}

/// The path that a call to a provider takes. A server of the whole host is a runtime that its operator configured, and one that
/// is bound to a session is that session's.
const fn route(kind: ProviderType, whose: Option<&Whose>) -> Route {
    match (kind, whose) {
        (ProviderType::Mcp, Some(Whose::Session(_))) => Route::RequestScopedMcp,
        (ProviderType::Compiled | ProviderType::Mcp, _) => Route::ServerRuntime,
        (ProviderType::Edge, _) => Route::EdgeBound,
        (ProviderType::Relay, _) => Route::GatewayRelay,
    }
}

/// A decision about something of a provider, of which nothing else is known.
fn bare(entry: &Capability, kind: ProviderType, provider: &str, native: &str) -> ProviderDecision {
    let mut decision = ProviderDecision::compiled(entry, true);
    decision.provider_type = kind;
    decision.provider_id = provider.to_owned().into();
    decision.native_id = native.to_owned().into();
    decision.execution_owner = decision.provider_id.clone();
    decision.route = route(kind, None);
    decision
}

/// With what is known of the way to its provider.
fn reached(mut decision: ProviderDecision, state: &ProviderState) -> ProviderDecision {
    decision.route = route(state.kind, Some(&state.whose));
    decision.credential = state.credential;
    let decision = decision.degraded(degraded(state.reach));
    if state.reach.is_there() {
        decision
    } else {
        decision.because(offline(state.reach)).blocked(Code::ProviderOffline)
    }
}

const fn degraded(reach: ProviderReach) -> Option<Cow<'static, str>> {
    match reach {
        ProviderReach::Degraded(why) => Some(Cow::Borrowed(why)),
        ProviderReach::Ready | ProviderReach::Unread(_) | ProviderReach::NotConnected | ProviderReach::Offline(_) => {
            None
        }
    }
}

const fn offline(reach: ProviderReach) -> Option<Cow<'static, str>> {
    match reach {
        ProviderReach::Unread(why) | ProviderReach::Offline(why) => Some(Cow::Borrowed(why)),
        ProviderReach::NotConnected => Some(Cow::Borrowed("it is not connected")),
        ProviderReach::Ready | ProviderReach::Degraded(_) => None,
    }
}

/// Both, the first one first.
fn also(one: Option<Cow<'static, str>>, other: Option<Cow<'static, str>>) -> Option<Cow<'static, str>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}; {other}").into()),
        (one, other) => one.or(other),
    }
}

impl ProviderDecision {
    /// With one more reason why it works less well than it could, for whoever uses it to be told.
    fn degraded(mut self, why: Option<Cow<'static, str>>) -> Self {
        self.user_visible_message = also(self.user_visible_message, why.clone());
        self.degraded_reason = also(self.degraded_reason, why);
        self
    }

    fn because(mut self, offline: Option<Cow<'static, str>>) -> Self {
        self.offline_reason = offline;
        self
    }
}

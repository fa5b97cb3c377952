//! What the host knows of its providers at one moment.

use core::hash::Hash;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use hashbrown::{Equivalent, HashMap};

use serde::{Deserialize, Serialize};

use super::{FallbackRules, ProvidedTool, ProviderDecision, ProviderType, Standing};
use crate::call::Call;
use crate::code::Code;
use crate::executor::BodyEnd;
use crate::failure::Failure;
use crate::future::Soon;
use crate::handle::is_configured_name;
use crate::session::{SessionId, SessionIdentity, Subject};
use crate::surface::WireName;

/// Whether a provider can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderReach {
    /// It can.
    Ready,
    /// It can, and something about it does not work as it should: its list is not complete, say. In words of ours.
    Degraded(&'static str),
    /// It can, and what it has could not be read: nothing of it is called until it is. In words of ours.
    Unread(&'static str),
    /// It is configured, and nobody has connected it in this host yet.
    NotConnected,
    /// It cannot be reached. In words of ours.
    Offline(&'static str),
}

impl ProviderReach {
    /// Whether it can be reached and called.
    #[must_use]
    pub const fn is_there(self) -> bool {
        match self {
            Self::Ready | Self::Degraded(_) => true,
            Self::Unread(_) | Self::NotConnected | Self::Offline(_) => false,
        }
    }

    /// The word shown to people and machines: what could not be read is degraded, and not gone.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Degraded(_) | Self::Unread(_) => "degraded",
            Self::NotConnected => "not_connected",
            Self::Offline(_) => "offline",
        }
    }

    /// Why it is not ready, in words of ours; none where the word says it.
    #[must_use]
    pub const fn why(self) -> Option<&'static str> {
        match self {
            Self::Ready | Self::NotConnected => None,
            Self::Degraded(why) | Self::Unread(why) | Self::Offline(why) => Some(why),
        }
    }
}

/// Whom a provider serves.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// One subject, which it shows what others are not shown: in the place of whatever has its name and is everybody's.
    Subject(Subject),
    /// Every session.
    #[default]
    Everybody,
    /// One session, and nobody else.
    Session(SessionId),
}

/// Whose credential goes along with whatever a provider is sent. Of whom it is, is the session's subject to say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Credential {
    /// The one that an operator configured for everybody, or none at all.
    #[default]
    Everybodys,
    /// The subject's own.
    Own,
}

impl Credential {
    /// The word used in digests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Everybodys => "everybodys",
            Self::Own => "own",
        }
    }
}

/// A capability that a provider carries out in this host's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carries {
    /// The capability, by name. One that is not registered here is nobody's.
    pub capability: Box<str>,
    /// The tool of the provider's own that does it, by native id; none where the provider takes capabilities by their names.
    pub by: Option<Box<str>>,
}

impl From<&str> for Carries {
    /// A provider takes the capability of that name.
    fn from(capability: &str) -> Self {
        Self { capability: capability.into(), by: None }
    }
}

/// One provider.
#[derive(Debug, Clone)]
pub struct ProviderState {
    /// The configured connection's name: `[a-z][a-z0-9_-]*`, at most 32 bytes.
    pub id: Arc<str>,
    /// Of which kind.
    pub kind: ProviderType,
    /// Whether it can be reached.
    pub reach: ProviderReach,
    /// Whom it serves.
    pub whose: Whose,
    /// With whose credential it is spoken with.
    pub credential: Credential,
    /// Its own tools, in its own order.
    pub tools: Vec<ProvidedTool>,
    /// The capabilities that it carries out in this host's place.
    pub carries_out: Vec<Carries>,
}

impl ProviderState {
    /// Whether it serves whoever this is. Of two that do and have one name, one is theirs: see [`ProviderSnapshot::own`].
    #[must_use]
    pub fn serves(&self, who: &SessionIdentity) -> bool {
        match &self.whose {
            Whose::Everybody => true,
            Whose::Subject(subject) => *subject == who.subject,
            Whose::Session(session) => *session == who.id,
        }
    }

    /// The tool of its own by which it would carry out a capability, while that is the one that was accepted; none where it
    /// takes capabilities by their names.
    ///
    /// # Errors
    /// [`Code::ProviderOffline`] when it has no such tool, or does not say to carry that out, [`Code::ToolQuarantined`] when
    /// the tool is out of use, and [`Code::ToolNotTaken`] when it never was in use.
    pub(crate) fn carrying(&self, capability: &str) -> Result<Option<&ProvidedTool>, Code> {
        let carries = self.carries_out.iter().find(|carries| *carries.capability == *capability);
        let Some(native) = &carries.ok_or(Code::ProviderOffline)?.by else { return Ok(None) };
        let tool = self.tools.iter().find(|tool| *tool.definition().id.native == **native);
        match tool.map(|tool| (tool, tool.standing())) {
            Some((tool, Standing::Accepted)) => Ok(Some(tool)),
            Some((_, Standing::Changed | Standing::Unbound)) => Err(Code::ToolQuarantined),
            Some((_, Standing::Faulty(_))) => Err(Code::ToolNotTaken),
            None => Err(Code::ProviderOffline),
        }
    }
}

/// A provider that is not ready, as a session knows of it: a provider whose tools nobody has seen is not one without tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProviderFact {
    /// Of which kind.
    pub kind: ProviderType,
    /// The configured connection's name.
    pub name: String,
    /// [`ProviderReach::as_str`].
    pub state: &'static str,
    /// Why, in words of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// How many tools are known of it.
    pub tools: usize,
}

impl ProviderFact {
    /// What is to be told of a provider; nothing of one that is ready.
    #[must_use]
    pub fn of(state: &ProviderState) -> Option<Self> {
        (state.reach != ProviderReach::Ready).then(|| Self {
            kind: state.kind,
            name: state.id.to_string(),
            state: state.reach.as_str(),
            reason: state.reach.why(),
            tools: state.tools.len(),
        })
    }
}

/// What was chosen: who carries out a capability, before everybody else. A person or a request chooses for one session, an
/// operator for all of them; what is chosen for a session goes before what is chosen for all.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExplicitBinding {
    /// For which session; for every one without.
    pub session: Option<SessionId>,
    /// The capability, by name.
    pub capability: Box<str>,
    /// Which kind of provider; [`ProviderType::Compiled`] is this host.
    pub kind: ProviderType,
    /// Which provider of that kind.
    pub provider: Arc<str>,
}

/// All providers at one moment, by kind and name.
#[derive(Debug, Default)]
pub struct ProviderSnapshot {
    revision: u64,
    providers: Vec<ProviderState>,
    bindings: BTreeSet<ExplicitBinding>,
    fallback: FallbackRules,
    /// Where each tool stands, as places of provider and tool; several only for providers of different sessions and subjects.
    tools: HashMap<Held, Vec<(usize, usize)>>,
    /// Who carries out each capability.
    carriers: HashMap<Box<str>, Vec<usize>>,
    /// What a model calls each tool, made when the first one is called by such a name.
    called: OnceLock<HashMap<WireName, Vec<(usize, usize)>>>,
}

/// A tool's provider and what that calls it.
type Held = (ProviderType, Arc<str>, Box<str>);

#[derive(Hash)]
struct Wanted<'a>(ProviderType, &'a str, &'a str);

impl Equivalent<Held> for Wanted<'_> {
    fn equivalent(&self, (kind, id, native): &Held) -> bool {
        self.0 == *kind && *self.1 == **id && *self.2 == **native
    }
}

impl ProviderSnapshot {
    /// Of these providers; `revision` grows with every change, so that equal revisions of one host are equal snapshots.
    ///
    /// What is not named as a connection is named, and what has a name that is taken, is left out: a provider for everybody
    /// goes before one of a session, and of two for the same session or subject the one that is named first. What a provider
    /// shows one subject is beside what it shows everybody. A tool that one provider has twice stays with the first, and is out
    /// of use.
    #[must_use]
    pub fn new(revision: u64, mut providers: Vec<ProviderState>) -> Self {
        providers.retain(|state| is_configured_name(&state.id) && state.kind != ProviderType::Compiled);
        providers.sort_by(|one, other| (one.kind, &one.id, &one.whose).cmp(&(other.kind, &other.id, &other.whose)));
        // Sorted, those for everybody come before those of a session.
        let mut taken: BTreeSet<(ProviderType, Arc<str>, Whose)> = BTreeSet::new();
        providers.retain(|state| {
            let everybody = (state.kind, Arc::clone(&state.id), Whose::Everybody);
            !taken.contains(&everybody) && taken.insert((state.kind, Arc::clone(&state.id), state.whose.clone()))
        });
        let mut snapshot = Self { revision, providers, ..Self::default() };
        for (at, state) in snapshot.providers.iter_mut().enumerate() {
            let mut known: HashMap<Box<str>, usize> = HashMap::new();
            for tool in core::mem::take(&mut state.tools) {
                let native = tool.definition().id.native.as_str();
                match known.get(native).and_then(|first| state.tools.get_mut(*first)) {
                    Some(first) => *first = first.clone().doubled(),
                    None => {
                        known.insert(native.into(), state.tools.len());
                        state.tools.push(tool);
                    }
                }
            }
            for (native, place) in known {
                snapshot.tools.entry((state.kind, Arc::clone(&state.id), native)).or_default().push((at, place));
            }
            for carries in &state.carries_out {
                snapshot.carriers.entry(carries.capability.clone()).or_default().push(at);
            }
        }
        snapshot
    }

    /// With what persons and requests chose.
    #[must_use]
    pub fn with_bindings(mut self, bindings: impl IntoIterator<Item = ExplicitBinding>) -> Self {
        self.bindings = bindings.into_iter().collect();
        self
    }

    /// With what an operator says of fallback.
    #[must_use]
    pub fn with_fallback(mut self, fallback: FallbackRules) -> Self {
        self.fallback = fallback;
        self
    }

    /// Grows with every change.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// All of them, by kind and name.
    #[must_use]
    pub fn providers(&self) -> &[ProviderState] {
        &self.providers
    }

    /// What an operator says of fallback.
    #[must_use]
    pub const fn fallback(&self) -> &FallbackRules {
        &self.fallback
    }

    /// The provider of that kind and name that is this one's.
    #[must_use]
    pub fn provider(&self, kind: ProviderType, id: &str, who: &SessionIdentity) -> Option<&ProviderState> {
        self.place(kind, id, who).and_then(|at| self.providers.get(at))
    }

    /// Where that provider stands. Sorted, a subject's own comes before everybody's.
    fn place(&self, kind: ProviderType, id: &str, who: &SessionIdentity) -> Option<usize> {
        let from = self.providers.partition_point(|state| (state.kind, &*state.id) < (kind, id));
        let rest = self.providers.iter().enumerate().skip(from);
        let mut named = rest.take_while(|(_, state)| state.kind == kind && *state.id == *id);
        named.find(|(_, state)| state.serves(who)).map(|(at, _)| at)
    }

    /// The provider at that place, if it is this one's.
    fn own_at(&self, at: usize, who: &SessionIdentity) -> Option<&ProviderState> {
        let state = self.providers.get(at).filter(|state| state.serves(who))?;
        (self.place(state.kind, &state.id, who) == Some(at)).then_some(state)
    }

    /// All that are this one's, by kind and name: no two of one kind and name.
    pub fn own(&self, who: &SessionIdentity) -> impl Iterator<Item = &ProviderState> {
        (0..self.providers.len()).filter_map(move |at| self.own_at(at, who))
    }

    /// Whether this one has any provider of that kind.
    #[must_use]
    pub fn has(&self, kind: ProviderType, who: &SessionIdentity) -> bool {
        self.own(who).any(|state| state.kind == kind)
    }

    /// The tool of that provider and native id, for this one.
    #[must_use]
    pub fn tool(
        &self,
        kind: ProviderType,
        id: &str,
        native: &str,
        who: &SessionIdentity,
    ) -> Option<(&ProviderState, &ProvidedTool)> {
        let at = self.place(kind, id, who)?;
        let places = self.tools.get(&Wanted(kind, id, native))?;
        let (_, place) = places.iter().find(|(of, _)| *of == at)?;
        let state = self.providers.get(at)?;
        Some((state, state.tools.get(*place)?))
    }

    /// The tools that a model calls so, for this one: one, where no two names are one.
    pub(crate) fn called(
        &self,
        name: &str,
        who: &SessionIdentity,
    ) -> impl Iterator<Item = (&ProviderState, &ProvidedTool)> {
        let places = self.called.get_or_init(|| {
            let mut called: HashMap<WireName, Vec<(usize, usize)>> = HashMap::new();
            for (at, state) in self.providers.iter().enumerate() {
                for (place, tool) in state.tools.iter().enumerate() {
                    let name = WireName::of_provided(state.kind, &tool.definition().id);
                    called.entry(name).or_default().push((at, place));
                }
            }
            called
        });
        let places = places.get(name).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(move |(at, place)| {
            let state = self.own_at(*at, who)?;
            Some((state, state.tools.get(*place)?))
        })
    }

    /// The providers that carry out a capability for this one.
    pub(crate) fn carriers(&self, capability: &str, who: &SessionIdentity) -> impl Iterator<Item = &ProviderState> {
        let places = self.carriers.get(capability).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(move |at| self.own_at(*at, who))
    }

    /// What was chosen for this session and capability.
    pub(crate) fn chosen(&self, capability: &str, session: SessionId) -> Option<&ExplicitBinding> {
        let of = |wanted: Option<SessionId>| {
            let mut bindings = self.bindings.iter();
            bindings.find(|binding| binding.session == wanted && *binding.capability == *capability)
        };
        of(Some(session)).or_else(|| of(None))
    }
}

/// Tells an executor which providers there are, and runs what goes to one. The host implements it.
pub trait Providers: Send + Sync + 'static {
    /// What is known now.
    fn snapshot(&self) -> Arc<ProviderSnapshot>;

    /// The same, with all that there is for whoever this is: a host that learns of what is somebody's own when they first ask
    /// does so here. Every decision about anybody is made from this one.
    fn snapshot_for(&self, who: &SessionIdentity) -> Arc<ProviderSnapshot> {
        let _ = who;
        self.snapshot()
    }

    /// Whether there can ever be a provider. Asked once, when an executor is built: one that can have none never looks.
    fn any(&self) -> bool {
        true
    }

    /// Has a provider carry out a call of a compiled capability: exactly these canonical arguments, until the call's deadline.
    /// Policy has spoken and whoever was to confirm has; the result is checked where the call came from.
    fn run(&self, decision: &Arc<ProviderDecision>, arguments: &[u8], call: Call) -> Soon<'_, BodyEnd> {
        let _ = (decision, arguments, call);
        Soon::Ready(BodyEnd::Failed(Failure::public("no provider of this host carries out calls").and_before_effect()))
    }
}

/// A host that has only what is compiled into it.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProviders;

impl Providers for NoProviders {
    fn snapshot(&self) -> Arc<ProviderSnapshot> {
        static NONE: OnceLock<Arc<ProviderSnapshot>> = OnceLock::new();
        Arc::clone(NONE.get_or_init(Arc::default))
    }

    fn any(&self) -> bool {
        false
    }
}

//! The tools a model sees: a projection of decisions, in one order, by names that lead back.
//!
//! A [`Surface`] is made from the same [`ProviderDecision`]s that calls are run by; it adds names, an order, a budget, and
//! nothing that could let something run. Its array of tools does not change while a host runs: whether a tool can be called
//! now is a fact beside it ([`Surface::facts`]). Source: the capability system's contract, "Tool surface".
//!
//! | order | what | shown |
//! |---|---|---|
//! | 1 | compiled capabilities, by name and version | those marked `resident` within [`RESIDENT_BUDGET`], and what is pinned |
//! | 2 | the operations [`TOOL_SEARCH`] and [`INVOKE_TOOL`] | always |
//! | 3 | providers' own tools, by kind, provider and name | what is pinned |
//! | 4 | everything else | found by [`TOOL_SEARCH`], called by [`INVOKE_TOOL`] |
//!
//! A provider's tool that is pinned is found as well: whoever read the array before the provider was there reaches it so.
//!
//! | type | what it is |
//! |---|---|
//! | [`Surface`] | the tools of one session |
//! | [`Surfaces`] | those that were made, kept for as long as they hold |
//! | [`Tool`] | one of them |
//! | [`WireName`], [`WireNames`] | what a tool is called where dots are not allowed, and the way back |
//! | [`SelectionDigest`] | which very definition of a tool was found |
//! | [`Profile`] | how a provider of models wants tools written, and what that loses |
//! | [`ToolSearch`] | the engine that ranks deferred tools |

mod called;
mod kept;
mod operations;
mod profile;
mod projection;
mod resident;
mod search;
mod tool;
mod wire_name;

pub use called::Called;
pub use kept::Surfaces;
pub use operations::{Availability, Cut, FoundTool, INVOKE_TOOL, MAX_HITS, MAX_QUERY, SearchAnswer, TOOL_SEARCH};
pub use profile::{Loss, Profile, Rendered, RenderedTool, UnknownProfile};
pub use projection::shown;
pub use resident::{LeftOut, RESIDENT_BUDGET};
pub use search::{SearchEntry, SearchFault, ToolIndex, ToolSearch, WordSearch};
pub use tool::{Fact, SelectionDigest, Tool};
pub use wire_name::{Collision, MAX_WIRE_NAME_BYTES, ToolKey, WireName, WireNames};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::code::Code;
use crate::contract::Class;
use crate::executor::{Executor, Proposal};
use crate::handle::HandleFamily;
use crate::provider::{AdmissionStatus, Decisions, ProviderDecision, ProviderFact};
use crate::session::Session;
use operations::{MAX_ANSWER_BYTES, Search};
use resident::Resident;

/// How a host wants surfaces made.
#[derive(Clone)]
pub struct SurfaceOptions {
    /// Tools that an operator wants to be shown always, by dotted or wire name.
    pub pinned: BTreeSet<String>,
    /// Whether everything that is compiled in is shown as if it were pinned.
    pub every_compiled: bool,
    /// How much JSON text the tools that are always shown may have, in bytes, without what is pinned.
    pub budget: usize,
    /// Ranks what a search finds.
    pub search: Arc<dyn ToolSearch>,
}

impl Default for SurfaceOptions {
    fn default() -> Self {
        Self { pinned: BTreeSet::new(), every_compiled: false, budget: RESIDENT_BUDGET, search: Arc::new(WordSearch) }
    }
}

/// The tools of one session.
pub struct Surface {
    executor: Executor,
    names: WireNames,
    /// Every visible tool, in the surface's order.
    tools: Vec<Tool>,
    places: BTreeMap<ToolKey, usize>,
    shown: Vec<Resident>,
    /// The places of the tools that are not.
    deferred: Vec<usize>,
    /// The places of the tools that a search finds.
    findable: Vec<usize>,
    /// The providers that are not ready.
    unready: Vec<ProviderFact>,
    left_out: Vec<(WireName, LeftOut)>,
    unknown_pins: Vec<String>,
    search: Arc<dyn ToolSearch>,
    index: OnceLock<Result<Box<dyn ToolIndex>, SearchFault>>,
}

/// What comes of calling something by its name.
#[derive(Debug)]
pub enum SurfaceCall {
    /// Something that the executor decides on: what is unknown, malformed or not shown included, which it refuses and records.
    Proposal(Proposal),
    /// The surface's own answer to a search.
    Found(SearchAnswer),
    /// The search engine did not answer.
    Faulted(SearchFault),
}

/// What stands against calling tools now: beside the array of tools, and the only part of a surface that changes with state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facts<'a> {
    /// The shown tools that cannot be called now, work less well than they could, or are of a stricter class than is listed, by
    /// name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<&'a str, Fact<'a>>,
    /// The same of deferred tools, as how many of each source are in each state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deferred: Vec<DeferredFact<'a>>,
    /// The providers that are not ready, those among them of whose tools nothing is known.
    #[serde(skip_serializing_if = "<[ProviderFact]>::is_empty")]
    pub providers: &'a [ProviderFact],
}

/// How many deferred tools of one source are in one state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DeferredFact<'a> {
    /// `compiled`, or the provider's kind and name.
    pub source: Vec<&'a str>,
    /// The state.
    pub admission: AdmissionStatus,
    /// The class that counts now, where it is another one than is listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// What a person is told about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<&'a str>,
    /// How many.
    pub tools: usize,
}

impl Surface {
    /// The surface of one session at this moment.
    #[must_use]
    pub fn of_session(executor: &Executor, session: &Session, options: &SurfaceOptions) -> Self {
        let decisions = executor.decisions(session);
        Self::of(executor, decisions.iter().map(Arc::as_ref), options).beside(&decisions)
    }

    /// With what is known of providers that are not ready: their tools may be among these, or known to nobody yet.
    #[must_use]
    pub fn beside(mut self, decisions: &Decisions) -> Self {
        self.unready = decisions.unready().to_vec();
        self
    }

    /// The surface that `decisions` make, in whatever order they come: one decision a tool.
    #[must_use]
    pub fn of<'d>(
        executor: &Executor,
        decisions: impl IntoIterator<Item = &'d ProviderDecision>,
        options: &SurfaceOptions,
    ) -> Self {
        let registry = executor.registry();
        let mut faulty = Vec::new();
        let mut visible: BTreeMap<ToolKey, (&ProviderDecision, &'static crate::Capability)> = BTreeMap::new();
        for decision in decisions {
            let Some(held) = registry.resolve(decision.capability.as_str(), decision.version.get()) else { continue };
            // An entry that calls providers' tools is the way to them, not a tool beside them.
            let is_way = decision.definition.is_none() && held.entry().holds(HandleFamily::ProviderTool);
            if decision.code() == Some(Code::SchemaFault) {
                faulty.push((WireName::of_version(decision.capability, decision.version), LeftOut::Schema));
            } else if decision.is_visible() && !is_way {
                visible.entry(ToolKey::of(decision)).or_insert((decision, held.entry()));
            }
        }
        let names = WireNames::assign(visible.keys().cloned());
        let tools: Vec<Tool> = visible
            .into_iter()
            .filter_map(|(key, (decision, entry))| {
                let name = names.name(&key)?.clone();
                Some(Tool::new(key, name, decision.clone(), entry))
            })
            .collect();
        let resident::Chosen { shown, mut left_out, unknown_pins } = resident::choose(&tools, registry, options);
        left_out.append(&mut faulty);
        let is_shown: BTreeSet<usize> = shown.iter().filter_map(|resident| resident.tool).collect();
        let foreign = |at: &usize| tools.get(*at).is_some_and(Tool::is_foreign);
        let deferred = (0..tools.len()).filter(|at| !is_shown.contains(at)).collect();
        let findable = (0..tools.len()).filter(|at| !is_shown.contains(at) || foreign(at)).collect();
        let places = tools.iter().enumerate().map(|(at, tool)| (tool.key().clone(), at)).collect();
        Self {
            executor: executor.clone(),
            names,
            tools,
            places,
            shown,
            deferred,
            findable,
            unready: Vec::new(),
            left_out,
            unknown_pins,
            search: Arc::clone(&options.search),
            index: OnceLock::new(),
        }
    }

    /// The array of tools that are always shown, as compact JSON: name, description and `inputSchema` of each, in the
    /// surface's order.
    #[must_use]
    pub fn array(&self) -> String {
        let texts: Vec<&str> = self.shown.iter().map(|resident| resident.text.as_str()).collect();
        format!("[{}]", texts.join(","))
    }

    /// How many bytes [`Surface::array`] has.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let texts: usize = self.shown.iter().map(|resident| resident.text.len()).sum();
        texts + self.shown.len().saturating_sub(1) + 2
    }

    /// The same tools as a provider of models takes them, with what its way of writing loses.
    #[must_use]
    pub fn rendered(&self, profile: Profile) -> Rendered {
        let registry = self.executor.registry();
        let tools = self.shown.iter().map(|resident| {
            let tool = resident.tool.and_then(|at| self.tools.get(at));
            let exported = tool.and_then(|tool| tool.exported(registry)).unwrap_or(&resident.arguments);
            profile.tool(&resident.name, &resident.description, exported, &resident.arguments)
        });
        Rendered { profile, tools: tools.collect() }
    }

    /// Every visible tool, shown or deferred, in the surface's order.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tools that are always shown, in their order; the two operations are not among them.
    pub fn shown(&self) -> impl Iterator<Item = &Tool> {
        self.shown.iter().filter_map(|resident| resident.tool).filter_map(|at| self.tools.get(at))
    }

    /// The tools that are found by a search, in the surface's order.
    pub fn deferred(&self) -> impl Iterator<Item = &Tool> {
        self.deferred.iter().filter_map(|at| self.tools.get(*at))
    }

    /// The visible tool of exactly that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Tool> {
        self.place(name).and_then(|at| self.tools.get(at))
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.places.get(self.names.find(name)?).copied()
    }

    /// The tools that wanted to be shown and are not, with the reason: for operators.
    #[must_use]
    pub fn left_out(&self) -> &[(WireName, LeftOut)] {
        &self.left_out
    }

    /// The pins that name no visible tool: for operators.
    #[must_use]
    pub fn unknown_pins(&self) -> &[String] {
        &self.unknown_pins
    }

    /// The names that two tools would have: for operators.
    #[must_use]
    pub fn collisions(&self) -> &[Collision] {
        self.names.collisions()
    }

    /// What stands against calling tools now.
    #[must_use]
    pub fn facts(&self) -> Facts<'_> {
        let tools = self.shown().filter_map(|tool| Some((tool.name().as_str(), tool.fact()?))).collect();
        let mut counted: BTreeMap<(Vec<&str>, Fact<'_>), usize> = BTreeMap::new();
        for tool in self.deferred() {
            if let Some(fact) = tool.fact() {
                let source = tool.provider().map_or_else(|| vec!["compiled"], |(kind, name)| vec![kind, name]);
                *counted.entry((source, fact)).or_default() += 1;
            }
        }
        let of = |((source, fact), tools)| {
            let Fact { admission, class, message } = fact;
            DeferredFact { source, admission, class, message, tools }
        };
        Facts { tools, deferred: counted.into_iter().map(of).collect(), providers: &self.unready }
    }

    /// What comes of calling `name` with `arguments`, which are looked at by whoever decides on them.
    #[must_use]
    pub fn call(&self, name: &str, arguments: &[u8]) -> SurfaceCall {
        match name {
            TOOL_SEARCH => match Search::of(arguments) {
                Ok(search) => self.search(&search).map_or_else(SurfaceCall::Faulted, SurfaceCall::Found),
                Err(rule) => called::malformed(TOOL_SEARCH, rule),
            },
            INVOKE_TOOL => called::through(arguments, |name| self.find(name)),
            _ => {
                let found = self.find(name).map(|tool| (tool, self.is_shown(name)));
                called::direct(self.executor.registry(), name, arguments, found)
            }
        }
    }

    /// Whether the visible tool of exactly that name is in the array.
    fn is_shown(&self, name: &str) -> bool {
        self.place(name).is_some_and(|at| self.deferred.binary_search(&at).is_err())
    }

    fn search(&self, search: &Search) -> Result<SearchAnswer, SearchFault> {
        let query = search.query.as_str();
        let index = self.index.get_or_init(|| {
            let findable = self.findable.iter().filter_map(|at| self.tools.get(*at));
            let entries: Vec<SearchEntry<'_>> = findable
                .map(|tool| SearchEntry {
                    name: tool.name().as_str(),
                    title: tool.title().unwrap_or_default(),
                    description: tool.description(),
                })
                .collect();
            self.search.index(&entries)
        });
        let ranked = index.as_ref().map_err(|fault| *fault)?.rank(query, usize::MAX)?;
        // Whoever knows the name is answered first, whatever the words say.
        let named = self.find_any(query.trim()).into_iter();
        let mut seen = BTreeSet::new();
        let hits: Vec<usize> = named
            .chain(ranked.iter().filter_map(|at| self.findable.get(*at).copied()))
            .filter(|at| seen.insert(*at))
            .collect();
        let mut answer = SearchAnswer { tools: Vec::new(), more: hits.len(), unready: self.unready.clone() };
        let mut bytes = 0;
        for tool in hits.iter().take(search.limit()).filter_map(|at| self.tools.get(*at)) {
            let Some(found) = self.found(tool) else { continue };
            bytes += serde_json::to_vec(&found).map_or(MAX_ANSWER_BYTES, |text| text.len());
            if bytes > MAX_ANSWER_BYTES && !answer.tools.is_empty() {
                break;
            }
            answer.tools.push(found);
        }
        answer.more = hits.len().saturating_sub(answer.tools.len());
        Ok(answer)
    }

    /// The tool of that wire or dotted name that a search finds.
    fn find_any(&self, name: &str) -> Option<usize> {
        let at = self.place(name).or_else(|| self.place(&name.replace('.', "-")))?;
        self.findable.binary_search(&at).is_ok().then_some(at)
    }

    fn found(&self, tool: &Tool) -> Option<FoundTool> {
        let registry = self.executor.registry();
        let found = FoundTool {
            name: tool.name().as_str().to_owned(),
            digest: tool.selection(registry)?,
            description: tool.description().to_owned(),
            class: tool.class(),
            provider: tool.provider().map(|(kind, name)| format!("{kind} {name}")),
            availability: tool.fact().map(Availability::from),
            input_schema: tool.arguments(registry)?,
            cut: None,
        };
        Some(found.within_bounds())
    }
}

impl core::fmt::Debug for Surface {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Surface({} shown in {} bytes, {} deferred)", self.shown.len(), self.bytes(), self.deferred.len())
    }
}

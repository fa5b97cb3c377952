//! The contributors, each a pure function of one question.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::judge::{Asking, Judgement, RulesSaid, judge};
use super::set::{Policy, SourceKind};
use super::{Decision, Verdict};
use crate::code::Code;
use crate::contract::{Capability, Class, DefaultEffect, Network, SideEffect, TargetKind};
use crate::handle::SecretUse;
use crate::preview::Raise;
use crate::provider::ProviderDecision;
use crate::session::{Ancestor, Declarations, Demand, Mode, Origin, SECRET_BIND, Subject};
use crate::time::Timestamp;

/// The state of an external family's switch. Anything but a legible `On` is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OptIn {
    /// An operator turned it on.
    On,
    /// Nobody turned it on.
    Off,
    /// The setting cannot be read.
    Damaged,
}

/// Whether whoever would carry out a call can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binding {
    /// It can: this host serves every handle of the entry, or the provider of the tool is there.
    Bound,
    /// Nothing is bound to the entry, or to the tool.
    Missing,
    /// The provider cannot be reached.
    Offline,
    /// The tool is out of use.
    Quarantined,
    /// The tool's definition is not taken.
    NotTaken,
    /// The first choice cannot be reached, and none may stand in for it.
    FallbackDisabled,
    /// A secret that the call would bind cannot be.
    SecretUnbound,
}

impl Binding {
    /// Of a host that serves the entry's handles, or does not.
    #[must_use]
    pub const fn of_host(serves: bool) -> Self {
        if serves { Self::Bound } else { Self::Missing }
    }

    /// What a decision says of it. What should have been refused before is bound to nothing.
    pub(crate) const fn of(decision: &ProviderDecision) -> Self {
        match decision.code {
            None => Self::Bound,
            Some(Code::ProviderOffline) => Self::Offline,
            Some(Code::ToolQuarantined) => Self::Quarantined,
            Some(Code::ToolNotTaken) => Self::NotTaken,
            Some(Code::FallbackDisabled) => Self::FallbackDisabled,
            Some(_) => Self::Missing,
        }
    }

    const fn code(self) -> Option<Code> {
        match self {
            Self::Bound => None,
            Self::Missing => Some(Code::MissingRuntimeBinding),
            Self::Offline => Some(Code::ProviderOffline),
            Self::Quarantined => Some(Code::ToolQuarantined),
            Self::NotTaken => Some(Code::ToolNotTaken),
            Self::FallbackDisabled => Some(Code::FallbackDisabled),
            Self::SecretUnbound => Some(Code::SecretUnbound),
        }
    }
}

/// Everything a verdict depends on.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The registered entry.
    pub capability: &'a Capability,
    /// The class that counts: the entry's own, or a foreign tool's as classified.
    pub class: Class,
    /// Who asks.
    pub subject: &'a Subject,
    /// What brought the session.
    pub origin: Origin,
    /// What the subject's manifest declares.
    pub declarations: &'a Declarations,
    /// Whoever the session acts for, the nearest first.
    pub behind: &'a [Ancestor],
    /// The value of the entry's scope argument.
    pub scope: Option<&'a str>,
    /// What the call acts on: the entry's target kind, and the argument that names it.
    pub target: Option<(TargetKind, &'a str)>,
    /// What it acts on beside its target, each as a target of the entry's kind: rules are held against each, and the
    /// strictest answer counts.
    pub acts_on: &'a [String],
    /// The secrets that it would bind to a command.
    pub secrets: &'a [SecretUse],
    /// The session's mode.
    pub mode: Mode,
    /// The switch of the entry's family; looked at for external classes only.
    pub opt_in: OptIn,
    /// Whether whoever would carry it out can.
    pub binding: Binding,
    /// What the capability's own look at the call raises; none before it has looked, and where it has nothing to say.
    pub raised: Option<Raise>,
    /// Whether anything that should have informed this question failed.
    pub faulted: bool,
    /// When; only looked at by a policy that [`asks`](Policy::asks_for_the_time).
    pub at: Timestamp,
    /// The rules in force.
    pub policy: &'a Arc<Policy>,
}

/// Who contributes, in the order they are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contributor {
    /// The entry is locked.
    Locked,
    /// The subject's manifest.
    Declared,
    /// The session's mode.
    Mode,
    /// The external family's switch.
    OptIn,
    /// The host's bindings.
    Binding,
    /// The class's floor.
    Floor,
    /// The operator's rules, the widest of which is the entry's own default.
    OperatorRules,
    /// Rules that lie in a workspace.
    WorkspaceRules,
    /// Rules that packages bring along.
    PackageRules,
    /// Whoever the session acts for: nothing is done for somebody who could not do it.
    Delegation,
    /// The capability's own look at the call, which its preview reports.
    Guard,
    /// Anything that failed on the way to the question, and any rule that cannot be held against it.
    Fault,
}

/// How many contributors there are.
pub const CONTRIBUTORS: usize = 12;

/// What one contributor says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Contribution {
    /// Who.
    pub contributor: Contributor,
    /// What.
    pub verdict: Verdict,
    /// Why.
    pub code: Code,
}

impl Contribution {
    /// Nothing to say.
    pub(super) const fn clear(contributor: Contributor) -> Self {
        Self { contributor, verdict: Verdict::Allow, code: Code::Clear }
    }
}

impl Contributor {
    /// All of them, in the order they are reported.
    pub const ALL: [Self; CONTRIBUTORS] = [
        Self::Locked,
        Self::Declared,
        Self::Mode,
        Self::OptIn,
        Self::Binding,
        Self::Floor,
        Self::OperatorRules,
        Self::WorkspaceRules,
        Self::PackageRules,
        Self::Delegation,
        Self::Guard,
        Self::Fault,
    ];

    /// The source of rules it speaks for.
    #[must_use]
    pub const fn source(self) -> Option<SourceKind> {
        match self {
            Self::OperatorRules => Some(SourceKind::Operator),
            Self::WorkspaceRules => Some(SourceKind::Workspace),
            Self::PackageRules => Some(SourceKind::Package),
            Self::Locked
            | Self::Declared
            | Self::Mode
            | Self::OptIn
            | Self::Binding
            | Self::Floor
            | Self::Delegation
            | Self::Guard
            | Self::Fault => None,
        }
    }

    /// What it says to `question`.
    #[must_use]
    pub fn answer(self, question: &Question<'_>) -> Contribution {
        self.with(question, &Ruled::by_rules(question, false))
    }

    /// What it says, given what rules say.
    #[inline]
    fn with(self, question: &Question<'_>, ruled: &Ruled) -> Contribution {
        let (verdict, code) = match self {
            Self::Locked => deny_if(question.capability.is_locked(), Code::Locked),
            Self::Declared => declared(question, question.declarations),
            Self::Mode => of_mode(question.mode, question.class),
            Self::OptIn => match (question.class.network, question.opt_in) {
                (Network::Local, _) | (Network::External, OptIn::On) => clear(),
                (Network::External, OptIn::Off) => (Verdict::Deny, Code::OptInOff),
                (Network::External, OptIn::Damaged) => (Verdict::Deny, Code::OptInDamaged),
            },
            Self::Binding => match question.binding.code() {
                None => clear(),
                Some(code) => (Verdict::Deny, code),
            },
            Self::Floor => {
                if question.class.confirmation().is_required() {
                    (Verdict::AskFresh, Code::FloorRequired)
                } else {
                    clear()
                }
            }
            Self::OperatorRules => ruled.operator,
            Self::WorkspaceRules => ruled.workspace,
            Self::PackageRules => ruled.package,
            Self::Delegation => ruled.delegation,
            Self::Guard => {
                let raised = question.raised.map_or_else(clear, |raise| (raise.verdict.verdict(), raise.code.code()));
                // Whatever the class: a secret goes to a command by an answer to this very call.
                let bound = if question.secrets.is_empty() { clear() } else { (Verdict::AskFresh, Code::SecretBound) };
                if raised.0 >= bound.0 { raised } else { bound }
            }
            Self::Fault => match ruled.fault {
                _ if question.faulted => (Verdict::Deny, Code::StoreUnavailable),
                Some(code) => (Verdict::Deny, code),
                None => clear(),
            },
        };
        Contribution { contributor: self, verdict, code }
    }
}

/// What rules say, and what depends on it.
struct Ruled {
    operator: (Verdict, Code),
    workspace: (Verdict, Code),
    package: (Verdict, Code),
    delegation: (Verdict, Code),
    fault: Option<Code>,
    said: Option<Box<RulesSaid>>,
}

impl Ruled {
    /// Only the entry's own default.
    #[inline]
    const fn by_default(question: &Question<'_>) -> Self {
        let operator = match question.capability.default_effect() {
            DefaultEffect::Floor => clear(),
            DefaultEffect::Ask => (Verdict::Ask, Code::DefaultAsk),
            DefaultEffect::Deny => (Verdict::Deny, Code::DefaultDeny),
        };
        Self { operator, workspace: clear(), package: clear(), delegation: clear(), fault: None, said: None }
    }

    /// What rules say to everything that the call acts on: the strictest of what they say to each.
    fn by_rules(question: &Question<'_>, everything: bool) -> Self {
        let kind = question.capability.target().kind;
        let mut all = question.acts_on.iter().map(|text| Some((kind, text.as_str())));
        // Without a target of its own it acts on the others only.
        let first = if question.target.is_some() { question.target } else { all.next().flatten() };
        let mut ruled = Self::by_rules_on(question, first, everything);
        for target in all {
            ruled = ruled.stricter(Self::by_rules_on(question, target, everything));
        }
        if let Some(said) = ruled.said.as_mut().filter(|_| !question.acts_on.is_empty()) {
            said.one_of_several();
        }
        ruled
    }

    /// The stricter of each word; which rules were looked at is kept of whichever is stricter as a whole.
    fn stricter(self, other: Self) -> Self {
        let stricter = |one: (Verdict, Code), another: (Verdict, Code)| if another.0 > one.0 { another } else { one };
        let said = if other.strictest() > self.strictest() { other.said } else { self.said };
        Self {
            operator: stricter(self.operator, other.operator),
            workspace: stricter(self.workspace, other.workspace),
            package: stricter(self.package, other.package),
            delegation: stricter(self.delegation, other.delegation),
            fault: self.fault.max(other.fault),
            said,
        }
    }

    fn strictest(&self) -> Verdict {
        let said = [self.operator.0, self.workspace.0, self.package.0, self.delegation.0];
        let by_rules = said.into_iter().max().unwrap_or(Verdict::Deny);
        if self.fault.is_some() { Verdict::Deny } else { by_rules }
    }

    fn by_rules_on(question: &Question<'_>, target: Option<(TargetKind, &str)>, everything: bool) -> Self {
        let default = question.capability.default_effect();
        let asking = Asking {
            name: question.capability.name().as_str(),
            scope: question.scope,
            subject: question.subject,
            action: question.class.side_effect,
            origin: question.origin,
            target,
            at: question.at,
        };
        let Judgement { said: [operator, workspace, package], fault, considered, omitted } =
            judge(question.policy, &asking, default, everything);
        let said = (!considered.is_empty()).then(|| {
            Box::new(RulesSaid { policy: Arc::clone(question.policy), default, considered, omitted, several: false })
        });
        let fault = fault.map(super::judge::Fault::code);
        let mut ruled = Self { operator, workspace, package, delegation: clear(), fault, said };
        for ancestor in question.behind {
            let identity = &ancestor.identity;
            let asking = Asking { subject: &identity.subject, origin: identity.origin, ..asking };
            let judged = judge(question.policy, &asking, default, false);
            let by_rules = judged.said.iter().map(|(verdict, _)| *verdict).max().unwrap_or(Verdict::Deny);
            ruled.delegate(question, ancestor, if judged.fault.is_some() { Verdict::Deny } else { by_rules });
        }
        ruled
    }

    /// Takes in what somebody behind the session could do, and what rules say to that.
    fn delegate(&mut self, question: &Question<'_>, ancestor: &Ancestor, by_rules: Verdict) {
        let undeclared = declared(question, &ancestor.declarations).0;
        let by_mode = of_mode(ancestor.identity.mode, question.class).0;
        let verdict = by_rules.max(undeclared).max(by_mode);
        if verdict > self.delegation.0 {
            self.delegation = (verdict, Code::Delegation);
        }
    }
}

/// What a manifest says to a call: nothing at all, unless it declares it.
pub(crate) fn declared(question: &Question<'_>, declarations: &Declarations) -> (Verdict, Code) {
    let name = question.capability.name().as_str();
    // A provider's tool may be declared by itself, or with all of its provider's.
    let tool = match (question.scope, question.target) {
        (Some(provider), Some((_, tool))) if question.capability.through().is_some() => Some((provider, tool)),
        _ => None,
    };
    let (covered, demand) = match tool {
        None => (declarations.cover(name, question.scope), declarations.demand(name, question.scope)),
        Some((provider, tool)) => {
            (declarations.cover_tool(name, provider, tool), declarations.demand_of_tool(name, provider, tool))
        }
    };
    if !covered {
        return (Verdict::Deny, Code::Undeclared);
    }
    // Each secret is declared by the variable that it is bound to.
    let mut bound = question.secrets.iter().map(|one| Some(one.variable.as_str()));
    if !bound.clone().all(|variable| declarations.cover(SECRET_BIND, variable)) {
        return (Verdict::Deny, Code::Undeclared);
    }
    match demand.max(bound.by_ref().filter_map(|variable| declarations.demand(SECRET_BIND, variable)).max()) {
        None => clear(),
        Some(Demand::Ask) => (Verdict::Ask, Code::ManifestAsk),
        Some(Demand::Deny) => (Verdict::Deny, Code::ManifestDeny),
    }
}

fn of_mode(mode: Mode, class: Class) -> (Verdict, Code) {
    match mode {
        Mode::Live => clear(),
        Mode::Plan => deny_if(class != Class::new(SideEffect::ReadOnly, Network::Local), Code::PlanMode),
        Mode::Dream | Mode::Replay => (Verdict::Deny, Code::ModeRefused),
    }
}

const fn clear() -> (Verdict, Code) {
    (Verdict::Allow, Code::Clear)
}

const fn deny_if(holds: bool, code: Code) -> (Verdict, Code) {
    if holds { (Verdict::Deny, code) } else { clear() }
}

/// Asks every contributor.
pub fn evaluate(question: &Question<'_>) -> Decision {
    let mut decision = Decision::UNASKED;
    evaluate_into(&mut decision, question);
    decision
}

/// Asks every contributor, and lists what became of every single rule, those included that an index leaves out. Slow for
/// large policies; the verdict is the same.
pub fn explain(question: &Question<'_>) -> Decision {
    let mut decision = Decision::UNASKED;
    with_rules(&mut decision, question, true);
    decision
}

/// Asks every contributor, with what they say put into `decision`, which nobody has contributed to.
#[inline]
pub(crate) fn evaluate_into(decision: &mut Decision, question: &Question<'_>) {
    if question.policy.is_empty() && question.behind.is_empty() {
        let ruled = Ruled::by_default(question);
        contribute(decision, question, &ruled);
    } else {
        with_rules(decision, question, false);
    }
}

/// Out of the way of calls that no rule is about.
#[inline(never)]
fn with_rules(decision: &mut Decision, question: &Question<'_>, everything: bool) {
    let mut ruled = Ruled::by_rules(question, everything);
    decision.by_rules(ruled.said.take());
    contribute(decision, question, &ruled);
}

#[inline]
fn contribute(decision: &mut Decision, question: &Question<'_>, ruled: &Ruled) {
    let mut verdict = Verdict::Allow;
    // Spelt out, so that each answer is compiled for its own contributor, and only what is not clear is written.
    let [locked, declared, mode, opt_in, binding, floor, operator, workspace, package, delegation, guard, fault] =
        decision.places();
    let mut ask = |place: &mut Contribution, contributor: Contributor| {
        let answer = contributor.with(question, ruled);
        if answer.verdict != Verdict::Allow {
            verdict = verdict.max(answer.verdict);
            *place = answer;
        }
    };
    ask(locked, Contributor::Locked);
    ask(declared, Contributor::Declared);
    ask(mode, Contributor::Mode);
    ask(opt_in, Contributor::OptIn);
    ask(binding, Contributor::Binding);
    ask(floor, Contributor::Floor);
    ask(operator, Contributor::OperatorRules);
    ask(workspace, Contributor::WorkspaceRules);
    ask(package, Contributor::PackageRules);
    ask(delegation, Contributor::Delegation);
    ask(guard, Contributor::Guard);
    ask(fault, Contributor::Fault);
    decision.conclude(verdict);
}

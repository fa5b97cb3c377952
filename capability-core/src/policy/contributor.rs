//! The contributors, each a pure function of one question.

use serde::Serialize;

use super::{Decision, Verdict};
use crate::code::Code;
use crate::contract::{Capability, Class, DefaultEffect, Network, SideEffect};
use crate::session::{Declarations, Mode};

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

/// Everything a verdict depends on.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The registered entry.
    pub capability: &'a Capability,
    /// The class that counts: the entry's own, or a foreign tool's as classified.
    pub class: Class,
    /// What the subject's manifest declares.
    pub declarations: &'a Declarations,
    /// The value of the entry's scope argument.
    pub scope: Option<&'a str>,
    /// The session's mode.
    pub mode: Mode,
    /// The switch of the entry's family; looked at for external classes only.
    pub opt_in: OptIn,
    /// Whether the host serves every handle of the entry.
    pub bound: bool,
    /// Whether anything that should have informed this question failed.
    pub faulted: bool,
}

/// Who contributes, in the order they are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
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
    /// The entry's own default.
    Default,
    /// Anything that failed on the way to the question.
    Fault,
}

/// How many contributors there are.
pub const CONTRIBUTORS: usize = 8;

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
    pub const ALL: [Self; CONTRIBUTORS] =
        [Self::Locked, Self::Declared, Self::Mode, Self::OptIn, Self::Binding, Self::Floor, Self::Default, Self::Fault];

    /// What it says to `question`.
    #[must_use]
    #[inline]
    pub fn answer(self, question: &Question<'_>) -> Contribution {
        let (verdict, code) = match self {
            Self::Locked => deny_if(question.capability.is_locked(), Code::Locked),
            Self::Declared => deny_if(
                !question.declarations.cover(question.capability.name().as_str(), question.scope),
                Code::Undeclared,
            ),
            Self::Mode => match question.mode {
                Mode::Live => clear(),
                Mode::Plan => {
                    deny_if(question.class != Class::new(SideEffect::ReadOnly, Network::Local), Code::PlanMode)
                }
                Mode::Dream | Mode::Replay => (Verdict::Deny, Code::ModeRefused),
            },
            Self::OptIn => match (question.class.network, question.opt_in) {
                (Network::Local, _) | (Network::External, OptIn::On) => clear(),
                (Network::External, OptIn::Off) => (Verdict::Deny, Code::OptInOff),
                (Network::External, OptIn::Damaged) => (Verdict::Deny, Code::OptInDamaged),
            },
            Self::Binding => deny_if(!question.bound, Code::MissingRuntimeBinding),
            Self::Floor => {
                if question.class.confirmation().is_required() {
                    (Verdict::AskFresh, Code::FloorRequired)
                } else {
                    clear()
                }
            }
            Self::Default => match question.capability.default_effect() {
                DefaultEffect::Floor => clear(),
                DefaultEffect::Ask => (Verdict::Ask, Code::DefaultAsk),
                DefaultEffect::Deny => (Verdict::Deny, Code::DefaultDeny),
            },
            Self::Fault => deny_if(question.faulted, Code::StoreUnavailable),
        };
        Contribution { contributor: self, verdict, code }
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

/// Asks every contributor, with what they say put into `decision`, which nobody has contributed to.
#[inline]
pub(crate) fn evaluate_into(decision: &mut Decision, question: &Question<'_>) {
    let mut verdict = Verdict::Allow;
    // Spelt out, so that each answer is compiled for its own contributor, and only what is not clear is written.
    let [locked, declared, mode, opt_in, binding, floor, default, fault] = decision.places();
    let mut ask = |place: &mut Contribution, contributor: Contributor| {
        let answer = contributor.answer(question);
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
    ask(default, Contributor::Default);
    ask(fault, Contributor::Fault);
    decision.conclude(verdict);
}

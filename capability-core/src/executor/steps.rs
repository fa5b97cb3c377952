//! The six steps as anybody who holds an invocation may take them, each only from the state before it.
//!
//! A step that is tried too early does not compile, and says which stage is missing. The executor itself takes the same
//! steps without the box that keeps such an error to one.

use super::invocation::{Confirmed, Executed, Invocation, Permitted, Proposed, Resolved, Stopped, Validated};
use super::outcome::Outcome;
use crate::future::BoxFuture;

/// What a step hands on, or what stops it.
type Step<T> = BoxFuture<'static, Result<Invocation<T>, Box<Stopped>>>;

impl<S> Invocation<S> {
    fn at<T>(self, state: impl FnOnce(S) -> T) -> Invocation<T> {
        Invocation { course: self.course, state: state(self.state) }
    }

    /// Resolves the name and version to a provider decision. There is no near match.
    ///
    /// # Errors
    /// `unknown_capability`.
    pub fn resolve(self) -> Result<Invocation<Resolved>, Box<Stopped>>
    where
        S: ReadyToResolve,
    {
        self.at(ReadyToResolve::ready).into_resolved()
    }

    /// Parses strictly, validates against the schema, normalises, fills defaults, and has the author's part run.
    ///
    /// # Errors
    /// The refusal names path and rule; the audit gets keyword and schema path.
    pub fn validate(self) -> Step<Validated>
    where
        S: ReadyToValidate,
    {
        Box::pin(self.at(ReadyToValidate::ready).into_validated())
    }

    /// Evaluates policy, records the decision, and reserves one invocation of the turn.
    ///
    /// # Errors
    /// The deciding contributor's reason, or which cap is used up.
    pub fn permit(self) -> Step<Permitted>
    where
        S: ReadyToPermit,
    {
        Box::pin(self.at(ReadyToPermit::ready).into_permitted())
    }

    /// Lets an allowed call pass, uses up the approval of a resumed one, and files everything else for a person.
    ///
    /// # Errors
    /// `Pending` is one: the invocation ends here and is resumed later.
    pub fn confirm(self) -> Step<Confirmed>
    where
        S: ReadyToConfirm,
    {
        Box::pin(self.at(ReadyToConfirm::ready).into_confirmed())
    }

    /// Runs the body until its deadline, under its result cap, and checks its result against the schema.
    ///
    /// A mutating or external call starts only after its intent is durable.
    ///
    /// # Errors
    /// When it may not start: the log is down, or the session has ended.
    pub fn execute(self) -> Step<Executed>
    where
        S: ReadyToExecute,
    {
        Box::pin(self.at(ReadyToExecute::ready).into_executed())
    }

    /// Writes the record and gives the outcome, in this order: no result is released before its record is durable.
    pub fn audit(self) -> BoxFuture<'static, Outcome>
    where
        S: ReadyToAudit,
    {
        Box::pin(self.at(ReadyToAudit::ready).into_outcome())
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Proposed {}
    impl Sealed for super::Resolved {}
    impl Sealed for super::Validated {}
    impl Sealed for super::Permitted {}
    impl Sealed for super::Confirmed {}
    impl Sealed for super::Executed {}
}

/// What `resolve` needs.
#[diagnostic::on_unimplemented(
    message = "`resolve` cannot run on an invocation that is already `{Self}`: the stages are resolve, validate, policy, confirm, execute, audit, each once and in this order\nhelp: go on from `{Self}` with the stage that follows it",
    label = "`resolve` has already run"
)]
pub trait ReadyToResolve: sealed::Sealed {
    #[doc(hidden)]
    fn ready(self) -> Proposed;
}
impl ReadyToResolve for Proposed {
    fn ready(self) -> Proposed {
        self
    }
}

/// What `validate` needs.
#[diagnostic::on_unimplemented(
    message = "`validate` cannot run on an invocation that is `{Self}`: the stages are resolve, validate, policy, confirm, execute, audit, each once and in this order\nhelp: write `invocation.resolve()` first",
    label = "stage `resolve` must come directly before"
)]
pub trait ReadyToValidate: sealed::Sealed {
    #[doc(hidden)]
    fn ready(self) -> Resolved;
}
impl ReadyToValidate for Resolved {
    fn ready(self) -> Resolved {
        self
    }
}

/// What `permit`, the policy stage, needs.
#[diagnostic::on_unimplemented(
    message = "`permit` cannot run on an invocation that is `{Self}`: the stages are resolve, validate, policy, confirm, execute, audit, each once and in this order\nhelp: write `invocation.validate().await` first",
    label = "stage `validate` must come directly before"
)]
pub trait ReadyToPermit: sealed::Sealed {
    #[doc(hidden)]
    fn ready(self) -> Validated;
}
impl ReadyToPermit for Validated {
    fn ready(self) -> Validated {
        self
    }
}

/// What `confirm` needs.
#[diagnostic::on_unimplemented(
    message = "`confirm` cannot run on an invocation that is `{Self}`: the stages are resolve, validate, policy, confirm, execute, audit, each once and in this order\nhelp: write `invocation.permit().await` first",
    label = "stage `policy` must come directly before"
)]
pub trait ReadyToConfirm: sealed::Sealed {
    #[doc(hidden)]
    fn ready(self) -> Permitted;
}
impl ReadyToConfirm for Permitted {
    fn ready(self) -> Permitted {
        self
    }
}

/// What `execute` needs.
#[diagnostic::on_unimplemented(
    message = "`execute` cannot run on an invocation that is `{Self}`: the stages are resolve, validate, policy, confirm, execute, audit, each once and in this order\nhelp: write `invocation.confirm().await` first",
    label = "stage `confirm` must come directly before"
)]
pub trait ReadyToExecute: sealed::Sealed {
    #[doc(hidden)]
    fn ready(self) -> Confirmed;
}
impl ReadyToExecute for Confirmed {
    fn ready(self) -> Confirmed {
        self
    }
}

/// What `audit` needs.
#[diagnostic::on_unimplemented(
    message = "`audit` cannot run on an invocation that is `{Self}`: the stages are resolve, validate, policy, confirm, execute, audit, each once and in this order\nhelp: write `invocation.execute().await` first",
    label = "stage `execute` must come directly before"
)]
pub trait ReadyToAudit: sealed::Sealed {
    #[doc(hidden)]
    fn ready(self) -> Executed;
}
impl ReadyToAudit for Executed {
    fn ready(self) -> Executed {
        self
    }
}

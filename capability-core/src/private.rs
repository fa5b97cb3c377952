//! Support for generated code. Nothing here is covered by any promise; write `#[capability]` instead.
#![doc(hidden)]

#[path = "private/demands.rs"]
mod demands;
#[path = "private/returned.rs"]
mod returned;
#[cfg(test)]
#[path = "private/tests.rs"]
mod tests;

pub use demands::{
    Answer, Argument, Checked, MakesPreview, Object, Scalar, Whole, argument, checked, handle, object, other_kind,
    previewed,
};
pub use returned::{Answering, Plain, Returned, UnmetAnswer, answer_schema, error};
pub use {linkme, schemars, serde};

pub use crate::call::Call;
pub use crate::contract::{
    Capability, DefaultEffect, Definition, Network, Options, Risk, SideEffect, SourceLocation, Target, TargetKind,
};
pub use crate::failure::{Failure, IntoFailure};
pub use crate::future::BoxFuture;
pub use crate::handle::{
    EffectPermits, External, Handle, HandleKind, Local, Mutating, NetworkPermits, NoTarget, ReadOnly, TargetPermits,
    WithTarget,
};
pub use crate::preview::Preview;
pub use crate::registry::{CAPABILITIES, CONTRACT_LISTS, ContractList};

use core::marker::PhantomData;

use schemars::{Schema, SchemaGenerator};

use crate::future::Soon;

/// A schema, made when it is asked for.
pub type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// The compiled code behind one entry.
pub struct Code {
    pub(crate) arguments: MakeSchema,
    pub(crate) result: MakeSchema,
    pub(crate) prepare: Option<Prepare>,
}

/// Typed parsing and the author's `check`: everything of the body that runs before anybody is asked, but its preview.
pub type Prepare = fn(&[u8]) -> Result<Box<dyn PreparedBody>, ArgumentRefusal>;

impl Code {
    /// The code of a capability with a body.
    #[must_use]
    pub const fn of(arguments: MakeSchema, result: MakeSchema, prepare: Prepare) -> Self {
        Self { arguments, result, prepare: Some(prepare) }
    }

    /// The code of a locked capability: schemas and nothing to run. The last argument only names the fields of `A`, which
    /// nothing else would.
    #[must_use]
    pub const fn locked<A>(arguments: MakeSchema, result: MakeSchema, _fields: fn(A)) -> Self {
        Self { arguments, result, prepare: None }
    }
}

/// Takes a value and does nothing.
pub fn ignore<T>(_: T) {}

/// What becomes of arguments that were previewed: themselves, and the preview.
pub type Previewed<A> = (A, Result<Preview, Failure>);

/// Makes a preview of arguments and gives them back.
pub type Show<A> = fn(A, Call) -> BoxFuture<'static, Previewed<A>>;

/// The bytes of a result, or why there are none.
pub type Ran = Result<Vec<u8>, BodyFault>;

/// What the macro writes for one function; [`Parsing::prepare`] erases it.
pub struct Body<A> {
    /// The author's `check`, over the parsed arguments, in words for the caller.
    pub check: fn(&A) -> Result<(), String>,
    /// Lends the handles, calls the function, serialises what it returned under the call's cap.
    pub run: Run<A>,
}

/// How a function is run.
pub enum Run<A> {
    /// It is no future: where it is called, with nothing kept for it to go on with.
    Now(fn(A, Call) -> Ran),
    /// It is one.
    Later(fn(A, Call) -> BoxFuture<'static, Ran>),
}

impl<A> Run<A> {
    const fn waits(&self) -> bool {
        matches!(self, Self::Later(_))
    }

    fn call(self, arguments: A, call: Call) -> Soon<'static, Ran> {
        match self {
            Self::Now(run) => Soon::Ready(run(arguments, call)),
            Self::Later(run) => Soon::Later(run(arguments, call)),
        }
    }
}

/// The `check` of a capability that has none.
///
/// # Errors
/// Never.
pub fn unchecked<A>(_: &A) -> Result<(), String> {
    Ok(())
}

/// Boxes what a body does.
pub fn boxed<T>(future: impl Future<Output = T> + Send + 'static) -> BoxFuture<'static, T> {
    Box::pin(future)
}

/// Why arguments that the schema accepts are not run.
#[derive(Debug)]
pub enum ArgumentRefusal {
    /// Typed parsing refuses them, with serde's words.
    Typed(String),
    /// The author's `check` refuses them, with its words.
    Check(String),
}

/// Why a body that ran has no result.
#[derive(Debug)]
pub enum BodyFault {
    /// The author said so.
    Failed(Failure),
    /// The result's JSON text is above the cap.
    TooLarge,
    /// The result does not serialise.
    Unserialisable,
}

/// A body with its parsed arguments, ready to run once.
pub trait PreparedBody: Send {
    /// Whether there is a preview to make.
    fn previews(&self) -> bool;
    /// Makes the preview and gives the body back.
    fn preview(self: Box<Self>, call: Call) -> BoxFuture<'static, (Box<dyn PreparedBody>, Result<Preview, Failure>)>;
    /// Whether running it may wait for anything.
    fn waits(&self) -> bool;
    /// Runs it.
    fn run(self: Box<Self>, call: Call) -> Soon<'static, Ran>;
}

struct Parsed<A> {
    arguments: A,
    body: Body<A>,
}

impl<A: Send + 'static> PreparedBody for Parsed<A> {
    fn previews(&self) -> bool {
        false
    }

    fn preview(self: Box<Self>, _: Call) -> BoxFuture<'static, (Box<dyn PreparedBody>, Result<Preview, Failure>)> {
        let unchanged: Box<dyn PreparedBody> = self;
        Box::pin(core::future::ready((unchanged, Err(Failure::private()))))
    }

    fn waits(&self) -> bool {
        self.body.run.waits()
    }

    fn run(self: Box<Self>, call: Call) -> Soon<'static, Ran> {
        let Self { arguments, body } = *self;
        body.run.call(arguments, call)
    }
}

/// With a preview: a type of its own, so that the many that have none are not compiled with one.
struct Previewing<A> {
    parsed: Parsed<A>,
    show: Show<A>,
}

impl<A: Send + 'static> PreparedBody for Previewing<A> {
    fn previews(&self) -> bool {
        true
    }

    fn preview(self: Box<Self>, call: Call) -> BoxFuture<'static, (Box<dyn PreparedBody>, Result<Preview, Failure>)> {
        let Self { parsed: Parsed { arguments, body }, show } = *self;
        Box::pin(async move {
            let (arguments, preview) = show(arguments, call).await;
            let body: Box<dyn PreparedBody> = Box::new(Self { parsed: Parsed { arguments, body }, show });
            (body, preview)
        })
    }

    fn waits(&self) -> bool {
        self.parsed.body.run.waits()
    }

    fn run(self: Box<Self>, call: Call) -> Soon<'static, Ran> {
        let Self { parsed: Parsed { arguments, body }, .. } = *self;
        body.run.call(arguments, call)
    }
}

/// What is made of an argument type. Its methods are found first when the type is an [`Argument`]; otherwise those of
/// [`Unmet`] are, which compile and do nothing. So the demand is made once, by [`argument`], and missing it is one error.
pub struct Parsing<A>(Unmet<A>);

/// Stands in for whatever a type does not allow. Never runs: the entry around it does not compile.
pub struct Unmet<A>(PhantomData<fn() -> A>);

impl<A> Parsing<A> {
    #[must_use]
    pub const fn new() -> Self {
        Self(Unmet(PhantomData))
    }
}

impl<A> Default for Parsing<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A> core::ops::Deref for Parsing<A> {
    type Target = Unmet<A>;

    fn deref(&self) -> &Unmet<A> {
        &self.0
    }
}

impl<A: Argument> Parsing<A> {
    /// The schema of the argument object.
    pub fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        generator.root_schema_for::<A>()
    }

    /// Parses, checks, and keeps both until the body runs.
    ///
    /// # Errors
    /// What refuses the arguments.
    pub fn prepare(&self, bytes: &[u8], body: Body<A>) -> Result<Box<dyn PreparedBody>, ArgumentRefusal> {
        Ok(Box::new(Parsed::of(bytes, body)?))
    }

    /// The same, for a function with a preview, which takes the arguments and gives them back.
    ///
    /// # Errors
    /// What refuses the arguments.
    pub fn prepare_showing(
        &self,
        bytes: &[u8],
        body: Body<A>,
        show: Show<A>,
    ) -> Result<Box<dyn PreparedBody>, ArgumentRefusal> {
        Ok(Box::new(Previewing { parsed: Parsed::of(bytes, body)?, show }))
    }
}

impl<A: Argument> Parsed<A> {
    fn of(bytes: &[u8], body: Body<A>) -> Result<Self, ArgumentRefusal> {
        let arguments: A = serde_json::from_slice(bytes).map_err(typed)?;
        (body.check)(&arguments).map_err(ArgumentRefusal::Check)?;
        Ok(Self { arguments, body })
    }
}

/// No closure, so that it is compiled once and not for each type of arguments.
fn typed(error: serde_json::Error) -> ArgumentRefusal {
    ArgumentRefusal::Typed(error.to_string())
}

impl<A> Unmet<A> {
    /// See [`Parsing::schema`].
    pub fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }

    /// See [`Parsing::prepare`].
    ///
    /// # Errors
    /// Always.
    pub fn prepare(&self, _: &[u8], _: Body<A>) -> Result<Box<dyn PreparedBody>, ArgumentRefusal> {
        Err(ArgumentRefusal::Typed(String::new()))
    }

    /// See [`Parsing::prepare_showing`].
    ///
    /// # Errors
    /// Always.
    pub fn prepare_showing(&self, _: &[u8], _: Body<A>, _: Show<A>) -> Result<Box<dyn PreparedBody>, ArgumentRefusal> {
        Err(ArgumentRefusal::Typed(String::new()))
    }
}

/// What derived code takes for granted, for scopes where an author's own names or the lack of a prelude hide it. Traits come
/// without names, and the one name that is used bare comes with it.
pub mod scope {
    pub use core::convert::Into as _;
    pub use core::default::Default as _;
    pub use core::iter::{IntoIterator as _, Iterator as _};
    pub use core::option::Option::Some;

    /// Named once beside the import, so that the import is never unused.
    pub const __SCOPE: () = ();
}

//! Support for generated code. Nothing here is covered by any promise; write `#[capability]` instead.
#![doc(hidden)]

pub use {linkme, schemars, serde};

pub use crate::call::Call;
pub use crate::contract::{
    Capability, DefaultEffect, Definition, Network, Risk, SideEffect, SourceLocation, Target, TargetKind,
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

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What an owned parameter's type must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a `#[capability]`: an argument has a schema and is parsed from JSON\nhelp: write `#[derive(serde::Deserialize, schemars::JsonSchema)]` on it",
    label = "needs `Deserialize` and `JsonSchema`"
)]
pub trait Argument: DeserializeOwned + JsonSchema + Send + 'static {}
#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Argument for T {}

/// What a result's type must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a `#[capability]`: a result has a schema and is written as JSON\nhelp: write `#[derive(serde::Serialize, schemars::JsonSchema)]` on it",
    label = "needs `Serialize` and `JsonSchema`"
)]
pub trait Answer: Serialize + JsonSchema {}
#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> Answer for T {}

/// Demands of an owned parameter's type what [`Argument`] says, at the place where it is written.
pub const fn argument<T: Argument>() {}

/// Demands of a borrowed parameter's type that it is a handle and that the class may hold it.
pub const fn handle<N, E, T, H>()
where
    H: Handle,
    N: NetworkPermits<H, H::Reach>,
    E: EffectPermits<H, H::Power>,
    T: TargetPermits<H, H::Scope>,
{
}

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

/// The schema of the argument object.
pub fn arguments_schema<A: Argument>(generator: &mut SchemaGenerator) -> Schema {
    generator.root_schema_for::<A>()
}

/// Takes a value and does nothing.
pub fn ignore<T>(_: T) {}

/// What the macro writes for one function; [`prepare`] erases it.
pub struct Body<A> {
    /// The author's `check`, over the parsed arguments, in words for the caller.
    pub check: fn(&A) -> Result<(), String>,
    /// The author's `preview`. Takes the arguments and gives them back.
    pub preview: Option<fn(A, Call) -> BoxFuture<'static, (A, Result<Preview, Failure>)>>,
    /// Lends the handles, calls the function, serialises what it returned under the call's cap.
    pub run: fn(A, Call) -> BoxFuture<'static, Result<Vec<u8>, BodyFault>>,
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

/// Awaits an author's `preview`, whatever error type it uses.
///
/// # Errors
/// The author's own.
pub async fn previewed<E: IntoFailure>(
    preview: impl Future<Output = Result<Preview, E>> + Send,
) -> Result<Preview, Failure> {
    preview.await.map_err(IntoFailure::into_failure)
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
    /// Runs it.
    fn run(self: Box<Self>, call: Call) -> BoxFuture<'static, Result<Vec<u8>, BodyFault>>;
}

struct Parsed<A> {
    arguments: A,
    body: Body<A>,
}

impl<A: Send + 'static> PreparedBody for Parsed<A> {
    fn previews(&self) -> bool {
        self.body.preview.is_some()
    }

    fn preview(self: Box<Self>, call: Call) -> BoxFuture<'static, (Box<dyn PreparedBody>, Result<Preview, Failure>)> {
        let Self { arguments, body } = *self;
        let Some(preview) = body.preview else {
            let unchanged: Box<dyn PreparedBody> = Box::new(Self { arguments, body });
            return Box::pin(core::future::ready((unchanged, Err(Failure::private()))));
        };
        Box::pin(async move {
            let (arguments, preview) = preview(arguments, call).await;
            let body: Box<dyn PreparedBody> = Box::new(Self { arguments, body });
            (body, preview)
        })
    }

    fn run(self: Box<Self>, call: Call) -> BoxFuture<'static, Result<Vec<u8>, BodyFault>> {
        (self.body.run)(self.arguments, call)
    }
}

/// Parses, checks, and keeps both until the body runs.
///
/// # Errors
/// What refuses the arguments.
pub fn prepare<A: Argument>(bytes: &[u8], body: Body<A>) -> Result<Box<dyn PreparedBody>, ArgumentRefusal> {
    let arguments: A = serde_json::from_slice(bytes).map_err(|error| ArgumentRefusal::Typed(error.to_string()))?;
    (body.check)(&arguments).map_err(ArgumentRefusal::Check)?;
    Ok(Box::new(Parsed { arguments, body }))
}

/// A result's type and its error's, without values.
pub type Parts<T, E> = PhantomData<fn() -> (T, E)>;

/// What a function returns, told apart by type and not by name: the methods of `Returned<Result<..>>` are found first,
/// aliases included, and every other type is served by the [`Plain`] that it dereferences to.
pub struct Returned<R>(Plain<R>);

/// See [`Returned`].
pub struct Plain<R>(PhantomData<fn() -> R>);

impl<R> Returned<R> {
    #[must_use]
    pub const fn new() -> Self {
        Self(Plain(PhantomData))
    }
}

impl<R> Default for Returned<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R> core::ops::Deref for Returned<R> {
    type Target = Plain<R>;

    fn deref(&self) -> &Plain<R> {
        &self.0
    }
}

impl<T, E> Returned<Result<T, E>> {
    /// The result's type and its error's.
    #[must_use]
    pub const fn parts(&self) -> Parts<T, E> {
        PhantomData
    }

    /// The result as it is.
    ///
    /// # Errors
    /// The function's own.
    pub fn split(&self, returned: Result<T, E>) -> Result<T, E> {
        returned
    }
}

impl<R> Plain<R> {
    /// The result's type, and an error that never is.
    #[must_use]
    pub const fn parts(&self) -> Parts<R, core::convert::Infallible> {
        PhantomData
    }

    /// A result that cannot fail.
    ///
    /// # Errors
    /// Never.
    pub fn split(&self, returned: R) -> Result<R, core::convert::Infallible> {
        Ok(returned)
    }
}

/// The schema of the type inside [`Returned`], and the demand on it and on its error.
pub fn answer_schema<T: Answer, E: IntoFailure>(_: Parts<T, E>, generator: &mut SchemaGenerator) -> Schema {
    generator.root_schema_for::<T>()
}

/// Serialises what a function returned, stopping at the call's cap.
///
/// # Errors
/// [`BodyFault`], and which one.
pub fn finish<T: Answer, E: IntoFailure>(returned: Result<T, E>, call: &Call) -> Result<Vec<u8>, BodyFault> {
    let answer = returned.map_err(|error| BodyFault::Failed(error.into_failure()))?;
    let mut capped = Capped { bytes: Vec::with_capacity(128), left: call.max_result(), full: false };
    match serde_json::to_writer(&mut capped, &answer) {
        Ok(()) => Ok(capped.bytes),
        Err(_) if capped.full => Err(BodyFault::TooLarge),
        Err(_) => Err(BodyFault::Unserialisable),
    }
}

/// A buffer that refuses to grow beyond the cap: an oversized result never exists as a whole.
struct Capped {
    bytes: Vec<u8>,
    left: u64,
    full: bool,
}

impl std::io::Write for Capped {
    fn write(&mut self, chunk: &[u8]) -> std::io::Result<usize> {
        match self.left.checked_sub(chunk.len() as u64) {
            Some(left) => {
                self.left = left;
                self.bytes.extend_from_slice(chunk);
                Ok(chunk.len())
            }
            None => {
                self.full = true;
                Err(std::io::ErrorKind::FileTooLarge.into())
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The words of an author's `check`, whatever error type it uses: they are meant for the caller.
///
/// # Errors
/// What the author refuses.
pub fn checked<E: core::fmt::Display>(checked: Result<(), E>) -> Result<(), String> {
    checked.map_err(|refusal| refusal.to_string())
}

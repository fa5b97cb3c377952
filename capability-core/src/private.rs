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

/// The compiled code behind one entry.
pub struct Code {
    pub(crate) arguments: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) result: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) prepare: Option<Prepare>,
}

/// Typed parsing and the author's `check`: everything of the body that runs before anybody is asked, but its preview.
pub type Prepare = fn(&[u8]) -> Result<Box<dyn PreparedBody>, ArgumentRefusal>;

impl Code {
    /// The code of a capability with a body.
    #[must_use]
    pub const fn of<D: Define>() -> Self {
        Self { arguments: schema_of::<D::Arguments>, result: D::result_schema, prepare: Some(prepare::<D>) }
    }

    /// The code of a locked capability: schemas and nothing to run.
    #[must_use]
    pub const fn locked<A: Argument, R: Answer>() -> Self {
        Self { arguments: schema_of::<A>, result: schema_of::<R>, prepare: None }
    }
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.root_schema_for::<T>()
}

/// What the macro writes for one function; `Code::of` erases it.
pub trait Define: 'static {
    /// The generated closed struct, or the `#[args]` parameter's own type.
    type Arguments: Argument;

    /// The result's schema, as it serialises.
    fn result_schema(generator: &mut SchemaGenerator) -> Schema;

    /// The author's `check`, over the parsed arguments.
    ///
    /// # Errors
    /// What the author refuses, in words for the caller.
    fn check(_arguments: &Self::Arguments) -> Result<(), String> {
        Ok(())
    }

    /// Whether the author wrote a `preview`.
    const PREVIEWS: bool = false;

    /// The author's `preview`. Takes the arguments and gives them back, so that they need not be `Sync`.
    fn preview(arguments: Self::Arguments, _: Call) -> BoxFuture<'static, (Self::Arguments, Result<Preview, Failure>)> {
        Box::pin(core::future::ready((arguments, Err(Failure::private()))))
    }

    /// Lends the handles, calls the function, serialises what it returned under the call's cap.
    fn run(arguments: Self::Arguments, call: Call) -> BoxFuture<'static, Result<Vec<u8>, BodyFault>>;
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

struct Parsed<D: Define>(D::Arguments);

impl<D: Define> PreparedBody for Parsed<D> {
    fn previews(&self) -> bool {
        D::PREVIEWS
    }

    fn preview(self: Box<Self>, call: Call) -> BoxFuture<'static, (Box<dyn PreparedBody>, Result<Preview, Failure>)> {
        Box::pin(async move {
            let (arguments, preview) = D::preview(self.0, call).await;
            let body: Box<dyn PreparedBody> = Box::new(Self(arguments));
            (body, preview)
        })
    }

    fn run(self: Box<Self>, call: Call) -> BoxFuture<'static, Result<Vec<u8>, BodyFault>> {
        D::run(self.0, call)
    }
}

fn prepare<D: Define>(bytes: &[u8]) -> Result<Box<dyn PreparedBody>, ArgumentRefusal> {
    let arguments: D::Arguments =
        serde_json::from_slice(bytes).map_err(|error| ArgumentRefusal::Typed(error.to_string()))?;
    D::check(&arguments).map_err(ArgumentRefusal::Check)?;
    Ok(Box::new(Parsed::<D>(arguments)))
}

/// What a function returns, told apart by type and not by name: an inherent method wins for `Result`, aliases included,
/// and [`ReturnedPlainly`] serves everything else.
pub struct Returned<R>(PhantomData<fn() -> R>);

impl<R> Returned<R> {
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<R> Default for Returned<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, E> Returned<Result<T, E>> {
    /// The result's type.
    pub const fn answer(&self) -> PhantomData<T> {
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

/// See [`Returned`].
pub trait ReturnedPlainly<R> {
    /// The result's type.
    fn answer(&self) -> PhantomData<R>;
    /// A result that cannot fail.
    ///
    /// # Errors
    /// Never.
    fn split(&self, returned: R) -> Result<R, core::convert::Infallible>;
}

impl<R> ReturnedPlainly<R> for Returned<R> {
    fn answer(&self) -> PhantomData<R> {
        PhantomData
    }

    fn split(&self, returned: R) -> Result<R, core::convert::Infallible> {
        Ok(returned)
    }
}

/// The schema of the type inside [`Returned`].
pub fn answer_schema<T: Answer>(_: PhantomData<T>, generator: &mut SchemaGenerator) -> Schema {
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

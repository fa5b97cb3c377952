//! What generated code demands of an author's types, each demand with its own message.

use core::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::{Failure, IntoFailure};
use crate::future::BoxFuture;
use crate::handle::{EffectPermits, Handle, HandleKind, NetworkPermits, TargetPermits};
use crate::preview::Preview;

/// What an owned parameter's type must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a `#[capability]`: an argument has a schema and is parsed from JSON\nhelp: write `#[derive(serde::Deserialize, schemars::JsonSchema)]` on your type; a handle is borrowed, as in `clock: &Clock`",
    label = "needs `Deserialize` and `JsonSchema`"
)]
pub trait Argument: DeserializeOwned + JsonSchema + Send + 'static {}
#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Argument for T {}

/// What a result's type must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a `#[capability]`: a result has a schema and is written as JSON\nhelp: write `#[derive(serde::Serialize, schemars::JsonSchema)]` on your type",
    label = "needs `Serialize` and `JsonSchema`"
)]
pub trait Answer: Serialize + JsonSchema {}
#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> Answer for T {}

/// Demands of an owned parameter's type what [`Argument`] says, at the place where it is written.
pub const fn argument<T: Argument>() {}

/// Demands of a borrowed parameter's type that it is a handle, that the class may hold it, and that the author's own part of
/// it, such as an endpoint kind, is in order.
///
/// # Panics
/// When that part is not; in the constant that it is called in, that is a compile error at the caller's own span.
#[track_caller]
#[expect(clippy::panic, reason = "in a constant this is a compile error, with the handle's own words")]
pub const fn handle<N, E, T, H>()
where
    H: Handle,
    N: NetworkPermits<H, H::Reach>,
    E: EffectPermits<H, H::Power>,
    T: TargetPermits<H, H::Scope>,
{
    if let Some(fault) = H::FAULT {
        panic!("{}", fault);
    }
}

/// Demands that a handle is of another kind than those before it.
///
/// # Panics
/// When it is not; in the constant that it is called in, that is a compile error at the caller's own span.
#[track_caller]
pub const fn other_kind<H: Handle>(earlier: &[HandleKind]) {
    assert!(
        !H::KIND.is_among(earlier),
        "two handles of one kind on a `#[capability]`: one handle of each kind is lent to a call\nhelp: keep one of the two, as in `workspace: &Workspace<Write>`"
    );
}

/// What an author's `preview` must be once it is called.
#[diagnostic::on_unimplemented(
    message = "this `preview` makes no `Preview`: it is an async function that shows what the call would do\nhelp: write `async fn preview(..) -> Result<capability_core::Preview, capability_core::Failure>`",
    label = "makes no `Preview`"
)]
pub trait MakesPreview {
    /// Makes it, whatever error type it uses.
    fn made(self) -> impl Future<Output = Result<Preview, Failure>> + Send
    where
        Self: Send;
}
#[diagnostic::do_not_recommend]
impl<E: IntoFailure, F: Future<Output = Result<Preview, E>>> MakesPreview for F {
    async fn made(self) -> Result<Preview, Failure>
    where
        Self: Send,
    {
        self.await.map_err(IntoFailure::into_failure)
    }
}

/// Boxes what an author's `preview` does.
pub fn previewed<'a, F: MakesPreview + Send + 'a>(preview: F) -> BoxFuture<'a, Result<Preview, Failure>> {
    Box::pin(preview.made())
}

/// What an author's `check` must return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a `check` returns: a check passes or refuses in words\nhelp: return `Result<(), String>` from it",
    label = "neither passes nor refuses"
)]
pub trait Checked {
    /// The words, whatever error type it uses: they are meant for the caller.
    ///
    /// # Errors
    /// What the author refuses.
    fn refusal(self) -> Result<(), String>;
}
#[diagnostic::do_not_recommend]
impl<E: core::fmt::Display> Checked for Result<(), E> {
    fn refusal(self) -> Result<(), String> {
        self.map_err(|refusal| refusal.to_string())
    }
}

/// What an author's `check` says.
///
/// # Errors
/// What the author refuses.
pub fn checked(checked: impl Checked) -> Result<(), String> {
    checked.refusal()
}

/// Tells by type, aliases included, whether a type is certainly no JSON object: the constant of a [`Scalar`] is found
/// first, and that of [`Object`] serves the rest.
pub struct Whole<T>(PhantomData<fn() -> T>);

/// See [`Whole`].
pub trait Object {
    /// Whether it may be an object.
    const OBJECT: bool = true;
    /// Found nowhere else, so that asking for it is a use of this trait whatever the answer is.
    const ASKED: () = ();
}
impl<T> Object for Whole<T> {}

impl<T: Scalar> Whole<T> {
    /// It cannot be one.
    pub const OBJECT: bool = false;
}

/// The types of the standard library that serialise as something other than an object.
pub trait Scalar {}
macro_rules! scalars {
    ($($scalar:ty),*) => { $(impl Scalar for $scalar {})* };
}
scalars!(bool, char, String, (), u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64);
impl<T> Scalar for Vec<T> {}
impl<T> Scalar for std::collections::HashSet<T> {}
impl<T> Scalar for std::collections::BTreeSet<T> {}
impl<T> Scalar for Option<T> {}
impl<T, const N: usize> Scalar for [T; N] {}
impl<A, B> Scalar for (A, B) {}
impl<A, B, C> Scalar for (A, B, C) {}
impl<T: Scalar> Scalar for Box<T> {}

/// Demands that the whole argument object is an object.
///
/// # Panics
/// When it is not; in the constant that it is called in, that is a compile error at the caller's own span.
#[track_caller]
pub const fn object(is_object: bool, _asked: ()) {
    assert!(
        is_object,
        "the type of the `#[args]` parameter is no object: the arguments of a `#[capability]` are the properties of one\nhelp: remove `#[args]`, or write a struct with the property in it"
    );
}

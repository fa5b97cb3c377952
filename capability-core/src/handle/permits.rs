//! Which class may hold which handle, as traits, so that the answer is a compile error at the parameter.
//!
//! Self is the class (or the presence of a target), `H` the handle's own type, which is only there to be named in the
//! message, and the last parameter is what holding it means. A type that is no handle at all fails earlier and only once.

/// Marker: the capability declares `side_effect = read_only`.
pub struct ReadOnly;
/// Marker: the capability declares `side_effect = mutating`.
pub struct Mutating;
/// Marker: the capability declares `network = local`.
pub struct Local;
/// Marker: the capability declares `network = external`.
pub struct External;
/// Marker: the capability declares no `target`.
pub struct NoTarget;
/// Marker: the capability declares a `target`.
pub struct WithTarget;

/// Marker: nothing leaves the device through this handle.
pub struct OnDevice;
/// Marker: data can leave the device through this handle.
pub struct OffDevice;
/// Marker: nothing outside the call's own answer changes through this handle.
pub struct Reads;
/// Marker: this handle can change something.
pub struct Changes;
/// Marker: this handle serves the same thing to every call.
pub struct Targetless;
/// Marker: this handle serves only what the call's `target` argument names.
pub struct Targets;

/// Whether a network class may hold a handle.
#[diagnostic::on_unimplemented(
    message = "this handle sends data off the device, and the `#[capability]` says `network = local`: a local capability holds no such handle\nhelp: write `network = external`, or take `&Device` or `&Endpoint<..>` instead",
    label = "reaches outside the device"
)]
pub trait NetworkPermits<H: ?Sized, Reach> {}
impl<H: ?Sized> NetworkPermits<H, OnDevice> for Local {}
impl<H: ?Sized, Reach> NetworkPermits<H, Reach> for External {}

/// Whether a side-effect class may hold a handle.
#[diagnostic::on_unimplemented(
    message = "this handle changes what it reaches, and the `#[capability]` says `side_effect = read_only`: a read-only capability holds no such handle\nhelp: write `side_effect = mutating`, or take `&Workspace<Read>` instead",
    label = "changes what it reaches"
)]
pub trait EffectPermits<H: ?Sized, Power> {}
impl<H: ?Sized> EffectPermits<H, Reads> for ReadOnly {}
impl<H: ?Sized, Power> EffectPermits<H, Power> for Mutating {}

/// Whether a capability without a target may hold a handle.
#[diagnostic::on_unimplemented(
    message = "this handle connects only to what was judged and approved, and the `#[capability]` has no `target`: the argument that names the host must be declared\nhelp: write `target = url(url)`, naming the argument that holds the address",
    label = "needs a `target`"
)]
pub trait TargetPermits<H: ?Sized, Scope> {}
impl<H: ?Sized> TargetPermits<H, Targetless> for NoTarget {}
impl<H: ?Sized, Scope> TargetPermits<H, Scope> for WithTarget {}

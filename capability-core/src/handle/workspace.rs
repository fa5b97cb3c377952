//! Files below a workspace root.

use core::marker::PhantomData;

use super::{Changes, Handle, HandleFamily, HandleKind, OnDevice, Reads, Targetless, sealed};
use crate::call::Call;

/// Marker: files are read.
pub struct Read;
/// Marker: files are read and written.
pub struct Write;

/// [`Read`] or [`Write`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a workspace is lent for, and `#[capability]` knows two: it is read, or it is read and written\nhelp: write `&Workspace<Read>` or `&Workspace<Write>`, from `capability_core::handle`",
    label = "neither `Read` nor `Write`"
)]
pub trait WorkspaceAccess: sealed::Sealed + Send + Sync + 'static {
    /// What holding a workspace with this access means for the class.
    type Power;
}
impl sealed::Sealed for Read {}
impl sealed::Sealed for Write {}
impl WorkspaceAccess for Read {
    type Power = Reads;
}
impl WorkspaceAccess for Write {
    type Power = Changes;
}

/// A workspace root: files below it and no others, by descriptors that the kernel confines.
///
/// A host without a file broker does not serve it: a capability that takes it is then refused at policy with
/// `missing_runtime_binding`, visible to operators.
pub struct Workspace<A>(
    #[expect(dead_code, reason = "the lease under which a broker will be asked")] Call,
    PhantomData<A>,
);

impl<A> core::fmt::Debug for Workspace<A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Workspace")
    }
}

impl<A> sealed::Sealed for Workspace<A> {}
impl<A: WorkspaceAccess> Handle for Workspace<A> {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Workspace, "");
    type Reach = OnDevice;
    type Power = A::Power;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone(), PhantomData)
    }
}

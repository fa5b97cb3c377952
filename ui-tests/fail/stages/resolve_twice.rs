//! A validated call is resolved.

use capability_core::executor::{Invocation, Validated};

fn too_early(invocation: Invocation<Validated>) {
    let _ = invocation.resolve();
}

fn main() {}

//! A validated call has not met policy.

use capability_core::executor::{Invocation, Validated};

async fn too_early(invocation: Invocation<Validated>) {
    let _ = invocation.confirm().await;
}

fn main() {}

//! A proposal names nothing yet.

use capability_core::executor::{Invocation, Proposed};

async fn too_early(invocation: Invocation<Proposed>) {
    let _ = invocation.validate().await;
}

fn main() {}

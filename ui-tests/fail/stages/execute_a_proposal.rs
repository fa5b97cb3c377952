//! No stage has run at all.

use capability_core::executor::{Invocation, Proposed};

async fn too_early(invocation: Invocation<Proposed>) {
    let _ = invocation.execute().await;
}

fn main() {}

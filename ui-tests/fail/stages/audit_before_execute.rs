//! A confirmed call has not run.

use capability_core::executor::{Invocation, Confirmed};

async fn too_early(invocation: Invocation<Confirmed>) {
    let _ = invocation.audit().await;
}

fn main() {}

//! A resolved call has not been validated.

use capability_core::executor::{Invocation, Resolved};

async fn too_early(invocation: Invocation<Resolved>) {
    let _ = invocation.permit().await;
}

fn main() {}

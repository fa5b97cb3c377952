//! A permitted call is not yet confirmed.

use capability_core::executor::{Invocation, Permitted};

async fn too_early(invocation: Invocation<Permitted>) {
    let _ = invocation.execute().await;
}

fn main() {}

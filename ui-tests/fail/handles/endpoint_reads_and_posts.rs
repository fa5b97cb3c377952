//! An endpoint kind that only reads sends nothing that changes.

use capability_core::capability;
use capability_core::handle::{Endpoint, EndpointKind, HttpMethod, Reads};

struct Service;
impl EndpointKind for Service {
    const NAME: &'static str = "service";
    type Power = Reads;
    const ALLOWED: &'static [(HttpMethod, &'static str)] = &[(HttpMethod::Post, "/switch")];
}

#[capability(name = "home.state", version = 1, side_effect = read_only, network = local)]
async fn state(service: &Endpoint<Service>) {
    let _ = service;
}

fn main() {}

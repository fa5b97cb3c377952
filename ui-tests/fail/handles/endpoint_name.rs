//! An endpoint kind's name is a word in the configuration.

use capability_core::capability;
use capability_core::handle::{Endpoint, EndpointKind, HttpMethod, Reads};

struct Service;
impl EndpointKind for Service {
    const NAME: &'static str = "My Service";
    type Power = Reads;
    const ALLOWED: &'static [(HttpMethod, &'static str)] = &[(HttpMethod::Get, "/state")];
}

#[capability(name = "home.state", version = 1, side_effect = read_only, network = local)]
async fn state(service: &Endpoint<Service>) {
    let _ = service;
}

fn main() {}

//! Every handle, and classes that may hold it.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::__private::CAPABILITIES;
use capability_core::capability;
use capability_core::handle::{
    Clock, Context, Device, Endpoint, EndpointKind, Http, HttpMethod, Journal, Read, Secret, SecretKind, Workspace, Write,
};

struct Searxng;
impl EndpointKind for Searxng {
    const NAME: &'static str = "searxng";
    type Power = capability_core::handle::Reads;
    const ALLOWED: &'static [(HttpMethod, &'static str)] = &[(HttpMethod::Get, "/search")];
}

struct Pihole;
impl EndpointKind for Pihole {
    const NAME: &'static str = "pihole";
    type Power = capability_core::handle::Reads;
    const ALLOWED: &'static [(HttpMethod, &'static str)] = &[(HttpMethod::Get, "/api/stats")];
}

struct Token;
impl SecretKind for Token {
    const NAME: &'static str = "token";
}

#[capability(name = "handles.reading", version = 1, side_effect = read_only, network = local)]
async fn reading(
    context: &Context,
    clock: &Clock,
    device: &Device,
    journal: &Journal,
    workspace: &Workspace<Read>,
    searxng: &Endpoint<Searxng>,
    pihole: &Endpoint<Pihole>,
    token: &Secret<Token>,
) {
    let _ = (context, clock, device, journal, workspace, searxng, pihole, token);
}

#[capability(name = "handles.writing", version = 1, side_effect = mutating, network = external, target = url(url))]
async fn writing(_: &Http, url: String, workspace: &Workspace<Write>) -> String {
    let _ = workspace;
    url
}

fn main() {
    let mut lent: Vec<_> = CAPABILITIES
        .iter()
        .map(|entry| entry.handles().iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        .collect();
    lent.sort_unstable();
    assert_eq!(
        lent,
        [
            "context clock device journal workspace endpoint<searxng> endpoint<pihole> secret<token>",
            "http workspace"
        ]
    );
}

//! Every key at once, and what the entry says of it.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::__private::{CAPABILITIES, DefaultEffect, Preview, Risk, TargetKind};
use capability_core::handle::{Context, Http};
use capability_core::{Failure, capability};

/// Fetches one page.
#[capability(
    name = "web.fetch",
    version = 3,
    side_effect = mutating,
    network = external,
    title = "Fetch a page",
    bounds(timeout = "1500ms", max_result = "2 MiB", per_turn = 7),
    target = url(address),
    scope = server,
    preview = show,
    check = sensible,
    risk = critical,
    default = deny,
    resident,
    idempotent,
    crate = ::capability_core,
)]
async fn fetch(context: &Context, address: String, http: &Http, server: String) -> Result<String, Failure> {
    let _ = (context, http);
    Ok(address + &server)
}

async fn show(context: &Context, http: &Http, address: &str, server: &str) -> Result<Preview, Failure> {
    let _ = (context, http);
    Ok(Preview { text: format!("{address} {server}"), rests_on: Vec::new(), ..Preview::default() })
}

fn sensible(address: &str, server: &str) -> Result<(), String> {
    if address == server { Err("both are the same".to_owned()) } else { Ok(()) }
}

fn main() {
    let [entry] = &*CAPABILITIES else { panic!("one entry") };
    assert_eq!(entry.to_string(), "web.fetch@3");
    assert_eq!(entry.class().to_string(), "mutating + external");
    assert_eq!(entry.title(), Some("Fetch a page"));
    assert_eq!(entry.description(), "Fetches one page.");
    assert_eq!(entry.bounds().to_string(), "1500 ms, 2 MiB, 7 per turn");
    assert_eq!((entry.target().kind, entry.target().argument), (TargetKind::Url, Some("address")));
    assert_eq!(entry.scope(), Some("server"));
    assert_eq!((entry.risk(), entry.default_effect()), (Risk::Critical, DefaultEffect::Deny));
    assert!(entry.is_resident() && entry.is_idempotent() && !entry.is_locked());
    let handles: Vec<_> = entry.handles().iter().map(ToString::to_string).collect();
    assert_eq!(handles, ["context", "http"]);
    assert!(entry.location().file.ends_with("every_key.rs"), "{}", entry.location());
    assert_eq!(entry.location().line, LINE);
}

/// Where the attribute above stands.
const LINE: u32 = 9;

//! Capabilities of every kind of target, default and class that rules see.

use capability_core::{Failure, Journal, capability};

/// Shows a page that is here already.
#[capability(name = "desk.page", version = 1, side_effect = read_only, network = local, target = url(url))]
fn page(url: String) -> String {
    url
}

/// Fetches a page.
#[capability(name = "desk.fetch", version = 1, side_effect = read_only, network = external, target = url(url))]
fn fetch(url: String) -> String {
    url
}

/// Reads a file, or lists them all.
#[capability(name = "desk.read", version = 1, side_effect = read_only, network = local, target = path(path))]
fn read(path: Option<String>) -> String {
    path.unwrap_or_default()
}

/// Runs a command, having asked.
#[capability(name = "desk.run", version = 1, side_effect = read_only, network = local, default = ask, target = argv(words))]
fn run(words: Vec<String>) -> String {
    words.join(" ")
}

/// Says a text, unless that is denied, which it is.
#[capability(name = "desk.say", version = 1, side_effect = read_only, network = local, default = deny, target = text(text))]
fn say(text: String) -> String {
    text
}

/// Asks a server.
#[capability(
    name = "desk.call",
    version = 1,
    side_effect = read_only,
    network = local,
    scope = server,
    target = service(server)
)]
fn call(server: String) -> String {
    server
}

/// Asks a server about something.
#[capability(
    name = "desk.ask",
    version = 1,
    side_effect = mutating,
    network = local,
    scope = server,
    target = host(host)
)]
fn ask(server: String, host: String) -> String {
    server + &host
}

/// Never runs.
#[capability(name = "desk.sealed", version = 1, side_effect = read_only, network = local, locked)]
fn sealed() -> String;

/// Writes something down, where there is a journal.
#[capability(name = "desk.note", version = 1, side_effect = read_only, network = local)]
async fn note(journal: &Journal) -> Result<(), Failure> {
    Ok(journal.append("noted").await?)
}

//! The built-in capabilities, one module per family.
//!
//! | capability | what it does | class |
//! |---|---|---|
//! | [`system.health`](system::system_health) | how this machine is, and what is wrong | `read_only` + `local` |
//! | [`pihole.status`](pihole::pihole_status) | whether the household's Pi-hole is there and blocks | `read_only` + `local` |
//! | [`pihole.summary`](pihole::pihole_summary) | how much it has blocked | `read_only` + `local` |
//! | [`terminal.exec`](terminal::terminal_exec) | a command in the workspace | `mutating` + `local` |
//! | [`web.search`](web::search::web_search) | a search through the household's own SearXNG | `read_only` + `external` |
//! | [`web.fetch`](web::fetch::web_fetch) | one page of the public web, as plain text | `read_only` + `external` |
//!
//! Each function's own page says what it takes and answers. Its contract is written there by `#[capability]` from the
//! annotation, with the confirmation computed from the class. A binary links these with `use capabilities as _;`.
//!
//! Two modules are of use to other packages' capabilities too: [`http`] speaks HTTP on the connection that `&Http` gives, and
//! [`plain`] makes text from elsewhere fit to be shown.

pub mod http;
mod object;
pub mod pihole;
pub mod plain;
pub mod system;
pub mod terminal;
pub mod web;

capability_core::contracts!("../contracts.lock");

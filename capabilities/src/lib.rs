//! The built-in capabilities, one module per family.
//!
//! | capability | what it does | class |
//! |---|---|---|
//! | [`subject.note`](note::subject_note) | a note in the subject's own journal | `read_only` + `local` |
//! | [`self.introspect`](own::self_introspect) | an earlier result of the same session | `read_only` + `local` |
//! | [`self.reflect`](own::self_reflect) | why the subject's own calls ended as they did | `read_only` + `local` |
//! | [`self.calls`](own::self_calls) | a search in the same | `read_only` + `local` |
//! | [`system.health`](system::system_health) | how this machine is, and what is wrong | `read_only` + `local` |
//! | [`pihole.status`](pihole::pihole_status) | whether the household's Pi-hole is there and blocks | `read_only` + `local` |
//! | [`pihole.summary`](pihole::pihole_summary) | how much it has blocked | `read_only` + `local` |
//! | [`terminal.exec`](terminal::terminal_exec) | a command in the workspace | `mutating` + `local` |
//! | [`metrics.read`](metrics::metrics_read) | measurements from the household's Prometheus | `read_only` + `local` |
//! | [`repository.read`](repository::repository_read) | one file of a configured repository, at one revision | `read_only` + `local` |
//! | [`web.search`](web::search::web_search) | a search through the household's own SearXNG | `read_only` + `external` |
//! | [`web.fetch`](web::fetch::web_fetch) | one page of the public web, as plain text | `read_only` + `external` |
//! | [`mcp.call`](provider::mcp_call) | one tool of a server that speaks the Model Context Protocol | `mutating` + `external`, or as an operator classifies the tool |
//! | [`mcp.connect`](provider::mcp_connect) | starts or contacts such a server | `mutating` + `external` |
//! | [`edge.call`](provider::edge_call) | one tool that a person's own machine has declared | as `mcp.call` |
//! | [`relay.call`](provider::relay_call) | one tool of a workspace or agent elsewhere | as `mcp.call` |
//! | [`state.get`](state::state_get) | a text that the subject keeps | `read_only` + `local` |
//! | [`state.put`](state::state_put) | keeps one | `mutating` + `local` |
//! | [`schedule.create`](schedule::schedule_create), [`schedule.cancel`](schedule::schedule_cancel) | makes and ends calls that are made at times | `mutating` + `local` |
//! | [`schedule.list`](schedule::schedule_list) | lists them | `read_only` + `local` |
//! | [`agent.run`](agent::agent_run), [`agent.spawn`](agent::agent_spawn) | a configured agent's turn that acts for the caller | `mutating` + `external` |
//! | [`agent.status`](agent::agent_status) | what became of those that were not waited for | `read_only` + `local` |
//! | [`agent.stop`](agent::agent_stop) | stops one | `mutating` + `local` |
//! | [`git.promote`](git::git_promote), [`git.rollback`](git::git_rollback) | moves a tree's live reference forward, and back | `mutating` + `local` |
//! | [`package.trust`](review::package_trust) | asks a person to trust a source of packages | `mutating` + `local` |
//! | [`dependency.request`](review::dependency_request) | asks a person for a package | `mutating` + `local` |
//! | [`mail.send`](mail::mail_send) | a letter to somebody that the operator listed | `mutating` + `external` |
//! | `shell.sudo`, in [`locked`] | nothing: it is locked | `mutating` + `external` |
//! | `database.delete`, in [`locked`] | nothing: it is locked | `mutating` + `external` |
//! | [`fs.read`](fs::read::fs_read) | one file | `read_only` + `local` |
//! | [`fs.list`](fs::list::fs_list) | what stands in a directory | `read_only` + `local` |
//! | [`fs.search`](fs::search::fs_search) | lines of files | `read_only` + `local` |
//! | [`fs.glob`](fs::glob::fs_glob) | files by their paths | `read_only` + `local` |
//! | [`fs.write`](fs::write::fs_write) | one file, whole | `mutating` + `local` |
//! | [`fs.patch`](fs::patch::fs_patch) | several files by a patch, all or none | `mutating` + `local` |
//!
//! Each function's own page says what it takes and answers. Its contract is written there by `#[capability]` from the
//! annotation, with the confirmation computed from the class. A binary links these with `use capabilities as _;`.
//!
//! Two modules are of use to other packages' capabilities too: [`http`] speaks HTTP on the connection that `&Http` gives, and
//! [`plain`] makes text from elsewhere fit to be shown.

pub mod agent;
pub mod fs;
pub mod git;
pub mod http;
pub mod locked;
pub mod mail;
pub mod metrics;
pub mod note;
mod object;
#[path = "self_.rs"]
pub mod own;
pub mod pihole;
pub mod plain;
pub mod provider;
pub mod repository;
pub mod review;
pub mod schedule;
pub mod state;
pub mod system;
pub mod terminal;
pub mod web;

capability_core::contracts!("../contracts.lock");

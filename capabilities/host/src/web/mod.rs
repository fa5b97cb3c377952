//! The approval centre: pages for people, an interface for their programs, and what stands before both.
//!
//! Everything is rendered by this process and works without a script. A script of ours, when a browser runs it, fetches the
//! same rendered pieces again when something changed. Answers go to the same service as the command line's.

mod access;
mod answer;
mod api;
mod api_document;
mod board;
mod difference;
mod events;
mod forms;
mod guard;
mod hosts;
mod inbox;
mod listen;
mod pages;
mod refused;
mod seal;
mod shown;

pub(crate) use access::Way;
pub(crate) use answer::{ARM, word};
pub(crate) use hosts::{Hosts, is_own_origin};
pub(crate) use listen::{PEOPLE, Room, Server, Serving, serve as serve_connections};

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::middleware::from_fn_with_state;
use capability_core::approval::Operator;
use tokio::sync::{Semaphore, watch};

use crate::service::Service;
use access::Access;
use board::Board;
use guard::Who;
use refused::Refused;
use seal::Seal;

/// Where people log in.
const LOGIN: &str = "/login";

/// How many requests change something at a time.
const AT_WORK: u32 = 64;

/// Everything the pages stand on.
pub(crate) struct Web {
    service: Arc<Service>,
    access: Arc<Access>,
    seal: Seal,
    board: Board,
    hosts: Hosts,
    port: u16,
    /// Taken by whoever changes something: the host waits for them before it ends.
    work: Arc<Semaphore>,
    /// One for each stream of events.
    viewers: Arc<Semaphore>,
    /// Told when the pages end.
    ending: watch::Receiver<bool>,
    /// What the last look at the log's chain found.
    verified: pages::Verified,
    document: OnceLock<serde_json::Value>,
}

type Shared = Arc<Web>;

impl Web {
    fn service(&self) -> &Arc<Service> {
        &self.service
    }

    fn access(&self) -> &Access {
        &self.access
    }

    const fn seal(&self) -> &Seal {
        &self.seal
    }

    const fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// The state of the operator credential that sessions are opened under.
    fn epoch(&self) -> u64 {
        self.service.host().operators().credential().epoch()
    }

    /// Cookies are of a host and all its ports: another approval centre on this machine has one of another name. Behind
    /// encryption a browser makes sure that nobody but this very host set it.
    fn cookie_name(&self, encrypted: bool) -> String {
        format!("{}capability_{}", if encrypted { "__Host-" } else { "" }, self.port)
    }

    /// The operator behind a request whose session the guard has checked.
    fn operator(&self, who: &Who) -> Operator {
        self.service.host().operators().admit_by(who.way)
    }

    /// Does something to its end, whether or not whoever asked waits for it.
    async fn whole<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Refused>> + Send + 'static,
    ) -> Result<T, Refused> {
        let ending = || Refused::from(crate::protocol::Fault::broken("the host is ending", "try again later"));
        let permit = Arc::clone(&self.work).acquire_owned().await.map_err(|_| ending())?;
        let done = tokio::spawn(async move {
            let done = work.await;
            drop(permit);
            done
        });
        done.await.unwrap_or_else(|_| Err(ending()))
    }
}

/// Turns a family on or off, to the end.
async fn opt_in(web: &Shared, who: &Who, family: String, on: bool) -> Result<serde_json::Value, Refused> {
    let (service, operator) = (Arc::clone(web.service()), web.operator(who));
    web.whole(async move { service.set_switch(&operator, &family, on).await.map_err(Refused::from) }).await
}

/// Every route, behind the guard.
fn router(web: &Shared) -> Router {
    Router::new()
        .merge(pages::routes())
        .merge(api::routes())
        .route("/events", axum::routing::get(events::events))
        .fallback(async || Refused::not_found("there is no such page", "go to the queue"))
        .method_not_allowed_fallback(async || {
            let status = axum::http::StatusCode::METHOD_NOT_ALLOWED;
            Refused::new(status, "no_such_method", "this address is not asked in that way", "see `/api/openapi.json`")
        })
        .layer(from_fn_with_state(Arc::clone(web), guard::guard))
        .with_state(Arc::clone(web))
}

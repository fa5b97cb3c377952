//! Changes of the queue, told as they happen: server-sent events that name approvals and hold nothing a caller wrote.

use core::time::Duration;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use serde_json::json;
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::{MissedTickBehavior, interval};

use super::access::Way;
use super::board::Snapshot;
use super::guard::Who;
use super::refused::Refused;
use super::{Shared, Web};
use crate::secrets::redactor;
use crate::streamed::Streamed;

/// How many events may wait for one viewer. Whoever takes none for longer is not told more, and sees it all when it looks.
const BEHIND: usize = 16;
/// How often a stream that has nothing to tell says that it is there, and whether its session still is.
const BEAT: Duration = Duration::from_secs(15);
/// Changes that come close together are told together.
const TOGETHER: Duration = Duration::from_millis(50);

/// `GET /events`.
pub async fn events(State(web): State<Shared>, who: Who) -> Result<Response, Refused> {
    let Ok(permit) = Arc::clone(&web.viewers).try_acquire_owned() else {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let refused = Refused::new(status, "too_many_viewers", "too many people are told already", "reload the page");
        return Err(refused.after(30));
    };
    let (sender, receiver) = channel(BEHIND);
    tokio::spawn(async move {
        tell(web, who, sender).await;
        // Last: whoever waits for the permits finds nothing of the host held here.
        drop(permit);
    });
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    Ok(([kind], Body::new(Streamed(receiver))).into_response())
}

async fn tell(web: Shared, who: Who, sender: Sender<Frame<Bytes>>) {
    let operator = web.operator(&who);
    let (mut changes, mut ending) = (web.service().host().executor().changes(&operator), web.ending.clone());
    let mut beat = interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    changes.mark_unchanged();
    let Ok(mut seen) = web.board.look(web.service(), &operator).await else { return };
    loop {
        let text = tokio::select! {
            biased;
            _ = ending.changed() => return,
            () = sender.closed() => return,
            _ = beat.tick() => ": here\n\n".to_owned(),
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
                tokio::time::sleep(TOGETHER).await;
                changes.mark_unchanged();
                let Ok(now) = web.board.look(web.service(), &operator).await else { return };
                let told = differences(&seen, &now);
                seen = now;
                // Something else that operators see: a grant, say.
                if told.is_empty() { "event: other\ndata: {}\n\n".to_owned() } else { told }
            }
        };
        if !still(&web, &who) {
            let _ = sender.send(Frame::data(Bytes::from_static(b"event: ended\ndata: {}\n\n"))).await;
            return;
        }
        let text = redactor().text(&text).into_owned();
        if !text.is_empty() && sender.send(Frame::data(text.into())).await.is_err() {
            return;
        }
    }
}

/// Whether whoever is told is still an operator.
fn still(web: &Web, who: &Who) -> bool {
    match who.way {
        Way::Page => web.access.is_alive(&who.id, web.epoch()),
        // The guard lets no token through to here.
        Way::Token => false,
    }
}

/// What became of what was seen, as events.
fn differences(seen: &Snapshot, now: &Snapshot) -> String {
    let (before, after) = (seen.standing(), now.standing());
    let mut text = String::new();
    for (id, waiting) in &after {
        let summary = &waiting.summary;
        let kind = match before.get(id) {
            None => "appeared",
            Some(other) if other.summary.status != summary.status => "changed",
            Some(_) => continue,
        };
        let data = json!({
            "id": id,
            "status": summary.status,
            "capability": summary.capability,
            "version": summary.version,
            "risk": summary.risk,
        });
        text += &format!("event: {kind}\ndata: {data}\n\n");
    }
    for id in before.keys().filter(|id| !after.contains_key(id)) {
        text += &format!("event: left\ndata: {}\n\n", json!({ "id": id }));
    }
    text
}

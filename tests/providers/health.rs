//! How tools have been doing, and what that says to whoever would try again.

use std::sync::Arc;

use capability_core::Timestamp;
use capability_core::approval::GrantLimits;
use capability_core::audit::{MemorySink, OutcomeKind, Sink as _};
use capability_core::provider::{HealthStore as _, HealthWatch, MemoryHealth, ProviderType};
use capability_core::session::SessionId;
use serde_json::json;

use crate::fixtures::Bench;
use crate::fixtures::providers::{provider, tool};

const SESSION: SessionId = SessionId::from_bytes([1; 16]);
const HOUR: i64 = 3_600_000_000;

async fn watch(store: &Arc<MemoryHealth>) -> HealthWatch {
    let watch = HealthWatch::new(Arc::new(MemorySink::default()), Arc::clone(store) as _);
    watch.settle().await.expect("memory answers");
    watch
}

/// Replays what a bench has recorded since, into a watch.
fn replay(bench: &Bench, watch: &HealthWatch, from: usize) -> usize {
    let records = bench.tape.records();
    for record in records.iter().skip(from).cloned() {
        drop(watch.submit(record));
    }
    records.len()
}

#[tokio::test]
async fn guidance_follows_what_is_so_now_and_is_given_once() {
    let bench = Bench::providing(GrantLimits::off());
    bench.supplied.set(vec![provider(ProviderType::Mcp, "docs", vec![tool("docs", "find")])]);
    let store = Arc::new(MemoryHealth::default());
    let watch = watch(&store).await;
    let call = json!({ "server": "docs", "tool": "find", "arguments": { "q": "a" } });
    let decisions = bench.executor.decisions(&bench.session);
    let find = decisions.provided(ProviderType::Mcp, "docs", "find").expect("it is listed");
    let now = Timestamp::from_micros(0);
    let mut seen = 0;
    // Nothing answers behind it: each approved call fails.
    for failed in 1..=3_u32 {
        assert_eq!(watch.guidance(find, SESSION, now), None, "after {failed}");
        assert_eq!(bench.run("mcp.call", &call).await.kind(), OutcomeKind::Failed);
        seen = replay(&bench, &watch, seen);
    }
    let health = watch.health(find).expect("it ran");
    assert_eq!((health.worked, health.failed, health.in_a_row, health.last), (0, 3, 3, OutcomeKind::Failed));
    assert!(watch.guidance(find, SESSION, now).is_some());
    assert_eq!(watch.guidance(find, SESSION, now), None, "it was said");
    assert!(watch.guidance(find, SessionId::from_bytes([2; 16]), now).is_some(), "to another session it was not");
    // What is old says nothing of now.
    assert_eq!(watch.guidance(find, SessionId::from_bytes([3; 16]), Timestamp::from_micros(2 * HOUR)), None);

    // It is there in the next session and after the next start, without a word of what the provider calls it.
    watch.settle().await.expect("memory answers");
    let kept = store.load().await.expect("memory answers");
    assert!(kept.iter().all(|(key, _)| !key.as_str().contains("find")), "{kept:?}");
    let again = self::watch(&store).await;
    assert_eq!(again.health(find), Some(health));
    // Once it works, and fails again, that is news.
    bench.bindings.answer_tools(|_| {
        Ok(capability_core::handle::ToolReply { content: vec![], structured: None, is_error: false })
    });
    assert_eq!(bench.run("mcp.call", &call).await.kind(), OutcomeKind::Executed);
    replay(&bench, &watch, seen);
    assert_eq!(watch.guidance(find, SessionId::from_bytes([4; 16]), now), None);
    assert_eq!(watch.health(find).map(|own| (own.worked, own.in_a_row)), Some((1, 0)));
}

#[tokio::test]
async fn what_only_reads_may_be_tried_again() {
    let bench = Bench::providing(GrantLimits::off());
    let store = Arc::new(MemoryHealth::default());
    let watch = watch(&store).await;
    for _ in 0..5 {
        let outcome = bench.invoke("lab.act_read_local", &json!({ "behaviour": "fail_private" })).await;
        assert_eq!(outcome.kind(), OutcomeKind::Failed, "{outcome:?}");
    }
    // Refusals and questions say nothing of how it is doing.
    let _ = bench.invoke("lab.act_read_local", &json!({ "no": "such" })).await;
    replay(&bench, &watch, 0);
    let decisions = bench.executor.decisions(&bench.session);
    let own = decisions.compiled("lab.act_read_local", std::num::NonZeroU32::MIN).expect("it is registered");
    assert_eq!(watch.health(own).map(|own| (own.worked, own.failed)), Some((0, 5)));
    assert_eq!(watch.guidance(own, SESSION, Timestamp::from_micros(0)), None);
}

/// Failures of long ago and one of now are no row.
#[tokio::test]
async fn what_failed_long_ago_says_nothing_of_the_next_failure() {
    let bench = Bench::providing(GrantLimits::off());
    bench.supplied.set(vec![provider(ProviderType::Mcp, "docs", vec![tool("docs", "find")])]);
    let store = Arc::new(MemoryHealth::default());
    let watch = watch(&store).await;
    let call = json!({ "server": "docs", "tool": "find", "arguments": { "q": "a" } });
    assert_eq!(bench.run("mcp.call", &call).await.kind(), OutcomeKind::Failed);
    let failed = bench.tape.records().into_iter().rfind(|record| {
        matches!(record.event, capability_core::audit::Event::Outcome { outcome: OutcomeKind::Failed, .. })
    });
    let failed = failed.expect("it was recorded");
    let fails_at = |hour: i64| {
        drop(watch.submit(capability_core::audit::Record { at: Timestamp::from_micros(hour * HOUR), ..failed.clone() }))
    };
    let decisions = bench.executor.decisions(&bench.session);
    let find = decisions.provided(ProviderType::Mcp, "docs", "find").expect("it is listed");
    let in_a_row = || watch.health(find).map(|own| own.in_a_row);
    fails_at(0);
    fails_at(0);
    fails_at(24);
    assert_eq!((in_a_row(), watch.guidance(find, SESSION, Timestamp::from_micros(24 * HOUR))), (Some(1), None));
    fails_at(24);
    fails_at(24);
    assert!(watch.guidance(find, SESSION, Timestamp::from_micros(24 * HOUR)).is_some());
    // It begins anew a day later, which is news to the same session.
    (0..3).for_each(|_| fails_at(48));
    assert_eq!(in_a_row(), Some(3));
    assert!(watch.guidance(find, SESSION, Timestamp::from_micros(48 * HOUR)).is_some());
}

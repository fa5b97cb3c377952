use capability_core::audit::OutcomeKind;
use capability_core::provider::{HealthKey, HealthStore as _, ToolHealth};

use super::{at, sqlite};

#[tokio::test]
async fn tools_health_is_kept_as_it_was() {
    let (_dir, database) = sqlite();
    let store = database.health();
    assert_eq!(store.load().await.unwrap(), []);
    let key = |name: &str| HealthKey::from_stored(name.to_owned());
    let health = |worked, last| ToolHealth { worked, failed: 3, in_a_row: 2, last, at: at(7) };
    let first = (key("web.search@1 compiled compiled"), health(u64::MAX / 2, OutcomeKind::TimedOut));
    let second = (key("mcp.call@1 mcp docs 0123456789abcdef"), health(1, OutcomeKind::ResultInvalid));
    store.save(vec![first.clone(), second.clone()]).await.unwrap();
    // The later one counts.
    let later = (first.0.clone(), health(5, OutcomeKind::Executed));
    store.save(vec![later.clone()]).await.unwrap();
    let mut kept = database.health().load().await.unwrap();
    kept.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(kept, [second, later]);
}

use core::time::Duration;
use std::net::IpAddr;
use std::sync::Arc;

use tokio::time::advance;

use super::{Access, IDLE, LINK_LIFETIME, LONGEST, Refusal, Ticket};
use crate::environment::HostEnvironment;

fn access() -> Access {
    Access::new(Arc::new(HostEnvironment::new().unwrap()))
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_link_is_good_once_and_for_ten_minutes() {
    let access = access();
    let (used, old, other) = (access.link(), access.link(), access.link());
    assert_eq!(access.redeem(&used), Ok(()));
    assert_eq!(access.redeem(&used), Err(Refusal::NoSuchLink));
    advance(LINK_LIFETIME - SECOND).await;
    assert_eq!(access.redeem(&other), Ok(()));
    advance(SECOND).await;
    assert_eq!(access.redeem(&old), Err(Refusal::NoSuchLink));
    assert_eq!(access.redeem(&Ticket::from_hex(&"0".repeat(64)).unwrap()), Err(Refusal::NoSuchLink));
    // At most eight wait: the oldest is the first to go.
    let links: Vec<_> = (0..9).map(|_| access.link()).collect();
    assert_eq!(access.redeem(&links[0]), Err(Refusal::NoSuchLink));
    assert!(links[1..].iter().all(|link| access.redeem(link).is_ok()));
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_unused_or_old_or_with_the_credential_it_was_opened_under() {
    let access = access();
    let unused = access.open(1);
    advance(IDLE - SECOND).await;
    // Looking does not count as using.
    assert!(access.alive(&unused, 1, false).is_some());
    advance(SECOND).await;
    assert!(access.alive(&unused, 1, true).is_none());

    let used = access.open(1);
    let mut lived = Duration::ZERO;
    while access.alive(&used, 1, true).is_some() {
        advance(IDLE / 2).await;
        lived += IDLE / 2;
        assert!(lived <= LONGEST);
    }
    assert_eq!(lived, LONGEST);

    let (changed, closed) = (access.open(1), access.open(2));
    assert!(access.alive(&changed, 2, true).is_none());
    // It does not come back with the old credential either.
    assert!(access.alive(&changed, 1, true).is_none());
    let kept = access.alive(&closed, 2, true).unwrap();
    assert!(access.is_alive(&kept, 2));
    access.close(&kept);
    assert!(access.alive(&closed, 2, true).is_none() && !access.is_alive(&kept, 2));
}

#[tokio::test(start_paused = true)]
async fn sessions_are_bounded_and_the_idlest_ends_first() {
    let access = access();
    let first = access.open(0);
    let others: Vec<_> = (0..63).map(|_| access.open(0)).collect();
    advance(SECOND).await;
    assert!(access.alive(&first, 0, true).is_some());
    advance(SECOND).await;
    let last = access.open(0);
    assert!(access.alive(&first, 0, true).is_some() && access.alive(&last, 0, true).is_some());
    assert_eq!(others.iter().filter(|other| access.alive(other, 0, true).is_some()).count(), 62);
}

#[tokio::test(start_paused = true)]
async fn tries_are_limited_for_each_peer_and_for_all() {
    let access = access();
    let peer = |last: u8| IpAddr::from([10, 0, 0, last]);
    let tries = |peer| (0..30).filter(|_| access.try_once(peer).is_ok()).count();
    assert_eq!(tries(peer(1)), 5);
    assert!(matches!(access.try_once(peer(1)), Err(Refusal::TooMany(1..=13))));
    assert_eq!((tries(peer(2)), tries(peer(3)), tries(peer(4))), (5, 5, 5));
    assert_eq!(tries(peer(5)), 0, "twenty for all");
    advance(Duration::from_secs(12)).await;
    assert_eq!(tries(peer(1)), 1);
    assert_eq!(tries(peer(5)), 3);
    advance(Duration::from_secs(600)).await;
    // One network of the sixth version is one peer, and so is an address written both ways.
    let six = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, last]);
    assert_eq!((tries(six(1)), tries(six(2))), (5, 0));
    assert_eq!((tries(peer(9)), tries("::ffff:10.0.0.9".parse().unwrap())), (5, 0));
    advance(Duration::from_secs(6000)).await;
    for number in 0..5000_u32 {
        let _ = access.try_once(IpAddr::from(number.to_be_bytes()));
    }
    advance(Duration::from_secs(6000)).await;
    assert_eq!(tries(peer(1)), 5, "strangers in number keep nobody out for ever");
}

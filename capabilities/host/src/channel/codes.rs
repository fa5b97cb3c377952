//! Codes by which a person at a channel may answer a question.
//!
//! A code is shown to an operator who has the credential, is for one question, one channel and one sender, counts once, and is
//! gone with the host. It is never an answer to a question that takes a fresh one: whoever holds the sender's phone could give
//! it.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use capability_core::approval::ApprovalId;
use capability_core::audit::ChannelName;
use capability_core::{Environment, Timestamp};

/// How long a code counts, at most.
const LIFETIME: Duration = Duration::from_secs(10 * 60);
/// How many live at a time.
const MOST: usize = 64;
/// After so many wrong ones, all of a sender's are gone, and none counts for as long as one would have.
const WRONG: u32 = 5;
/// Letters and digits that are not taken for one another: 32 of them, five bits each.
const LETTERS: [u8; 32] = *b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH: usize = 10;

/// Who may use it, and for what.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Code {
    code: [u8; LENGTH],
    approval: ApprovalId,
    channel: ChannelName,
    sender: String,
    expires_at: Timestamp,
}

#[derive(Debug, Default)]
struct Book {
    live: Vec<Code>,
    /// Wrong ones by channel and sender, and since when.
    wrong: BTreeMap<(ChannelName, String), (u32, Timestamp)>,
}

/// Every code that lives.
#[derive(Debug, Default)]
pub(crate) struct Codes(Mutex<Book>);

/// What somebody says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Said<'t> {
    /// Yes, or no.
    pub(crate) yes: bool,
    code: &'t [u8; LENGTH],
}

/// An answer has two words: `approve` or `deny`, and a code. Anything else is a message like any other.
pub(crate) fn said(text: &str) -> Option<Said<'_>> {
    let (word, code) = text.trim().split_once(' ')?;
    let yes = match word {
        "approve" => true,
        "deny" => false,
        _ => return None,
    };
    let code: &[u8; LENGTH] = code.as_bytes().try_into().ok()?;
    code.iter().all(|byte| LETTERS.contains(byte)).then_some(Said { yes, code })
}

impl Codes {
    fn book(&self, now: Timestamp) -> MutexGuard<'_, Book> {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        book.live.retain(|code| now < code.expires_at);
        book.wrong.retain(|_, (_, since)| now < since.after(LIFETIME));
        book
    }

    /// A code for this question, this channel and this sender; `None` while too many live.
    pub(crate) fn issue(
        &self,
        (approval, expires_at): (ApprovalId, Timestamp),
        channel: &ChannelName,
        sender: &str,
        environment: &dyn Environment,
    ) -> Option<(String, Timestamp)> {
        let now = environment.now();
        let mut drawn = [0; LENGTH];
        environment.fill_random(&mut drawn);
        // Of five bits there is always a letter, and each is as likely.
        let code = drawn.map(|byte| LETTERS.get(usize::from(byte & 31)).copied().unwrap_or(b'A'));
        let mut book = self.book(now);
        // A second one for the same takes the first one's place.
        book.live.retain(|live| (live.approval, &live.channel, live.sender.as_str()) != (approval, channel, sender));
        if book.live.len() >= MOST {
            return None;
        }
        let expires_at = expires_at.min(now.after(LIFETIME));
        let (channel, sender) = (channel.clone(), sender.to_owned());
        book.live.push(Code { code, approval, channel, sender, expires_at });
        Some((code.iter().copied().map(char::from).collect(), expires_at))
    }

    /// Uses a code up: the question that it is for, when it is this sender's on this channel.
    pub(crate) fn take(
        &self,
        said: Said<'_>,
        channel: &ChannelName,
        sender: &str,
        now: Timestamp,
    ) -> Option<ApprovalId> {
        let mut book = self.book(now);
        let of = (channel.clone(), sender.to_owned());
        if book.wrong.get(&of).is_some_and(|(wrong, _)| *wrong >= WRONG) {
            return None;
        }
        // A guess costs the guesser's own tries, and nobody else's code.
        let fits = |code: &Code| code.channel == *channel && code.sender == sender && code.code == *said.code;
        if let Some(at) = book.live.iter().position(fits) {
            return Some(book.live.swap_remove(at).approval);
        }
        let (wrong, _) = book.wrong.entry(of).or_insert((0, now));
        *wrong += 1;
        if *wrong >= WRONG {
            book.live.retain(|code| code.channel != *channel || code.sender != sender);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU8, Ordering};

    use capability_core::approval::ApprovalId;
    use capability_core::audit::ChannelName;
    use capability_core::{Environment, Timestamp};

    use super::{Codes, said};

    /// Whose clock stands, and whose random bytes count up.
    struct Still(AtomicU8);

    impl Environment for Still {
        fn now(&self) -> Timestamp {
            Timestamp::from_micros(0)
        }

        fn fill_random(&self, bytes: &mut [u8]) {
            bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn an_answer_is_two_words_and_anything_else_a_message() {
        assert!(said("approve ABCDEFGH23").unwrap().yes && !said(" deny ABCDEFGH23\n").unwrap().yes);
        for other in [
            "",
            "approve",
            "approve of it",
            "approve abcdefgh23",
            "APPROVE ABCDEFGH23",
            "approve ABCDEFGH2",
            "approve ABCDEFGH2O",
            "please approve ABCDEFGH23",
            "approve  ABCDEFGH23",
            "approve ABCDEFGH23 now",
        ] {
            assert_eq!(said(other), None, "{other}");
        }
    }

    #[test]
    fn a_code_counts_once_for_its_sender_on_its_channel_in_its_time() {
        let (codes, still) = (Codes::default(), Still(AtomicU8::new(0)));
        let (team, other): (ChannelName, ChannelName) = ("team".parse().unwrap(), "other".parse().unwrap());
        let question = ApprovalId::from_bytes([7; 16]);
        let issue = |expires| codes.issue((question, at(expires)), &team, "U1", &still).unwrap();
        let (code, expires) = issue(100);
        assert_eq!(expires, at(100));
        let text = format!("approve {code}");
        let said = said(&text).unwrap();
        assert_eq!(codes.take(said, &other, "U1", at(1)), None);
        assert_eq!(codes.take(said, &team, "U2", at(1)), None);
        assert_eq!(codes.take(said, &team, "U1", at(1)), Some(question));
        assert_eq!(codes.take(said, &team, "U1", at(1)), None);
        // One that is too old, and one that another took the place of.
        let (old, _) = issue(100);
        let (new, _) = issue(10_000);
        for (code, now) in [(&old, 2), (&new, 601)] {
            let text = format!("approve {code}");
            assert_eq!(codes.take(super::said(&text).unwrap(), &team, "U1", at(now)), None);
        }
    }

    #[test]
    fn guessing_ends_the_guessers_codes() {
        let (codes, still) = (Codes::default(), Still(AtomicU8::new(0)));
        let team: ChannelName = "team".parse().unwrap();
        let question = ApprovalId::from_bytes([7; 16]);
        let right = codes.issue((question, at(1000)), &team, "U1", &still).unwrap().0;
        let others = codes.issue((question, at(1000)), &team, "U2", &still).unwrap().0;
        for _ in 0..5 {
            assert_eq!(codes.take(said("approve ZZZZZZZZZZ").unwrap(), &team, "U1", at(1)), None);
        }
        assert_eq!(codes.take(said(&format!("approve {right}")).unwrap(), &team, "U1", at(2)), None);
        assert_eq!(codes.take(said(&format!("deny {others}")).unwrap(), &team, "U2", at(2)), Some(question));
        // A fresh one does not count either, until the guesses are old.
        let fresh = codes.issue((question, at(1000)), &team, "U1", &still).unwrap().0;
        assert_eq!(codes.take(said(&format!("approve {fresh}")).unwrap(), &team, "U1", at(3)), None);
    }
}

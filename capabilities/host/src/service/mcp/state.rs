//! The sealed word that a program brings along when it sends a call again.

use core::time::Duration;

use capability_core::Timestamp;
use capability_core::approval::ApprovalId;
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};

use super::repeats::Same;

/// What it says. It is no secret, and nothing that is done with it rests on nobody knowing it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// What waits.
    pub approval: ApprovalId,
    /// When the person was asked.
    pub asked: Timestamp,
}

/// The longest sealed word that is looked at, in bytes; ours have less than half of it.
const MAX_BYTES: usize = 1024;

/// Seals and opens them, under a key of the installation. A word is for one call of one subject, and ends with its approval.
/// That it is used once is the approval's doing.
pub struct States(RequestStateCodec);

impl States {
    pub fn new(key: [u8; 32]) -> Self {
        Self(RequestStateCodec::new_unchecked(key))
    }

    pub fn seal(&self, told: &Told, same: &Same, lasts: Duration) -> String {
        let bound = same.bytes();
        let options = SealOptions::new().associated_data(&bound).ttl(lasts.max(Duration::from_millis(1)));
        self.0.seal_json_with(told, &options).unwrap_or_default()
    }

    /// What a word says, when it was sealed here, for this very call, and has not ended.
    pub fn open(&self, sealed: &str, same: &Same) -> Option<Told> {
        let short = Some(sealed).filter(|sealed| sealed.len() <= MAX_BYTES)?;
        self.0.open_json_with(short, &same.bytes()).ok()
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use capability_core::Timestamp;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::{Same, States, Told};

    fn same(subject: &str, arguments: &str) -> Same {
        named(subject, "lamp-switch", arguments)
    }

    fn named(subject: &str, called: &str, arguments: &str) -> Same {
        Same::named(subject.parse().unwrap(), &["lamp.switch", "1", called], arguments)
    }

    fn told() -> Told {
        Told { approval: "ab".repeat(16).parse().unwrap(), asked: Timestamp::from_micros(5) }
    }

    proptest! {
        /// Neither another call or subject nor any changed character opens it.
        #[test]
        fn a_sealed_word_is_for_one_call_of_one_subject(at in any::<proptest::sample::Index>(), bit in 0..7_u32) {
            let (states, call) = (States::new([1; 32]), same("anna", "{}"));
            let sealed = states.seal(&told(), &call, Duration::from_secs(60));
            prop_assert_eq!(states.open(&sealed, &call), Some(told()));
            for other in [same("ben", "{}"), same("anna", "{ }"), named("anna", "mcp-a--b", "{}")] {
                prop_assert_eq!(states.open(&sealed, &other), None);
            }
            prop_assert_eq!(States::new([2; 32]).open(&sealed, &call), None);
            let mut changed = sealed.clone().into_bytes();
            let at = at.index(changed.len());
            changed[at] ^= 1 << bit;
            let opened = String::from_utf8(changed).ok().and_then(|changed| states.open(&changed, &call));
            prop_assert!(opened.is_none());
        }

        #[test]
        fn no_text_opens_anything(text in ".{0,200}") {
            let opened = States::new([1; 32]).open(&text, &same("anna", "{}"));
            prop_assert!(opened.is_none());
        }
    }

    #[test]
    fn a_sealed_word_ends() {
        let (states, call) = (States::new([1; 32]), same("anna", "{}"));
        let sealed = states.seal(&told(), &call, Duration::ZERO);
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(states.open(&sealed, &call), None);
    }
}

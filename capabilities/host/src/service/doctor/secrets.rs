//! Secrets: where they come from, and whether they can be used.

use super::{failed, ok, weak};
use crate::protocol::{Probe, SecretShown};
use crate::secrets::{MOST_KNOWN, Room, room};
use crate::service::Service;
use crate::words::counted;

const NAME: &str = "secrets";

impl Service {
    pub(super) fn secrets(&self) -> Probe {
        if crate::secrets::redactor().is_broken() {
            return failed(
                NAME,
                "the redactor cannot be made, so everything that goes out is withheld",
                "start the host again",
            );
        }
        let states = crate::blocking::blocking(|| self.host().secret_states());
        let help = "start the host again, so that values which were replaced are forgotten, or configure fewer and shorter ones";
        // Asked after they were read.
        match room() {
            Room::None => {
                let found = format!(
                    "{MOST_KNOWN} bytes of secrets are known, as many as can be looked for: no further one is read"
                );
                return failed(NAME, found, help);
            }
            Room::Little => {
                let found = format!("of the {MOST_KNOWN} bytes of secrets that can be looked for few are left");
                return weak(NAME, found, help);
            }
            Room::Enough => {}
        }
        if states.is_empty() {
            return ok(NAME, "none is stored or configured".into());
        }
        let named = |states: &[&SecretShown]| {
            let words = states.iter().map(|one| format!("`{}` ({})", one.name, one.state));
            words.collect::<Vec<_>>().join(", ")
        };
        let wrong: Vec<_> = states.iter().filter(|one| one.state != "ready").collect();
        if !wrong.is_empty() {
            return weak(
                NAME,
                format!("not to be used: {}", named(&wrong)),
                "see what to do with `capability secrets check`",
            );
        }
        let mut sources: Vec<_> = states.iter().map(|one| one.source.as_str()).collect();
        sources.sort_unstable();
        sources.dedup();
        ok(NAME, format!("{}, from {}", counted(states.len(), "secret", "secrets"), sources.join(", ")))
    }
}

//! Which definitions are accepted: the first that was seen, or the one that an operator accepted since.

use std::sync::Arc;

use capability_core::Timestamp;
use capability_core::provider::{ProvidedTool, Standing, ToolDefinition};

use super::mcp::Listing;
use super::settings::ClassLine;

/// One tool as it was accepted, and what its server says now where that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pin {
    /// The number that it has in the log.
    pub number: i64,
    /// What was accepted.
    pub accepted: Arc<ToolDefinition>,
    /// When.
    pub accepted_at: Timestamp,
    /// What its server said last, when that is something else.
    pub seen: Option<Arc<ToolDefinition>>,
    /// Whether it was accepted from another program or place than the one that is configured now.
    pub moved: bool,
}

impl Pin {
    /// Whether it is out of use until an operator accepts what it is now.
    #[must_use]
    pub const fn is_changed(&self) -> bool {
        self.seen.is_some() || self.moved
    }
}

/// What an operator looks at before accepting.
#[derive(Debug, Clone, PartialEq)]
pub struct PinChange {
    /// What was accepted.
    pub accepted: Arc<ToolDefinition>,
    /// What its server says now; the same, when only the program or place is another one.
    pub now: Arc<ToolDefinition>,
    /// Whether it was accepted from another program or place.
    pub moved: bool,
}

/// A tool for the executor, out of what is accepted.
pub fn provided(pin: &Pin, classes: &[ClassLine]) -> ProvidedTool {
    let digest = pin.accepted.digest();
    let line = classes.iter().find(|line| line.tool == pin.accepted.id.native && line.definition == digest);
    ProvidedTool {
        definition: Arc::clone(&pin.accepted),
        digest,
        standing: if pin.is_changed() { Standing::Changed } else { Standing::Accepted },
        classified: line.filter(|_| !pin.is_changed()).map(|line| line.class),
    }
}

/// All tools of a server: those that it listed in its own order, those that were accepted and are not listed left out; all
/// that were accepted while it lists nothing.
pub fn tools(listing: Option<&Listing>, pins: &[Pin], classes: &[ClassLine]) -> Vec<ProvidedTool> {
    let Some(listing) = listing else { return pins.iter().map(|pin| provided(pin, classes)).collect() };
    let tool = |one: &super::mcp::Described| match one.fault {
        Some(fault) => Some(ProvidedTool {
            digest: one.definition.digest(),
            definition: Arc::new(one.definition.clone()),
            standing: Standing::Faulty(fault),
            classified: None,
        }),
        None => {
            let pin = pins.iter().find(|pin| pin.accepted.id == one.definition.id)?;
            Some(provided(pin, classes))
        }
    };
    listing.tools.iter().filter_map(tool).collect()
}

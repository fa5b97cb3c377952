//! Which definitions are accepted: the first that was seen, or the one that an operator accepted since.

use std::collections::HashMap;
use std::sync::Arc;

use capability_core::Timestamp;
use capability_core::provider::{ProvidedTool, Standing, ToolDefinition};

use super::mcp::{Described, Listing};
use super::settings::ClassLine;

/// One tool as it was accepted, and what its server says now where that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pin {
    /// Its number in the store.
    pub number: i64,
    /// What was accepted.
    pub accepted: Arc<ToolDefinition>,
    /// When.
    pub accepted_at: Timestamp,
    /// What its server said last, since it said something else. It stays when that is what was accepted again.
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

/// Tools for the executor. Their schemas are compiled once for each definition.
#[derive(Default)]
pub struct Provided(HashMap<[u8; 32], ProvidedTool>);

impl Provided {
    /// A tool out of what is accepted.
    fn pinned(&mut self, pin: &Pin, classes: &[ClassLine]) -> ProvidedTool {
        let digest = pin.accepted.digest();
        let tool = self.0.entry(digest).or_insert_with(|| ProvidedTool::new(Arc::clone(&pin.accepted)));
        let tool = tool.clone().accepted_at(pin.accepted_at);
        if pin.is_changed() {
            return tool.standing_at(Standing::Changed);
        }
        match classes.iter().find(|line| line.tool == pin.accepted.id.native && line.definition == digest) {
            Some(line) => tool.classified_as(&line.definition, line.class),
            None => tool,
        }
    }

    /// All tools of a server: those that it listed in its own order, those that were accepted and are not listed left out;
    /// all that were accepted while it lists nothing.
    pub fn tools(&mut self, listing: Option<&Listing>, pins: &[Pin], classes: &[ClassLine]) -> Vec<ProvidedTool> {
        let Some(listing) = listing else { return pins.iter().map(|pin| self.pinned(pin, classes)).collect() };
        let known: HashMap<&str, &Pin> = pins.iter().map(|pin| (pin.accepted.id.native.as_str(), pin)).collect();
        let tool = |one: &Described| match one.fault {
            Some(fault) => Some(ProvidedTool::new(one.definition.clone()).standing_at(Standing::Faulty(fault))),
            None => known.get(one.definition.id.native.as_str()).map(|pin| self.pinned(pin, classes)),
        };
        listing.tools.iter().filter_map(tool).collect()
    }
}

//! What tools a server has: asked page by page, and never for longer or more than is said here.

use std::collections::HashMap;

use capability_core::provider::DefinitionFault;
use capability_core::redact::Redactor;
use serde_json::Value;

use super::definition::{Described, described};
use super::peer::{Peer, PeerFault};

/// The most pages that are asked for.
pub const MAX_PAGES: usize = 16;
/// The most tools that are taken.
pub const MAX_TOOLS: usize = 1000;
/// The most bytes of definitions that are taken in all.
pub const MAX_BYTES: usize = 4 << 20;
/// The longest mark of a page that is sent back.
const MAX_CURSOR: usize = 4096;

/// What a server listed.
#[derive(Debug, Default)]
pub struct Listing {
    /// Its tools, in its order, no name twice.
    pub tools: Vec<Described>,
    /// Why this is not all of it.
    pub cut: Option<&'static str>,
}

/// Asks for everything within the caps.
///
/// # Errors
/// [`PeerFault`] when the server did not answer as it should; what it had said until then counts for nothing.
pub async fn list(peer: &Peer, provider: &str, given: &Redactor) -> Result<Listing, PeerFault> {
    let mut listing = Listing::default();
    let mut bytes = 0;
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let page = peer.list(cursor.as_deref()).await?;
        let entries = page.get("tools").and_then(Value::as_array).ok_or(PeerFault::Malformed)?;
        for entry in entries {
            if listing.tools.len() == MAX_TOOLS {
                listing.cut = Some("it has more tools than are taken");
                return Ok(distinct(listing));
            }
            let one = described(provider, entry, given, peer.mirrors());
            bytes += one.bytes;
            if bytes > MAX_BYTES {
                listing.cut = Some("its definitions are larger in all than is taken");
                return Ok(distinct(listing));
            }
            listing.tools.push(one);
        }
        cursor = match page.get("nextCursor") {
            None | Some(Value::Null) => return Ok(distinct(listing)),
            Some(Value::String(next)) if next.len() <= MAX_CURSOR && cursor.as_ref() != Some(next) => {
                Some(next.clone())
            }
            Some(_) => return Err(PeerFault::Malformed),
        };
    }
    listing.cut = Some("its list has more pages than are asked for");
    Ok(distinct(listing))
}

/// Of tools with one name none can be called: which would be meant is the server's to choose.
fn distinct(mut listing: Listing) -> Listing {
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<Described> = Vec::with_capacity(listing.tools.len());
    for one in listing.tools {
        let name = &one.definition.id.native;
        match first.get(name).and_then(|at| kept.get_mut(*at)) {
            Some(before) => before.fault = Some(before.fault.unwrap_or(DefinitionFault::Duplicate)),
            None => {
                first.insert(name.clone(), kept.len());
                kept.push(one);
            }
        }
    }
    listing.tools = kept;
    listing
}

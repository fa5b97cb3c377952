//! The web, through a search engine of the household's own and one page at a time.
//!
//! | capability | what leaves the device |
//! |---|---|
//! | [`web.search`](search::web_search) | the query, to the SearXNG that the operator configured |
//! | [`web.fetch`](fetch::web_fetch) | one address, to the host in it |
//!
//! Both are `external`: a person confirms each call and sees exactly what would leave. What comes back is somebody else's
//! text. It is data for whoever reads it, never an instruction.

pub mod fetch;
pub mod search;

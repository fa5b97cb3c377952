//! A small HTTP/1.1 client on the connection that [`Http`] gives.
//!
//! It is there for every capability that holds `&Http`, of this package or of another one. TLS and HTTP are parsed where the
//! body runs, and the body has no way to name a host: the request goes to the address that was approved, and there is no
//! function that takes another.
//!
//! ```
//! use capabilities::http::{self, Limits, Response};
//! use capability_core::{Failure, Http, capability};
//!
//! /// The title line of a text file on the web.
//! #[capability(name = "file.title", version = 1, side_effect = read_only, network = external, target = url(url))]
//! async fn title(
//!     http: &Http,
//!     /// Where it is.
//!     #[schemars(length(max = 2048))]
//!     url: String,
//! ) -> Result<String, Failure> {
//!     let response = http::get(http, "text/plain", &Limits::default()).await.map_err(http::HttpFault::public)?;
//!     if response.status != 200 || response.media_type().is_none_or(|found| found.essence != "text/plain") {
//!         return Err(Failure::public("there is no text at that address"));
//!     }
//!     let body = response.body(4096).await.map_err(http::HttpFault::public)?;
//!     let text = String::from_utf8_lossy(&body.bytes);
//!     Ok(text.lines().next().unwrap_or_default().to_owned())
//! }
//! ```
//!
//! What it never does: follow a redirect, decompress, keep a connection, send a cookie or a credential, ask a proxy, read
//! the environment. What bounds it: a cap on all that comes in, on headers and on the body, and the call's own deadline.
//! Memory is bounded by the caps.

mod address;
mod charset;
mod client;
mod fault;
mod media_type;
mod tls;
mod wire;

pub use address::{Address, AddressFault, MAX_ADDRESS_BYTES, Scheme};
pub use charset::{Decoded, UnknownCharset, decode};
pub use client::{Body, Limits, Response, get};
pub use fault::HttpFault;
pub use media_type::MediaType;

#[cfg(doc)]
use capability_core::Http;

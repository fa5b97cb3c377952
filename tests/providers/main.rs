//! Who carries out a call: one decision for what is shown and for what is run.

#[cfg(test)]
use capabilities as _;

#[cfg(test)]
#[expect(dead_code, reason = "each suite uses some of the laboratory")]
#[path = "../fixtures/mod.rs"]
mod fixtures;

#[cfg(test)]
mod called;
#[cfg(test)]
mod carried;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod edges;
#[cfg(test)]
mod effects;
#[cfg(test)]
mod foreign;
#[cfg(test)]
mod health;
#[cfg(test)]
mod host_edges;
#[cfg(test)]
mod host_skills;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod mcp_calls;
#[cfg(test)]
mod mcp_hostile;
#[cfg(test)]
mod mcp_http;
#[cfg(test)]
mod mcp_lab;
#[cfg(test)]
mod mcp_real;
#[cfg(test)]
mod request;
#[cfg(test)]
mod skills;
#[cfg(test)]
mod source;

//! MCP as other programs speak it with a host: by hand in both of its ages, and by clients and test tools that others wrote.

#[cfg(test)]
use capabilities as _;

#[cfg(test)]
#[expect(dead_code, reason = "the tests of the command line need more of it")]
#[path = "../cli/home.rs"]
mod home;
#[cfg(test)]
#[expect(dead_code, reason = "the tests of providers need more of it")]
#[path = "../providers/mcp_lab.rs"]
mod mcp_lab;
#[cfg(test)]
#[expect(dead_code, reason = "the tests of the command line need more of it")]
#[path = "../cli/project.rs"]
mod project;

#[cfg(test)]
mod calls;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod conformance_client;
#[cfg(test)]
mod http;
#[cfg(test)]
mod leaving;
#[cfg(test)]
mod odd;
#[cfg(test)]
mod own;
#[cfg(test)]
mod people;
#[cfg(test)]
mod program;
#[cfg(test)]
mod resident;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod waiting;

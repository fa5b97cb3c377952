//! The approval centre as a browser meets it: what each guard turns away, and what an answer needs.

#[cfg(test)]
#[expect(dead_code, reason = "the tests of the command line need more of it")]
#[path = "../cli/home.rs"]
mod home;
#[cfg(test)]
#[expect(dead_code, reason = "the tests of the command line need more of it")]
#[path = "../cli/project.rs"]
mod project;

#[cfg(test)]
#[expect(dead_code, reason = "the tests of MCP need more of it")]
#[path = "../mcp/program.rs"]
mod program;

#[cfg(test)]
#[path = "../mcp/agent.rs"]
mod agent;

#[cfg(test)]
mod answers;
#[cfg(test)]
mod api;
#[cfg(test)]
mod canary;
#[cfg(test)]
mod centre;
#[cfg(test)]
mod client;
#[cfg(test)]
mod diagnostics;
#[cfg(test)]
mod guards;
#[cfg(test)]
mod health;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod live;
#[cfg(test)]
mod login;
#[cfg(test)]
mod policy;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod providers;
#[cfg(test)]
mod running;
#[cfg(test)]
mod skills;
#[cfg(test)]
mod start;

//! MCP as other programs speak it with a host: by hand in both of its ages, and by clients and test tools that others wrote.

#[cfg(test)]
#[expect(dead_code, reason = "the tests of the command line need more of it")]
#[path = "../cli/home.rs"]
mod home;
#[cfg(test)]
#[expect(dead_code, reason = "the tests of the command line need more of it")]
#[path = "../cli/project.rs"]
mod project;

#[cfg(test)]
mod agent;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod http;
#[cfg(test)]
mod leaving;
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
mod turns;
#[cfg(test)]
mod waiting;

//! The command line from outside: an author's own binary, built from an empty folder, and everything it can be asked.

#[cfg(test)]
mod approvals;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod callers;
#[cfg(test)]
mod canary;
#[cfg(test)]
mod contracts;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod home;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod policy;
#[cfg(test)]
mod processes;
#[cfg(test)]
#[expect(dead_code, reason = "another suite builds on the core alone")]
mod project;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod readme;
#[cfg(test)]
mod running;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod standing;
#[cfg(test)]
mod surface;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod transcripts;

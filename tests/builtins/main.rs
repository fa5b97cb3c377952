//! The built-in capabilities against real services: through the executor of a whole host, with an operator's answers, and
//! with a look at what was recorded.

#[cfg(test)]
mod addresses;
#[cfg(test)]
mod agents;
#[cfg(test)]
mod bans;
#[cfg(test)]
mod fetch;
#[cfg(test)]
mod files;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod git;
#[cfg(test)]
mod household;
#[cfg(test)]
mod kept;
#[cfg(test)]
mod mail;
#[cfg(test)]
mod metrics;
#[cfg(test)]
mod own;
#[cfg(test)]
mod pihole;
#[cfg(test)]
mod prometheus;
#[cfg(test)]
mod repository;
#[cfg(test)]
mod schedules;
#[cfg(test)]
mod search;
#[cfg(test)]
mod searxng;
#[cfg(test)]
#[path = "../fixtures/servers/mod.rs"]
mod servers;
#[cfg(test)]
mod trees;

//! What a handle reaches and what it cannot: connections, services, files and secrets, against real servers and a real file
//! system that mean no good.

#[cfg(test)]
mod binding;
#[cfg(test)]
mod capabilities;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod endpoints;
#[cfg(test)]
mod files;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod pihole;
#[cfg(test)]
mod races;
#[cfg(test)]
#[path = "../fixtures/rules.rs"]
mod rules;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod servers;
#[cfg(test)]
mod targets;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod workers;

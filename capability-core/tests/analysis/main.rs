//! Questions to a policy, against everything that can be called in a small world.

#[cfg(test)]
mod desk;
#[cfg(test)]
mod mirror;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod worked;
#[cfg(test)]
mod world;

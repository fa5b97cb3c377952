//! Exact questions about rules.

mod automaton;
mod bits;
mod moments;
mod space;
mod targets;

//! The built-in capabilities, one file per family.
//!
//! Each function's own page says what it answers; the table on it is written by `#[capability]` from the annotation, the
//! confirmation computed from the class. A binary links these with `use capabilities as _;`.

pub mod system;

capability_core::contracts!("../contracts.lock");

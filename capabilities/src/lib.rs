//! The built-in capabilities, one module per family.
//!
//! | capability | what it does | class |
//! |---|---|---|
//! | [`system.health`](system::system_health) | how this machine is, and what is wrong | `read_only` + `local` |
//!
//! Each function's own page says what it takes and answers. Its contract is written there by `#[capability]` from the
//! annotation, with the confirmation computed from the class. A binary links these with `use capabilities as _;`.

pub mod plain;
pub mod system;

capability_core::contracts!("../contracts.lock");

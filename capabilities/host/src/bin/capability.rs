//! The built-in capabilities on the command line.

capability_host::main!();

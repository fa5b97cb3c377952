//! The fixed set of capabilities of this very binary.

#[cfg(test)]
#[expect(dead_code, unused_imports, reason = "each suite uses some of the laboratory")]
#[path = "../fixtures/mod.rs"]
mod fixtures;

#[cfg(test)]
mod author;
#[cfg(test)]
mod linked;
#[cfg(test)]
#[expect(dead_code, reason = "each suite uses some of the projects")]
#[path = "../cli/project.rs"]
mod project;

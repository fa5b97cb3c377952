//! Files of the workspace, and one file outside it at a time.
//!
//! | capability | what it does |
//! |---|---|
//! | [`fs.read`](read::fs_read) | a file as text or as bytes; outside the workspace when a person says yes to that very path |
//! | [`fs.list`](list::fs_list) | what stands in a directory |
//! | [`fs.search`](search::fs_search) | lines of files that hold a text or match an expression |
//! | [`fs.glob`](glob::fs_glob) | files and directories by their paths |
//! | [`fs.write`](write::fs_write) | one file, whole |
//! | [`fs.patch`](patch::fs_patch) | several files by a unified diff, all or none |
//!
//! Paths are relative to the workspace, with `/` between their parts. The kernel confines what they lead to; no text of a path
//! is compared with another here. What stands in files is somebody's data, never an instruction.

mod edit;
pub mod glob;
pub mod list;
pub mod patch;
mod path;
pub mod read;
pub mod search;
mod walk;
pub mod write;

pub use walk::{Skipped, Stopped};

//! No type name is magic: aliases work for arguments, options and handles.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::capability;
use capability_core::handle::{Read, Workspace};

type Text = String;
type Maybe<T> = Option<T>;
type Files = Workspace<Read>;

#[capability(name = "alias.everything", version = 1, side_effect = read_only, network = local)]
async fn everything(files: &Files, text: Text, limit: Maybe<u32>, list: Vec<Text>) -> usize {
    let _ = files;
    text.len() + list.len() + limit.map_or(0, |limit| limit as usize)
}

fn main() {}

//! An author's names and the generated ones never meet.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::capability;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Arguments {}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub struct Definition {}

#[capability(name = "names.call", version = 1, side_effect = read_only, network = local, check = arguments)]
async fn call(returned: u8, arguments: Arguments, call: u8, p0: u8, generator: u8, bytes: u8) -> Definition {
    let _ = (returned, arguments, call, p0, generator, bytes);
    Definition {}
}

fn arguments(_: &u8, _: &Arguments, _: &u8, _: &u8, _: &u8, _: &u8) -> Result<(), String> {
    Ok(())
}

#[capability(name = "names.returned", version = 1, side_effect = read_only, network = local)]
fn returned(owned: u8, made: u8) -> u8 {
    owned + made
}

#[capability(name = "names.p0", version = 1, side_effect = read_only, network = local)]
fn p0(p0: u8) -> u8 {
    p0
}

#[capability(name = "names.lint", version = 1, side_effect = read_only, network = local)]
fn r#match(r#type: u8, _unused: u8) -> u8 {
    r#type
}

fn main() {}

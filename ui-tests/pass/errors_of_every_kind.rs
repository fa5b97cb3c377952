//! Whatever has words can be an error: text, boxed errors, own types, and `Failure`.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::{Failure, capability};

#[capability(name = "error.text", version = 1, side_effect = read_only, network = local)]
fn text(number: String) -> Result<u8, String> {
    number.parse().map_err(|_| "no number".to_owned())
}

#[capability(name = "error.failure", version = 1, side_effect = read_only, network = local)]
async fn failure(number: String) -> Result<u8, Failure> {
    Ok(number.parse::<u8>()?)
}

#[capability(name = "error.parse", version = 1, side_effect = read_only, network = local)]
async fn parse(number: String) -> Result<u8, std::num::ParseIntError> {
    number.parse()
}

#[capability(name = "error.shared", version = 1, side_effect = read_only, network = local)]
async fn shared(number: String) -> Result<u8, std::sync::Arc<dyn std::error::Error + Send + Sync>> {
    number.parse().map_err(|error: std::num::ParseIntError| std::sync::Arc::new(error) as _)
}

fn main() {}

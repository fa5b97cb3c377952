//! A secret kind's name is the name of a file.

use capability_core::capability;
use capability_core::handle::{Secret, SecretKind};

struct Token;
impl SecretKind for Token {
    const NAME: &'static str = "../token";
}

#[capability(name = "home.state", version = 1, side_effect = read_only, network = local)]
async fn state(token: &Secret<Token>) {
    let _ = token;
}

fn main() {}

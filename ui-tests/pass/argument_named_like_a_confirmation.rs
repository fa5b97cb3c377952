//! Only keys, attributes and fields are refused: an argument or a function may have any name.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::capability;

#[capability(name = "order.place", version = 1, side_effect = mutating, network = external, target = text(approval), scope = confirm, check = confirmation::confirm)]
async fn place(approval: String, confirm: String) -> String {
    approval + &confirm
}

mod confirmation {
    pub fn confirm(_: &str, _: &str) -> Result<(), String> {
        Ok(())
    }
}

fn main() {}

//! Every kind of target.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::__private::CAPABILITIES;
use capability_core::capability;

macro_rules! targets {
    ($($kind:ident $name:literal),*) => {$(
        #[capability(name = $name, version = 1, side_effect = read_only, network = external, target = $kind(it))]
        fn $kind(it: String) -> String {
            it
        }
    )*};
}
targets!(
    url "target.url", path "target.path", host "target.host", service "target.service", repository "target.repository",
    address "target.address", argv "target.argv", text "target.text"
);

fn main() {
    for entry in CAPABILITIES {
        assert_eq!(entry.name().as_str(), format!("target.{}", entry.target().kind.as_str()));
        assert_eq!(entry.target().argument, Some("it"));
    }
    assert_eq!(CAPABILITIES.len(), 8);
}

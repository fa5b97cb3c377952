//! The arena keeps the general validator's contract for representations.

use jsonschema::json::conformance;

use super::{Arenas, arguments, plain};

#[test]
fn the_representation_conforms() {
    let document = conformance::document().to_string();
    conformance::assert_conformance::<Arenas>(&plain(&document).expect("JSON").view());
    conformance::assert_conformance::<Arenas>(&arguments(document.as_bytes()).expect("arguments").view());
    let escaped = document.replace('s', "\\u0073").replace('é', "\\u00e9");
    conformance::assert_conformance::<Arenas>(&plain(&escaped).expect("JSON").view());
}

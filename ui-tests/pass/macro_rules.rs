//! A declarative macro may wrap everything: names, types, handles, bodies, whole functions.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::capability;
use capability_core::handle::{Clock, Context};

macro_rules! wrapped {
    ($name:literal, $version:literal, $effect:ident, $function:ident, $handle:ty, $argument:ident : $type:ty, $result:ty, $body:expr) => {
        #[capability(name = $name, version = $version, side_effect = $effect, network = local, scope = $argument)]
        async fn $function(handle: &$handle, $argument: $type) -> $result {
            let _ = handle;
            $body($argument)
        }
    };
}
wrapped!("wrapped.one", 1, read_only, one, Clock, text: String, Result<usize, String>, |text: String| Ok(text.len()));
wrapped!("wrapped.two", 1, mutating, two, Context, list: Vec<Option<u8>>, usize, |list: Vec<Option<u8>>| list.len());

macro_rules! item {
    ($item:item) => {
        #[capability(name = "wrapped.item", version = 1, side_effect = read_only, network = local)]
        $item
    };
}
item! {
    /// Documented.
    fn item(first: u8, clock: &Clock) -> u8 { let _ = clock; first }
}

macro_rules! hygienic {
    () => {
        #[capability(name = "wrapped.hygienic", version = 1, side_effect = read_only, network = local)]
        fn hygienic(text: String) -> String { text }
    };
}
hygienic!();

macro_rules! borrowed {
    ($handle:ty) => {
        #[capability(name = "wrapped.borrowed", version = 1, side_effect = read_only, network = local)]
        fn borrowed(handle: $handle) { let _ = handle; }
    };
}
borrowed!(&Clock);

fn main() {
    assert_eq!(capability_core::__private::CAPABILITIES.len(), 5);
}

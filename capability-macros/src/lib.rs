//! The attribute macro behind `capability_core::capability`.

use proc_macro::TokenStream;

/// See `capability_core::capability`.
#[proc_macro_attribute]
pub fn capability(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    item
}

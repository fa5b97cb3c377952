//! The function is the author's own afterwards: callable, nameable, with its own visibility.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::capability;

pub mod inner {
    use super::capability;

    #[capability(name = "callable.sync", version = 1, side_effect = read_only, network = local)]
    #[must_use]
    pub(super) fn sync(a: u8, b: u8) -> u8 {
        a.saturating_add(b)
    }

    #[capability(name = "callable.async", version = 1, side_effect = read_only, network = local)]
    pub async fn asynchronous(
        /// Documented.
        #[schemars(length(max = 3))]
        text: String,
    ) -> String {
        text
    }
}

#[capability(name = "callable.deprecated", version = 1, side_effect = read_only, network = local)]
#[deprecated]
async fn deprecated() {}

fn main() {
    let pointer: fn(u8, u8) -> u8 = inner::sync;
    assert_eq!(pointer(1, 2), 3);
    let future = inner::asynchronous("a".to_owned());
    fn is_send(_: &impl Send) {}
    is_send(&future);

    #[capability(name = "callable.in_a_body", version = 1, side_effect = read_only, network = local)]
    fn in_a_body(text: Option<Local>) -> bool {
        text.is_some()
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Local {}

    assert!(in_a_body(Some(Local {})));
    assert_eq!(capability_core::__private::CAPABILITIES.len(), 4);
}

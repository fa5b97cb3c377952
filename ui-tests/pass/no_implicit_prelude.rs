//! Generated code needs no prelude.
#![no_implicit_prelude]
#![deny(warnings, unused_qualifications, unsafe_code)]

mod inner {
    #[::capability_core::capability(
        name = "prelude.none", version = 1, side_effect = mutating, network = external,
        bounds(timeout = "1s"), target = url(url), scope = query, risk = low, check = check, preview = preview
    )]
    pub async fn search(
        /// Documented.
        #[serde(default)]
        query: ::std::string::String,
        http: &::capability_core::handle::Http,
        url: ::std::string::String,
        limit: ::core::option::Option<u32>,
    ) -> ::core::result::Result<(), ::std::string::String> {
        let _ = (query, http, url, limit);
        ::core::result::Result::Ok(())
    }

    fn check(_: &str, _: &str, _: &::core::option::Option<u32>) -> ::core::result::Result<(), &'static str> {
        ::core::result::Result::Ok(())
    }

    async fn preview(
        _: &::capability_core::handle::Http,
        _: &str,
        _: &str,
        _: &::core::option::Option<u32>,
    ) -> ::core::result::Result<::capability_core::Preview, ::capability_core::Failure> {
        ::core::result::Result::Err(::capability_core::Failure::private())
    }

    #[::capability_core::capability(name = "prelude.locked", version = 1, side_effect = read_only, network = local, locked)]
    pub fn locked(text: ::std::string::String) -> u8;

    #[::capability_core::capability(name = "prelude.sync", version = 1, side_effect = read_only, network = local)]
    pub fn sync(clock: &::capability_core::handle::Clock) {
        let _ = clock;
    }
}

fn main() {}

//! Generated code survives local names that look like the standard library's.
#![deny(warnings, unused_qualifications, unsafe_code)]

#![expect(dead_code, unused_macros, reason = "the names only have to be there")]

mod shadows {
    pub struct String;
    pub struct Option;
    pub struct Vec;
    pub struct Box;
    pub struct Some;
    pub struct None;
    pub struct Ok;
    pub struct Err;
    pub trait Future {}
    pub trait Send {}
    pub trait Default {}
    pub trait From {}
    pub trait Deserialize {}
    pub trait JsonSchema {}
    pub trait Serialize {}
    pub mod std {}
    pub mod core {}
    pub mod serde {}
    pub mod schemars {}
    pub mod linkme {}
    pub mod capability_core {}
    pub type Result<T> = ::core::result::Result<T, ::std::string::String>;

    macro_rules! concat {
        () => {};
    }
    macro_rules! env {
        () => {};
    }

    #[::capability_core::capability(
        name = "shadow.everything", version = 1, side_effect = mutating, network = external, title = "Shadowed",
        bounds(timeout = "1s"), target = url(url), check = check, risk = low
    )]
    /// Documented.
    pub async fn everything(
        /// Documented.
        url: ::std::string::String,
        http: &::capability_core::handle::Http,
        limit: ::core::option::Option<u32>,
    ) -> Result<u32> {
        let _ = (url, http);
        Result::Ok(limit.unwrap_or_default())
    }

    fn check(_: &str, _: &::core::option::Option<u32>) -> Result<()> {
        Result::Ok(())
    }

    #[::capability_core::capability(name = "shadow.locked", version = 1, side_effect = read_only, network = local, locked)]
    pub async fn locked(limit: ::core::option::Option<u32>) -> Result<u32>;

    #[::capability_core::capability(name = "shadow.unit", version = 1, side_effect = read_only, network = local)]
    pub fn unit(#[serde(default)] list: ::std::vec::Vec<u32>) {
        drop(list);
    }
}

fn main() {}

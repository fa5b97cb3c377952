//! `crate` says where the support is, for a facade that exports it.
#![deny(warnings, unused_qualifications, unsafe_code)]

use ui_facade::cap;

#[cap::capability(name = "facade.a_here", version = 1, side_effect = read_only, network = local, crate = ::ui_facade::cap)]
async fn here(text: String) -> String {
    text
}

#[ui_facade::cap::capability(
    name = "facade.z_relative", version = 1, side_effect = read_only, network = local, crate = cap, locked
)]
async fn relative(text: String) -> String;

fn main() {
    let mut names: Vec<_> = cap::__private::CAPABILITIES.iter().map(|entry| (entry.name().as_str(), entry.package())).collect();
    names.sort_unstable();
    // The facade's own entry comes with it, and says which package it is from.
    assert_eq!(names.len(), 3);
    assert_eq!(names[1].0, "facade.own");
    assert_eq!(names[1].1, "ui-facade");
}

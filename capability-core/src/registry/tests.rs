//! Entries as the linker would bring them, and what is told of those that do not fit.

use super::{ContractList, Registry};
use crate::contract::{Capability, Contract, Definition, Network, Options, Schemas, SideEffect, SourceLocation};
use crate::private::Code;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// An entry as a linked crate would place it.
fn entry(name: &'static str, version: u32, package: &'static str, line: u32) -> Capability {
    Capability::define(definition(name, version, package, line))
}

const fn definition(name: &'static str, version: u32, package: &'static str, line: u32) -> Definition {
    Definition {
        name,
        version,
        description: "",
        side_effect: SideEffect::ReadOnly,
        network: Network::Local,
        options: Options { locked: true, ..Options::NONE },
        handles: &[],
        package,
        location: SourceLocation { file: "src/lib.rs", line, column: 1 },
        code: Code::locked::<Nothing>(
            |generator| generator.root_schema_for::<Nothing>(),
            |generator| generator.root_schema_for::<()>(),
            drop,
        ),
    }
}

fn linked(entries: Vec<Capability>) -> &'static [Capability] {
    Box::leak(entries.into_boxed_slice())
}

fn list(package: &'static str, text: String) -> &'static [ContractList] {
    Box::leak(Box::new([ContractList { package, text: Box::leak(text.into_boxed_str()) }]))
}

fn line(entry: &'static Capability) -> String {
    Contract::of(entry, &Schemas::of(entry).unwrap()).to_string()
}

fn refusal(entries: &'static [Capability], lists: &'static [ContractList], packages: &[&str]) -> String {
    Registry::of(entries.iter(), lists.iter(), packages).map(|_| ()).unwrap_err().to_string()
}

/// Schemas are made by code of the author's types, at a call or a listing: what panics there is a fault of that entry, and
/// takes no host along.
#[test]
fn a_schema_that_panics_while_it_is_made_is_a_fault() {
    static FAULTY: Capability = Capability::define(Definition {
        code: Code::locked::<Nothing>(|_| panic!("tangerine"), |generator| generator.root_schema_for::<()>(), drop),
        ..definition("a.b", 1, "p", 3)
    });
    let registry = Registry::of([&FAULTY].into_iter(), core::iter::empty(), &["p"]).unwrap();
    for _ in 0..2 {
        let told = registry.resolve("a.b", 1).unwrap().schemas().unwrap_err().to_string();
        assert!(told.contains("without a panic") && told.contains("\nhelp: ") && !told.contains("tangerine"), "{told}");
    }
}

#[test]
fn the_same_name_and_version_twice_is_refused_with_both_places() {
    let entries = linked(vec![entry("a.b", 1, "p", 3), entry("a.c", 1, "p", 5), entry("a.b", 1, "q", 7)]);
    let told = refusal(entries, &[], &["p", "q"]);
    let mut places: Vec<_> = told.split(['`', ' ', '\n']).filter(|word| word.starts_with("src/lib.rs")).collect();
    places.sort_unstable();
    assert_eq!(places, ["src/lib.rs:3", "src/lib.rs:7"], "{told}");
    assert!(told.starts_with("`a.b@1` is registered twice: at "), "{told}");
    assert!(told.ends_with("\nhelp: give one of them another name or version"), "{told}");
    let versions = linked(vec![entry("a.b", 2, "p", 3), entry("a.b", 1, "p", 5)]);
    assert!(Registry::of(versions.iter(), [].iter(), &["p"]).is_ok());
}

#[test]
fn an_uninvited_package_is_refused_with_the_line_that_invites_it() {
    let entries = linked(vec![entry("a.b", 1, "p", 3), entry("x.y", 1, "deep_dependency", 9)]);
    assert_eq!(
        refusal(entries, &[], &["p"]),
        "`x.y@1` at src/lib.rs:9 comes from package `deep_dependency`, which this binary does not list: linking a crate is no \
         invitation\nhelp: write `capability_host::main!(packages: [\"deep_dependency\"]);`, or stop linking the crate"
    );
    let registry = Registry::of(entries.iter(), [].iter(), &["p", "deep_dependency"]).unwrap();
    assert_eq!(registry.iter().len(), 2);
}

#[test]
fn order_does_not_depend_on_link_order_and_resolving_is_exact() {
    let names = |registry: &Registry| registry.iter().map(|held| held.entry().to_string()).collect::<Vec<_>>();
    let one = linked(vec![
        entry("b.a", 1, "p", 1),
        entry("a.b", 10, "p", 2),
        entry("a.b", 2, "p", 3),
        entry("a.b_c", 1, "p", 4),
        entry("a.b.c", 1, "p", 5),
    ]);
    let forward = Registry::of(one.iter(), [].iter(), &["p"]).unwrap();
    let backward = Registry::of(one.iter().rev(), [].iter(), &["p"]).unwrap();
    assert_eq!(names(&forward), names(&backward));
    let versions: Vec<_> = names(&forward).into_iter().filter(|name| name.starts_with("a.b@")).collect();
    assert_eq!(versions, ["a.b@2", "a.b@10"], "versions are numbers");
    assert_eq!(forward.newest("a.b").map(core::num::NonZeroU32::get), Some(10));
    for (name, version, there) in [
        ("a.b", 2, true),
        ("a.b", 10, true),
        ("a.b", 1, false),
        ("a.b", 0, false),
        ("a.b.", 2, false),
        ("A.b", 2, false),
    ] {
        assert_eq!(forward.resolve(name, version).is_some(), there, "{name}@{version}");
    }
    let empty = Registry::of([].iter(), [].iter(), &[]).unwrap();
    assert_eq!((empty.iter().len(), empty.newest("a.b")), (0, None));
}

#[test]
fn a_contract_list_that_agrees_is_accepted_and_one_of_another_package_is_not_looked_at() {
    let entries = linked(vec![entry("a.b", 1, "p", 3)]);
    let agreed = list("p", format!("# a comment\n\n{}\n", line(&entries[0])));
    assert!(Registry::of(entries.iter(), agreed.iter(), &["p"]).is_ok());
    assert!(Registry::of(entries.iter(), list("q", "nonsense".to_owned()).iter(), &["p"]).is_ok());
}

#[test]
fn each_drift_from_the_contract_list_is_refused_in_words() {
    let entries = linked(vec![entry("a.b", 1, "p", 3)]);
    let listed = line(&entries[0]);
    let gone = listed.replace("a.b@1", "a.gone@1");
    for (text, told) in [
        (
            String::new(),
            "package `p` is not what its contract list says: `a.b@1` at src/lib.rs:3 is there and not listed\n\
             help: run `capability contract update` and check the new line in",
        ),
        (
            format!("{listed}\n{gone}"),
            "package `p` is not what its contract list says: `a.gone@1` is listed and not there: its module or feature is \
             not linked, or it was removed\nhelp: link it again, or run `capability contract update` and review the removed \
             line",
        ),
        (
            listed.replace("read_only local", "mutating external"),
            "package `p` is not what its contract list says: `a.b@1` changed under the same version: listed `mutating \
             external timeout=5000ms max_result=65536B per_turn=16`, compiled `read_only local timeout=5000ms \
             max_result=65536B per_turn=16`\nhelp: give it a new `version`; before its first release, run `capability \
             contract update --force`",
        ),
        (
            listed.replace("per_turn=16", "per_turn=17"),
            "package `p` is not what its contract list says: `a.b@1` changed under the same version: listed `read_only \
             local timeout=5000ms max_result=65536B per_turn=17`, compiled `read_only local timeout=5000ms \
             max_result=65536B per_turn=16`\nhelp: give it a new `version`; before its first release, run `capability \
             contract update --force`",
        ),
        (
            format!("{listed}\n{listed}"),
            "the contract list of package `p` cannot be read: line 2: this entry stands twice\nhelp: run `capability \
             contract update`",
        ),
        (
            "a.b@1".to_owned(),
            "the contract list of package `p` cannot be read: line 1: a contract has a name, a class, bounds and two \
             digests\nhelp: run `capability contract update`",
        ),
    ] {
        assert_eq!(refusal(entries, list("p", text), &["p"]), told);
    }
}

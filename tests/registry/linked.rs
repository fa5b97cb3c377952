//! What the linker brought together is what is there, in one order, and only when it was invited.

use capability_core::Registry;
use capability_core::registry::RegistryFault;

fn collected() -> Registry {
    Registry::collect(&["capability-tests"]).expect("the fixtures are fit to start")
}

#[test]
fn every_fixture_is_linked_once_and_in_order() {
    let names: Vec<_> = collected().iter().map(|held| held.entry().to_string()).collect();
    assert_eq!(
        names,
        [
            "lab.act_read_external@1",
            "lab.act_read_local@1",
            "lab.act_write_external@1",
            "lab.act_write_local@1",
            "lab.asks@1",
            "lab.asks@2",
            "lab.asks_often@1",
            "lab.asks_too@1",
            "lab.checked@1",
            "lab.command@1",
            "lab.denies@1",
            "lab.edit@1",
            "lab.faulty_schema@1",
            "lab.locked@1",
            "lab.look@1",
            "lab.needs_service@1",
            "lab.notes@1",
            "lab.once@1",
            "lab.order@1",
            "lab.publish@1",
            "lab.repo@1",
            "lab.repo@2",
            "lab.requires@1",
            "lab.says_why@1",
            "lab.scoped@1",
            "lab.through@1",
            "lab.trap@1",
            "lab.typed@1",
            "lab.who@1",
        ]
    );
}

#[test]
fn collecting_twice_gives_the_same() {
    assert_eq!(format!("{:?}", collected()), format!("{:?}", collected()));
}

#[test]
fn entries_of_a_package_that_is_not_listed_are_a_refusal_to_start() {
    for packages in [&[][..], &["capability_tests"], &["capability-test"], &["capabilities"]] {
        let fault = Registry::collect(packages).expect_err("nobody invited the fixtures");
        assert!(matches!(fault, RegistryFault::Uninvited(_)), "{fault}");
        let told = fault.to_string();
        assert!(told.contains("help: write `capability_host::main!(packages: [\"capability-tests\"]);`"), "{told}");
        assert!(told.contains("capabilities.rs:"), "{told}");
    }
}

#[test]
fn every_entry_knows_its_package_and_its_place() {
    for held in collected().iter() {
        let entry = held.entry();
        assert_eq!(entry.package(), "capability-tests");
        let (file, line) = (entry.location().file, entry.location().line);
        assert!(
            ["capabilities.rs", "standing.rs", "providers.rs"].iter().any(|own| file.ends_with(own)) && line > 0,
            "{entry}"
        );
    }
}

#[test]
fn resolving_is_exact() {
    let registry = collected();
    for held in registry.iter() {
        let (name, version) = (held.entry().name(), held.entry().version().get());
        let found = registry.resolve(name.as_str(), version).expect("it resolves").entry();
        assert!(core::ptr::eq(found, held.entry()));
        assert!(registry.resolve(name.as_str(), version + 2).is_none());
        assert!(registry.resolve(&name.as_str().to_uppercase(), version).is_none());
        assert!(registry.resolve(&format!("{name} "), version).is_none());
        assert!(registry.resolve(&name.as_str()[..name.as_str().len() - 1], version).is_none());
    }
}

/// Nothing is built before it is used, and only the entry whose schema is at fault is.
#[test]
fn schemas_are_made_on_first_use_and_one_at_fault_spoils_no_other() {
    let registry = collected();
    assert!(registry.iter().all(|held| !held.is_built()));
    let at_fault: Vec<_> =
        registry.iter().filter(|held| held.schemas().is_err()).map(|held| held.entry().name().to_string()).collect();
    assert_eq!(at_fault, ["lab.faulty_schema"]);
    assert!(registry.iter().all(|held| held.is_built()));
}

use core::num::NonZeroU32;

use proptest::prelude::*;

use super::{MAX_WIRE_NAME_BYTES, ToolKey, WireName, WireNames};
use crate::contract::CapabilityName;
use crate::provider::{ProviderType, ToolId};

fn compiled(name: &'static str, version: u32) -> ToolKey {
    ToolKey::Compiled(CapabilityName::of_entry(name), NonZeroU32::new(version).unwrap())
}

fn id(provider: &str, native: &str) -> ToolId {
    ToolId { provider: provider.to_owned(), native: native.to_owned() }
}

fn provided(provider: &str, native: &str) -> ToolKey {
    ToolKey::Provided(ProviderType::Mcp, id(provider, native))
}

fn mcp(provider: &str, native: &str) -> String {
    WireName::of_provided(ProviderType::Mcp, &id(provider, native)).into()
}

fn is_legal(name: &str) -> bool {
    (1..=MAX_WIRE_NAME_BYTES).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

#[test]
fn a_version_is_named_when_there_are_two() {
    let names = WireNames::assign([compiled("web.search", 2), compiled("fs.read_all", 3)]);
    assert_eq!(names.name(&compiled("web.search", 2)).unwrap().as_str(), "web-search");
    assert_eq!(names.name(&compiled("fs.read_all", 3)).unwrap().as_str(), "fs-read_all");

    let names = WireNames::assign([compiled("web.search", 2), compiled("web.search", 1)]);
    assert_eq!(names.find("web-search-v1"), Some(&compiled("web.search", 1)));
    assert_eq!(names.find("web-search-v2"), Some(&compiled("web.search", 2)));
    // What was called plainly is not taken for either of them.
    assert_eq!(names.find("web-search"), None);
}

#[test]
fn names_of_providers_tools() {
    assert_eq!(mcp("files", "read_file"), "mcp-files--read_file");
    assert_eq!(mcp("my-files", "read-File"), "mcp-my-files--read-File");
    let edge = WireName::of_provided(ProviderType::Edge, &id("desk", "open"));
    assert_eq!(edge.as_str(), "edge-desk--open");
    for strange in ["a.b", "a b", "é", "", "-a", "🦀", "a\u{0}", "<script>", "read--0123456789ab", "x-0123456789ab"]
    {
        let name = mcp("files", strange);
        assert!(is_legal(&name) && super::looks_shortened(&name), "{name}");
    }
    assert!(mcp("files", "a b").starts_with("mcp-files--a_b-"));
}

#[test]
fn the_longest_names() {
    let prefix = "mcp-files--".len();
    let fits = "a".repeat(MAX_WIRE_NAME_BYTES - prefix);
    assert_eq!(mcp("files", &fits).len(), MAX_WIRE_NAME_BYTES);
    assert!(mcp("files", &fits).ends_with('a') && !super::looks_shortened(&mcp("files", &fits)));
    for more in [1, 64, 65, 128, 129, 10_000] {
        let (one, other) = (format!("{fits}{}", "a".repeat(more)), format!("{fits}{}b", "a".repeat(more)));
        assert_eq!(mcp("files", &one).len(), MAX_WIRE_NAME_BYTES);
        assert_ne!(mcp("files", &one), mcp("files", &other));
    }

    let longest: &'static str = "a.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    assert_eq!(longest.len(), crate::contract::MAX_NAME_BYTES);
    let name = CapabilityName::of_entry(longest);
    for version in [1, 12, 999_999, 1_000_000, u32::MAX] {
        let wire = WireName::of_version(name, NonZeroU32::new(version).unwrap());
        assert!(is_legal(wire.as_str()), "{wire}");
        assert_eq!(wire.as_str().ends_with(&format!("-v{version}")), version < 1_000_000, "{wire}");
    }
}

#[test]
fn a_provider_cannot_take_the_name_of_a_capability_or_of_another_provider() {
    let tools = [
        compiled("mcp.files.read", 1),
        provided("files", "read"),
        provided("a", "b--c"),
        provided("a--b", "c"),
        provided("a-", "b"),
        provided("a", "-b"),
        provided("a-b", "c"),
        provided("a", "b-c"),
        provided("A", "b"),
        provided("", "a--b"),
    ];
    let names = WireNames::assign(tools.clone());
    assert_eq!(names.collisions(), []);
    for tool in tools {
        assert_eq!(names.find(names.name(&tool).unwrap().as_str()), Some(&tool));
    }
}

#[test]
fn a_name_that_two_would_have_is_nobodys_but_a_capabilitys() {
    let shared = WireName::of_capability(CapabilityName::of_entry("a.b"));
    let claimed = |tools: &[ToolKey]| WireNames::of([(shared.clone(), tools.to_vec())].into());

    let names = claimed(&[provided("a", "b"), provided("c", "d")]);
    assert_eq!((names.find("a-b"), names.iter().len()), (None, 0));
    assert_eq!(names.collisions()[0].tools, [provided("a", "b"), provided("c", "d")]);
    let told = names.collisions()[0].to_string();
    assert!(told.contains("`a-b`") && told.contains("help: "), "{told}");

    let names = claimed(&[compiled("a.b", 1), provided("a", "b"), provided("c", "d")]);
    assert_eq!((names.find("a-b"), names.iter().len()), (Some(&compiled("a.b", 1)), 1));
    assert_eq!(names.collisions()[0].tools.len(), 3);

    let names = claimed(&[compiled("a.b", 1), compiled("a.b", 2)]);
    assert_eq!((names.find("a-b"), names.collisions().len()), (None, 1));
}

fn any_key() -> impl Strategy<Value = ToolKey> {
    let kind = prop::sample::select(vec![ProviderType::Mcp, ProviderType::Edge, ProviderType::Relay]);
    let native = prop_oneof![".{0,12}", "[a-z_-]{1,8}", "[a-z]{0,3}-{0,3}[0-9a-f]{12}", "[a-zA-Z0-9_.-]{30,140}"];
    let provider = prop_oneof!["[a-z][a-z0-9_-]{0,31}", "[a-z-]{0,4}"];
    prop_oneof![
        4 => (kind, provider, native)
            .prop_map(|(kind, provider, native)| ToolKey::Provided(kind, ToolId { provider, native })),
        1 => (prop::sample::select(vec!["a.b", "a.b.c", "mcp.a", "mcp.a.b", "edge.a_b.c"]), 1..4_u32)
            .prop_map(|(name, version)| compiled(name, version)),
    ]
}

proptest! {
    #[test]
    fn every_name_is_legal_and_leads_back(keys in prop::collection::vec(any_key(), 0..24)) {
        let names = WireNames::assign(keys.clone());
        prop_assert!(names.collisions().is_empty());
        for key in &keys {
            let name = names.name(key).unwrap();
            prop_assert!(is_legal(name.as_str()), "{}", name);
            prop_assert_eq!(names.find(name.as_str()), Some(key));
        }
    }

    #[test]
    fn the_order_changes_nothing(keys in prop::collection::vec(any_key(), 0..12)) {
        let there: Vec<_> = WireNames::assign(keys.clone()).iter().map(|(k, n)| (k.clone(), n.clone())).collect();
        let back: Vec<_> = WireNames::assign(keys.into_iter().rev()).iter().map(|(k, n)| (k.clone(), n.clone())).collect();
        prop_assert_eq!(there, back);
    }

    #[test]
    fn no_other_tool_renames_one(kept in any_key(), others in prop::collection::vec(any_key(), 0..12)) {
        prop_assume!(matches!(kept, ToolKey::Provided(..)));
        let alone = WireNames::assign([kept.clone()]);
        let among = WireNames::assign(others.into_iter().chain([kept.clone()]));
        prop_assert_eq!(alone.name(&kept), among.name(&kept));
    }
}

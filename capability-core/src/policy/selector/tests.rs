//! Which names, and inclusion over all dimensions.

use super::{CapabilityPattern, Selector};

fn names(text: &str) -> CapabilityPattern {
    text.parse().unwrap()
}

fn selector(json: &str) -> Selector {
    serde_json::from_str(json).unwrap()
}

#[test]
fn names_families_scopes_and_any() {
    for (text, name, scope, expected) in [
        ("*", "web.fetch", None, true),
        ("web.*", "web.fetch", None, true),
        ("web.*", "webs.fetch", None, false),
        ("web.*", "web.a.b", Some("x"), true),
        ("web.fetch", "web.fetch", Some("x"), true),
        ("web.fetch", "web.fetch_all", None, false),
        ("mcp.call:docs", "mcp.call", Some("docs"), true),
        ("mcp.call:docs", "mcp.call", Some("docs2"), false),
        ("mcp.call:docs", "mcp.call", None, false),
    ] {
        assert_eq!(names(text).matches(name, scope), expected, "{text} {name} {scope:?}");
        assert_eq!(names(text).to_string(), text);
    }
    for wrong in ["", "web", "Web.fetch", "web.f*", "*.fetch", "web.fetch@1", "mcp.call:", "web.fetch ", "web.fеtch"] {
        let said = wrong.parse::<CapabilityPattern>().unwrap_err().to_string();
        assert!(said.contains("\nhelp: "), "{wrong:?}: {said}");
    }
    // It looks right, and why it is not is said.
    let said = "web.fеtch".parse::<CapabilityPattern>().unwrap_err().to_string();
    assert!(said.contains("\\u{435}") && said.contains("of another alphabet"), "{said}");
    assert!("mcp.call:*".parse::<CapabilityPattern>().unwrap_err().to_string().contains("write `mcp.call`"));
}

#[test]
fn names_include_names() {
    let order = ["*", "mcp.*", "mcp.call", "mcp.call:docs"];
    for (at, wide) in order.iter().enumerate() {
        for (below, narrow) in order.iter().enumerate() {
            assert_eq!(names(wide).includes(&names(narrow)), at <= below, "{wide} {narrow}");
            assert!(names(wide).overlaps(&names(narrow)));
        }
    }
    assert!(!names("web.*").overlaps(&names("mcp.call")) && names("a.*").includes(&names("a.b.*")));
}

#[test]
fn every_dimension_counts() {
    let parts = [
        r#""subject":"agent:a""#,
        r#""capability":"web.fetch""#,
        r#""action":"read_only""#,
        r#""target":{"host":"a.b"}"#,
        r#""when":{"days":["mon"],"tz":"UTC"}"#,
        r#""origin":"model""#,
    ];
    let of = |kept: u32| {
        let listed: Vec<_> = (0..6).filter(|at| kept & (1 << at) != 0).map(|at| parts[at]).collect();
        selector(&format!("{{{}}}", listed.join(",")))
    };
    for wide in 0..64_u32 {
        for narrow in 0..64_u32 {
            assert_eq!(of(wide).includes(&of(narrow)), wide & narrow == wide, "{wide:b} {narrow:b}");
            assert!(of(wide).overlaps(&of(narrow)));
        }
    }
    assert!(selector("{}").is_everything());
    assert!(!selector(r#"{"origin":"model"}"#).overlaps(&selector(r#"{"origin":"channel"}"#)));
    assert!(serde_json::from_str::<Selector>(r#"{"actions":"mutating"}"#).is_err());
}

#[test]
fn a_window_of_the_whole_week_is_no_window() {
    let (always, never_mind) = (selector(r#"{"when":{"from":"00:00","to":"24:00","tz":"UTC"}}"#), selector("{}"));
    assert!(always.includes(&never_mind) && never_mind.includes(&always));
}

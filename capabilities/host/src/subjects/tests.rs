use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use capability_core::session::{Declarations, Demand, Subject};
use tempfile::TempDir;

use super::{ManifestError, Manifests, SlotPath};

const NAMES: [&str; 4] = ["fs.read", "web.search", "mcp.call", "mcp.connect"];
const PROVIDERS: [&str; 2] = ["docs", "weather"];

struct Subjects {
    top: TempDir,
    manifests: Manifests,
}

impl Subjects {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        let manifests =
            Manifests::of(top.path().join("subjects"), NAMES.into_iter(), PROVIDERS.map(str::to_owned).into());
        Self { top, manifests }
    }

    fn with(agent: &str) -> Self {
        let subjects = Self::new();
        subjects.write("agent.yaml", agent);
        subjects
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.top.path().join("subjects/agent:kitchen").join(file);
        for above in path.ancestors().skip(1).take_while(|above| *above != self.top.path()) {
            fs::create_dir_all(above).unwrap();
            fs::set_permissions(above, Permissions::from_mode(0o700)).unwrap();
        }
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    }

    fn read(&self, slot: Option<&str>) -> Result<Option<Declarations>, ManifestError> {
        let slot: Option<SlotPath> = slot.map(|slot| slot.parse().unwrap());
        self.manifests.read(&kitchen(), slot.as_ref())
    }

    #[track_caller]
    fn wrong(&self, words: &[&str]) {
        let said = self.read(None).unwrap_err().to_string();
        for word in words {
            assert!(said.contains(word), "no {word:?} in {said}");
        }
        assert!(said.contains("\nhelp: "), "{said}");
    }
}

fn kitchen() -> Subject {
    "agent:kitchen".parse().unwrap()
}

const AGENT: &str = r#"
agent:
  model: whatever
capabilities:
  defaults: [fs.read]
  slots:
    planner: [web.search]
    planner.critic: ["mcp.call:docs"]
components:
  writer: parts/writer.yaml
approval:
  capabilities:
    web.search: prompt
    "mcp.call:docs": auto
tools:
  metadata:
    "mcp.call:docs": { approval: deny }
"#;

#[test]
fn each_slot_has_the_defaults_and_its_own_and_no_other_ones() {
    let subjects = Subjects::with(AGENT);
    subjects.write("parts/writer.yaml", "component: { any: thing }\ncapabilities: [\"mcp.connect:*\"]\n");
    let declared = |slot| subjects.read(slot).unwrap().unwrap();
    for (slot, search, docs, connect) in [
        (None, false, false, false),
        (Some("planner"), true, false, false),
        (Some("planner.critic"), false, true, false),
        (Some("planner/critic"), false, true, false),
        (Some("writer"), false, false, true),
    ] {
        let declared = declared(slot);
        let covers = |name, scope| declared.cover(name, scope);
        assert!(covers("fs.read", None), "{slot:?}");
        assert_eq!(
            (covers("web.search", None), covers("mcp.call", Some("docs")), covers("mcp.connect", Some("x"))),
            (search, docs, connect),
            "{slot:?}"
        );
    }
    let said = subjects.read(Some("cook")).unwrap_err().to_string();
    assert!(said.contains("no slot `cook`"), "{said}");
}

#[test]
fn a_manifest_asks_for_more_and_never_for_less() {
    let subjects = Subjects::with(AGENT);
    subjects.write("parts/writer.yaml", "approval: { default: prompt }\n");
    let demand = |slot, name, scope| subjects.read(slot).unwrap().unwrap().demand(name, scope);
    assert_eq!(demand(None, "web.search", None), Some(Demand::Ask));
    // What one place calls `auto` another one denies.
    assert_eq!(demand(None, "mcp.call", Some("docs")), Some(Demand::Deny));
    assert_eq!(demand(None, "fs.read", None), None);
    // A component's own word is for its own slot.
    assert_eq!(demand(Some("writer"), "fs.read", None), Some(Demand::Ask));
    assert_eq!(demand(Some("writer"), "mcp.call", Some("docs")), Some(Demand::Deny));
}

#[test]
fn what_is_no_manifest_declares_nothing_and_says_what_is_right() {
    for (text, words) in [
        ("capabilites: {}\n", &["line 1", "`capabilities`"][..]),
        ("capabilities:\n  defaults: [fs.raed]\n", &["fs.raed", "`fs.read` is one that it has"]),
        ("capabilities:\n  defaults: [fs]\n", &["`mcp.call:docs`"]),
        ("capabilities:\n  defaults: [\"tool.call:*\"]\n", &["each tool is declared by its own name"]),
        ("capabilities:\n  defaults: [\"tool.call:web.serach\"]\n", &["no tool `web.serach`", "`web.search` is one"]),
        ("capabilities:\n  defaults: [\"tool.call:dosc/lookup\"]\n", &["no provider `dosc`", "`docs` is one"]),
        ("capabilities:\n  defaults: [\"provider.call:wether\"]\n", &["no provider `wether`", "`weather` is one"]),
        ("capabilities:\n  slots: { a: [\"tool.call:elsewhere/x\"] }\n", &["no provider `elsewhere`"]),
        ("capabilities:\n  defaults: [\"secret.bind:*\"]\n", &["each secret is declared by its own name"]),
        ("capabilities:\n  defaults: [fs.read]\n  defaults: []\n", &["line 3"]),
        ("capabilities:\n  slots: { \"a b\": [] }\n", &["a slot is words"]),
        ("components: { a: ../other/agent.yaml }\n", &["below this one's directory"]),
        ("components: { a: /etc/agent.yaml }\n", &["below this one's directory"]),
        ("components: { a: parts/none.yaml }\n", &["no file `parts/none.yaml`"]),
        ("approval: { default: allow }\n", &["line 1"]),
        ("approval: { capabilities: { \"*\": deny } }\n", &["`*` is no declaration"]),
        ("capabilities: [fs.read]\n", &["line 1"]),
        ("a: &a [*a]\n", &["help"]),
        ("[", &["help"]),
    ] {
        Subjects::with(text).wrong(words);
    }
}

#[test]
fn an_effect_and_an_exact_secret_may_be_declared_and_nothing_at_all_too() {
    let agent = "capabilities:\n  defaults: [provider.call, \"provider.call:docs\", \"tool.call:weather/rain\", \"tool.call:web.search\", \"secret.bind:DEPLOY_TOKEN\"]\n";
    let declared = Subjects::with(agent).read(None).unwrap().unwrap();
    assert!(declared.cover("secret.bind", Some("DEPLOY_TOKEN")) && !declared.cover("secret.bind", Some("OTHER")));
    assert!(declared.cover_tool("mcp.call", "weather", "rain") && !declared.cover_tool("mcp.call", "weather", "snow"));
    assert!(declared.cover_tool("mcp.call", "docs", "any") && declared.cover("web.search", None));
    for nothing in ["", "\n# later\n", "capabilities: {}\n"] {
        let declared = Subjects::with(nothing).read(None).unwrap().unwrap();
        assert!(declared.listed().is_empty() && !declared.cover("fs.read", None), "{nothing:?}");
    }
}

#[test]
fn a_manifest_is_the_host_users_alone_and_no_link() {
    let subjects = Subjects::with("capabilities: { defaults: [fs.read] }\n");
    let path = subjects.manifests.path(&kitchen());
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    subjects.wrong(&["agent.yaml"]);
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    assert!(subjects.read(None).unwrap().is_some());

    let dir = path.parent().unwrap();
    fs::set_permissions(dir, Permissions::from_mode(0o755)).unwrap();
    subjects.wrong(&["0700"]);
    fs::set_permissions(dir, Permissions::from_mode(0o700)).unwrap();

    let elsewhere = subjects.top.path().join("elsewhere.yaml");
    fs::rename(&path, &elsewhere).unwrap();
    symlink(&elsewhere, &path).unwrap();
    subjects.wrong(&["agent.yaml"]);
}

#[test]
fn a_subject_whose_name_leads_elsewhere_has_no_manifest() {
    let subjects = Subjects::with("capabilities: { defaults: [fs.read] }\n");
    let up: Subject = "..".parse().unwrap();
    fs::write(subjects.top.path().join("agent.yaml"), "capabilities: { defaults: [fs.read] }\n").unwrap();
    assert_eq!(subjects.manifests.read(&up, None).unwrap(), None);
    assert_eq!(subjects.manifests.subjects(), [kitchen()]);
    assert_eq!(Manifests::of(Path::new("/nowhere").to_owned(), NAMES.into_iter(), BTreeSet::new()).subjects(), []);
}

#[test]
fn no_text_is_too_strange() {
    let pieces = [
        "capabilities",
        ":",
        " ",
        "\n",
        "- ",
        "{",
        "}",
        "[",
        "]",
        "&a",
        "*a",
        "\"",
        "'",
        "|",
        ">",
        "!",
        "%",
        "\t",
        "a.b",
    ];
    let mut state = 7_u64;
    for _ in 0..4000 {
        let mut text = String::new();
        for _ in 0..(state % 24) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[usize::try_from(state >> 33).unwrap() % pieces.len()]);
        }
        state = state.wrapping_add(0x9E37_79B9);
        super::hold(&text);
    }
    // Whole ones, damaged.
    for at in 0..AGENT.len() {
        for by in ["", "*", "\n", "\"", ": {", "&a ", "../"] {
            if let (Some(before), Some(after)) = (AGENT.get(..at), AGENT.get(at + 1..)) {
                super::hold(&format!("{before}{by}{after}"));
            }
        }
    }
}

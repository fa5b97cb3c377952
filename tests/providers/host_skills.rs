//! Skills as a host loads them: what a hostile package gains, and what becomes of one that changes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use capability_core::Code;
use capability_core::approval::Operator;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::{Outcome, Proposal};
use capability_host::skill::{PackageFault, SkillState, SkillTold};
use serde_json::json;

use crate::mcp_lab::{Lab, target};

const READS: &str = "lab.act_read_local";

const MANIFEST: &str = r#"
name = "baker"
version = "1.2.0"
description = "Finds recipes and reads them aloud."
compatible = { from = "0.1.0", before = "1.0.0" }
resources = ["recipes/bread.md"]

[[tool]]
capability = "lab.act_read_local"
version = 1

[[rule]]
id = "recipes-ask"
effect = "ask"
capability = "lab.act_read_local"
"#;

/// A folder of skills beside the data directory, and a host that reads it.
struct Bakery {
    lab: Lab,
    folder: tempfile::TempDir,
}

impl Bakery {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lab = Lab::new(&config(folder.path()));
        Self { lab, folder }
    }

    /// Another host of the same data directory.
    fn again(&mut self) {
        self.lab.open(&config(self.folder.path()));
    }

    fn at(&self) -> PathBuf {
        self.folder.path().join("baker")
    }

    /// The package as it should be.
    fn bake(&self) {
        let at = self.at();
        if at.exists() {
            fs::remove_dir_all(&at).unwrap();
        }
        fs::create_dir_all(at.join("recipes")).unwrap();
        fs::write(at.join("skill.toml"), MANIFEST).unwrap();
        fs::write(at.join("SKILL.md"), "Look the recipe up first.").unwrap();
        fs::write(at.join("recipes/bread.md"), "flour").unwrap();
    }

    fn manifest(&self, from: &str, to: &str) {
        assert!(MANIFEST.contains(from), "{from}");
        fs::write(self.at().join("skill.toml"), MANIFEST.replacen(from, to, 1)).unwrap();
    }

    fn all(&self) -> Vec<SkillTold> {
        let session = self.lab.session("agent:any", &[READS]);
        self.lab.host().told_of_skills(&self.lab.host().executor().decisions(&session)).unwrap()
    }

    fn told(&self) -> SkillTold {
        self.all().into_iter().find(|told| told.name == "baker").unwrap()
    }

    fn digest(&self) -> [u8; 32] {
        let text = self.told().digest.unwrap();
        let digits = text.strip_prefix("sha256:").unwrap();
        let byte = |at: usize| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap();
        core::array::from_fn(byte)
    }

    async fn ask(&self) -> Outcome {
        let session = self.lab.session("agent:any", &[READS]);
        let arguments = json!({ "behaviour": "answer" }).to_string();
        self.lab.host().executor().invoke(&session, Proposal::new(READS, 1, arguments)).await
    }
}

fn config(folder: &Path) -> String {
    format!("[skills]\nfolder = {folder:?}\n")
}

/// Whether an operator's rules ask.
fn asks(outcome: &Outcome) -> bool {
    outcome.kind() == Kind::Pending
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_package_is_refused_and_says_why() {
    let bakery = Bakery::new();
    let operator = bakery.lab.operator().await;
    let outside = bakery.folder.path().join("outside.txt");
    fs::write(&outside, "somebody else's").unwrap();
    type Spoil<'s> = Box<dyn Fn(&Bakery) + 's>;
    let at = |bakery: &Bakery, path: &str| bakery.at().join(path);
    let instead = |path: &'static str, make: fn(&Path, &Path)| -> Spoil<'_> {
        let outside = outside.clone();
        Box::new(move |bakery| {
            let path = at(bakery, path);
            if path.is_dir() {
                fs::remove_dir_all(&path).unwrap();
            } else if path.exists() {
                fs::remove_file(&path).unwrap();
            }
            make(&outside, &path);
        })
    };
    let to_file = |outside: &Path, path: &Path| symlink(outside, path).unwrap();
    let manifest =
        |from: &'static str, to: &'static str| -> Spoil<'_> { Box::new(move |bakery| bakery.manifest(from, to)) };
    let cases: Vec<(Spoil<'_>, &str)> = vec![
        // Ways out of the package.
        (instead("recipes/bread.md", to_file), "is a link"),
        (instead("SKILL.md", to_file), "is a link"),
        (instead("recipes", |_, path| symlink("/etc", path).unwrap()), "is a link"),
        (instead("recipes/bread.md", |outside, path| fs::hard_link(outside, path).unwrap()), "other names elsewhere"),
        (manifest("recipes/bread.md", "../outside.txt"), "no path of a resource"),
        (manifest("recipes/bread.md", "/etc/passwd"), "no path of a resource"),
        // What never ends, or waits for somebody.
        (
            instead("recipes/bread.md", |_, path| {
                let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
                assert!(made.success());
            }),
            "neither a file nor a folder",
        ),
        (
            Box::new(|bakery| fs::write(bakery.at().join("recipes/bread.md"), vec![b'x'; 5 << 20]).unwrap()),
            "larger than one may be",
        ),
        (
            Box::new(|bakery| {
                for number in 0..600 {
                    fs::write(bakery.at().join(format!("recipes/{number}.md")), "x").unwrap();
                }
            }),
            "more files than one may have",
        ),
        (
            Box::new(|bakery| fs::create_dir_all(bakery.at().join("a/b/c/d/e/f/g/h/i/j")).unwrap()),
            "deeper than a skill goes",
        ),
        // Names that hide.
        (Box::new(|bakery| fs::write(bakery.at().join(".hidden"), "x").unwrap()), "no plain name"),
        (Box::new(|bakery| fs::write(bakery.at().join("a\u{202e}b"), "x").unwrap()), "no plain name"),
        (Box::new(|bakery| fs::write(bakery.at().join("run.sh"), "rm").unwrap()), "does not declare it"),
        // What it says of itself.
        (Box::new(|bakery| fs::remove_file(bakery.at().join("SKILL.md")).unwrap()), "there is no `SKILL.md`"),
        (Box::new(|bakery| fs::write(bakery.at().join("skill.toml"), "name = [").unwrap()), "`skill.toml` line 1"),
        (Box::new(|bakery| fs::write(bakery.at().join("skill.toml"), b"\xff\xfe").unwrap()), "not UTF-8"),
        (
            Box::new(|bakery| fs::write(bakery.at().join("SKILL.md"), vec![b'x'; 65 << 10]).unwrap()),
            "larger than one may be",
        ),
        (manifest("\"baker\"", "\"butcher\""), "its folder is called otherwise"),
        (manifest("before = \"1.0.0\"", "before = \"0.1.0\""), "other versions"),
        (manifest("resources = ", "allow = true\nresources = "), "unknown field"),
        // A recipe that would install something.
        (
            manifest("resources = ", "install = [\"pip install x\"]\nresources = "),
            "Whoever needs something asks a person with `dependency.request`",
        ),
        (manifest("[[tool]]", "[dependencies]\npandas = \"2\"\n[[tool]]"), "`dependencies`, which would install"),
        (manifest("[[rule]]", "install = \"x\"\n[[rule]]"), "`install`, which would install something"),
        // What it may not do.
        (manifest("effect = \"ask\"", "effect = \"allow\"\nreason = \"it is fine\""), "allows something"),
        (
            manifest("[[tool]]\ncapability = \"lab.act_read_local\"", "[[tool]]\ncapability = \"shell.run\""),
            "nothing here owns",
        ),
        (
            manifest("[[tool]]\ncapability = \"lab.act_read_local\"", "[[tool]]\ncapability = \"mcp.call\""),
            "nothing here owns",
        ),
        (manifest("[[tool]]", "[[mcp]]\nserver = \"evil\"\n[[tool]]"), "not configured here"),
        (manifest("[[tool]]", "[[tool]]\nserver = \"evil\"\ntool = \"x\"\n[[tool]]"), "does not bind"),
        (
            manifest(
                "[[rule]]\nid = \"recipes-ask\"\neffect = \"ask\"\ncapability = \"lab.act_read_local\"",
                "[[rule]]\nid = \"recipes-ask\"\neffect = \"ask\"\ncapability = \"no.such\"",
            ),
            "no.such",
        ),
    ];
    for (spoil, words) in cases {
        bakery.bake();
        let digest = bakery.digest();
        spoil(&bakery);
        let told = bakery.told();
        let why = told.why.clone().unwrap_or_default();
        assert_eq!(told.state, SkillState::Refused, "{words}: {told:?}");
        assert!(why.contains(words) && why.contains("\nhelp: "), "{words}: {why}");
        assert!(!why.contains("somebody else's"), "{why}");
        // Neither as what it is, nor as what it was.
        assert!(bakery.lab.host().accept_skill(&operator, "baker", digest).await.is_err(), "{words}");
        assert!(!asks(&bakery.ask().await), "{words}");
    }
    // A folder of that name that is a link is none either.
    fs::remove_dir_all(bakery.at()).unwrap();
    symlink("/etc", bakery.at()).unwrap();
    assert_eq!(bakery.told().state, SkillState::Refused);
    fs::remove_file(bakery.at()).unwrap();
    assert!(bakery.all().is_empty());
    assert!(matches!(PackageFault::TooMany.to_string().split_once("\nhelp: "), Some((_, help)) if !help.is_empty()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_in_use_is_what_was_accepted_byte_for_byte() {
    let mut bakery = Bakery::new();
    let operator = bakery.lab.operator().await;
    bakery.bake();
    assert_eq!(
        (bakery.told().state, asks(&bakery.ask().await)),
        (SkillState::Waiting, false),
        "it lies there, and is nothing"
    );
    // Another digest than what is there is nobody's.
    let host = bakery.lab.host();
    assert!(host.accept_skill(&operator, "baker", [7; 32]).await.is_err());
    assert!(host.accept_skill(&operator, "../baker", bakery.digest()).await.is_err());
    host.accept_skill(&operator, "baker", bakery.digest()).await.unwrap();
    assert_eq!(bakery.told().state, SkillState::Loaded);
    let outcome = bakery.ask().await;
    assert!(asks(&outcome), "what it requires is in force: {outcome:?}");
    assert!(bakery.lab.log().contains(r#""setting":"skill","skill":"baker","accepted":true"#), "{}", bakery.lab.log());
    assert!(!bakery.lab.log().contains("aloud") && !bakery.lab.log().contains("flour"), "{}", bakery.lab.log());

    // An operator's own allowance lowers nothing of it.
    let allowing =
        "[[rule]]\nid = \"fine\"\neffect = \"allow\"\ncapability = \"lab.act_read_local\"\nreason = \"it is fine\"\n";
    let path = bakery.lab.data().join("policy.toml");
    fs::write(&path, allowing).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    assert!(asks(&bakery.ask().await));
    fs::write(&path, "").unwrap();

    // One byte more, and it is out of use; what it required stays.
    fs::write(bakery.at().join("SKILL.md"), "Look the recipe up first!").unwrap();
    let told = bakery.told();
    assert_eq!(told.state, SkillState::Changed, "{told:?}");
    assert!(told.why.unwrap().contains("skills accept baker") && told.digest != told.accepted);
    assert!(asks(&bakery.ask().await));
    // So does it when the package asks for less, is none any more, or is gone, and in the next host.
    bakery.manifest("effect = \"ask\"", "effect = \"deny\"\nreason = \"no greeting\"");
    assert!(asks(&bakery.ask().await), "what nobody accepted requires nothing");
    fs::write(bakery.at().join("skill.toml"), "").unwrap();
    assert_eq!((bakery.told().state, asks(&bakery.ask().await)), (SkillState::Refused, true));
    fs::remove_dir_all(bakery.at()).unwrap();
    assert_eq!((bakery.told().state, asks(&bakery.ask().await)), (SkillState::Gone, true));
    bakery.again();
    let operator = bakery.lab.host().operators().login("four plain words here", None).await.unwrap().0;
    assert_eq!((bakery.told().state, asks(&bakery.ask().await)), (SkillState::Gone, true));
    bakery.bake();
    assert_eq!(bakery.told().state, SkillState::Loaded, "it is what was accepted again");

    // Another one in its place, once an operator accepts that.
    bakery.manifest("effect = \"ask\"", "effect = \"deny\"\nreason = \"no greeting\"");
    bakery.lab.host().accept_skill(&operator, "baker", bakery.digest()).await.unwrap();
    assert_eq!(bakery.ask().await.code(), Some(Code::RuleDeny));
    bakery.lab.host().remove_skill(&operator, "baker").await.unwrap();
    assert_eq!((bakery.told().state, asks(&bakery.ask().await)), (SkillState::Waiting, false));
    assert!(bakery.lab.host().remove_skill(&operator, "baker").await.is_err());
    assert!(bakery.lab.log().contains(r#""setting":"skill","skill":"baker","accepted":false"#), "{}", bakery.lab.log());
}

/// What was accepted and cannot be read any more lets nothing through, until an operator says otherwise.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_accepted_and_is_damaged_lets_nothing_through() {
    let mut bakery = Bakery::new();
    let operator: Operator = bakery.lab.operator().await;
    bakery.bake();
    bakery.lab.host().accept_skill(&operator, "baker", bakery.digest()).await.unwrap();
    bakery.lab.drop_host();
    let spoil = "import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as db: db.execute(\"UPDATE skills SET package = X'00'\")";
    let spoiled = std::process::Command::new(target().join("python/bin/python"))
        .args(["-c", spoil])
        .arg(bakery.lab.data().join("state.db"))
        .status();
    assert!(spoiled.unwrap().success());
    bakery.again();
    assert_eq!(bakery.ask().await.code(), Some(Code::RuleDeny));
    let operator = bakery.lab.host().operators().login("four plain words here", None).await.unwrap().0;
    bakery.lab.host().remove_skill(&operator, "baker").await.unwrap();
    assert!(!asks(&bakery.ask().await) && bakery.ask().await.code() != Some(Code::RuleDeny));
}

/// Whatever lies in the folder, looking at it ends, and never panics.
#[test]
fn whatever_a_manifest_says_it_is_read_or_refused() {
    use proptest::prelude::*;
    let bakery = Bakery::new();
    bakery.bake();
    let words = prop_oneof![
        any::<Vec<u8>>(),
        "[a-z\\[\\]=\"{}#\\n ]{0,200}".prop_map(String::into_bytes),
        (0..MANIFEST.len(), any::<char>()).prop_map(|(at, with)| {
            let at = MANIFEST.floor_char_boundary(at);
            format!("{}{with}{}", &MANIFEST[..at], &MANIFEST[at..]).into_bytes()
        }),
    ];
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 128,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&words, |bytes| {
            fs::write(bakery.at().join("skill.toml"), bytes).unwrap();
            let told = bakery.told();
            prop_assert!(matches!(told.state, SkillState::Refused | SkillState::Waiting));
            prop_assert!(told.state == SkillState::Waiting || told.why.is_some_and(|why| why.contains("\nhelp: ")));
            Ok(())
        })
        .unwrap();
}

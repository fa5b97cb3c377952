//! Skills: they name what others own, and require what can only raise.

use std::collections::BTreeMap;

use capability_core::Code;
use capability_core::approval::GrantLimits;
use capability_core::policy::{SourceKind, Verdict};
use capability_core::provider::{AdmissionStatus, ProviderType, Standing};
use capability_core::skill::{Skill, SkillFault, SkillManifest};
use serde_json::json;

use crate::fixtures::providers::{provider, tool};
use crate::fixtures::{Bench, rules};

const MANIFEST: &str = r#"
name = "baker"
version = "1.2.0"
description = "Finds recipes and reads them aloud."
compatible = { from = "0.1.0", before = "1.0.0" }
resources = ["recipes/bread.md"]

[[tool]]
capability = "lab.act_read_local"
version = 1

[[tool]]
server = "docs"
tool = "find"

[[mcp]]
server = "docs"

[[rule]]
id = "recipes-ask"
effect = "ask"
capability = "lab.act_read_local"
"#;

fn read(text: &str) -> Result<Skill, String> {
    let manifest: SkillManifest = toml::from_str(text).map_err(|error| error.to_string())?;
    let resources = manifest.resources.iter().map(|path| (path.clone(), b"flour".to_vec())).collect();
    Skill::new(manifest, text.as_bytes(), b"Look the recipe up first.", resources).map_err(|fault| fault.to_string())
}

fn faulty(from: &str, to: &str) -> String {
    assert!(MANIFEST.contains(from), "{from}");
    read(&MANIFEST.replace(from, to)).expect_err(to)
}

#[test]
fn what_is_no_skill_is_refused_with_what_would_be_right() {
    assert!(read(MANIFEST).is_ok());
    for (from, to, told) in [
        ("\"baker\"", "\"Baker\"", "name is none"),
        ("\"1.2.0\"", "\"1.2\"", "three numbers"),
        ("before = \"1.0.0\"", "before = \"0.1.0\"", "other versions"),
        ("resources = ", "unheard = ", "unknown field"),
        ("recipes/bread.md", "../bread.md", "no path of a resource"),
        ("recipes/bread.md", "/etc/passwd", "no path of a resource"),
        ("recipes/bread.md", "SKILL.md", "no path of a resource"),
        ("[[mcp]]\nserver = \"docs\"", "[[mcp]]\nserver = \"other\"", "does not bind"),
        ("[[mcp]]", "[[mcp]]\nserver = \"docs\"\n[[mcp]]", "bound twice"),
        ("[[tool]]\nserver", "[[tool]]\nserver = \"docs\"\ntool = \"find\"\n[[tool]]\nserver", "one tool twice"),
        ("tool = \"find\"", "tool = \"find it\"", "cannot be one"),
        ("\"lab.act_read_local\"\nversion = 1", "\"lab.*\"\nversion = 1", "cannot be one"),
        ("version = 1\n", "version = 1\ncommand = \"sh\"\n", "unknown field"),
        ("effect = \"ask\"", "effect = \"allow\"\nreason = \"it is fine\"", "allows something"),
    ] {
        let fault = faulty(from, to);
        assert!(fault.contains(told), "{to}: {fault}");
    }
    // Files and declarations are the same, and the instructions are text.
    let manifest = || toml::from_str::<SkillManifest>(MANIFEST).expect("it is one");
    let of = |instructions: &[u8], resources: BTreeMap<String, Vec<u8>>| {
        Skill::new(manifest(), MANIFEST.as_bytes(), instructions, resources).map(drop)
    };
    let bread = || ("recipes/bread.md".to_owned(), b"flour".to_vec());
    assert_eq!(of(b"Look.", BTreeMap::new()), Err(SkillFault::ResourceMissing("recipes/bread.md".to_owned())));
    let more = [bread(), ("run.sh".to_owned(), b"rm".to_vec())].into();
    assert_eq!(of(b"Look.", more), Err(SkillFault::ResourceUndeclared("run.sh".to_owned())));
    assert_eq!(of(b" ", [bread()].into()), Err(SkillFault::InstructionsSize));
    assert_eq!(of(b"\xff", [bread()].into()), Err(SkillFault::InstructionsNotText));
}

#[test]
fn one_changed_byte_is_another_skill() {
    let digest = |manifest: &str, instructions: &[u8], bread: &[u8]| {
        let parsed = toml::from_str(manifest).expect("it is one");
        let resources = [("recipes/bread.md".to_owned(), bread.to_vec())].into();
        *Skill::new(parsed, manifest.as_bytes(), instructions, resources).expect("it is one").digest()
    };
    let digests: std::collections::BTreeSet<_> = [
        digest(MANIFEST, b"Look.", b"flour"),
        digest(MANIFEST, b"Look!", b"flour"),
        digest(MANIFEST, b"Look.", b"water"),
        digest(&format!("{MANIFEST}\n"), b"Look.", b"flour"),
        digest(MANIFEST, b"Look.f", b"lour"),
    ]
    .into();
    assert_eq!(digests.len(), 5);
}

#[tokio::test]
async fn a_skills_tools_are_owned_bound_and_decided_like_everybodys() {
    let bench = Bench::providing(GrantLimits::off());
    let skill = read(MANIFEST).expect("it is one");
    let registry = bench.executor.registry();
    assert_eq!(skill.check_owned(registry, |server| server == "docs"), Ok(()));
    assert_eq!(skill.check_owned(registry, |_| false), Err(SkillFault::ServerUnknown("docs".to_owned())));
    for other in ["\"lab.act_read_locals\"", "\"mcp.call\""] {
        let unowned = read(&MANIFEST.replacen("\"lab.act_read_local\"", other, 1)).expect("it is one");
        assert!(matches!(unowned.check_owned(registry, |_| true), Err(SkillFault::ToolUnowned(_))), "{other}");
    }
    // Naming a tool makes it neither there nor callable.
    let states = || {
        let decisions = bench.executor.decisions(&bench.session);
        let tools = skill.tools(&decisions);
        tools.iter().map(|own| own.decision.as_ref().map(|own| own.admission_status)).collect::<Vec<_>>()
    };
    assert_eq!(states(), [Some(AdmissionStatus::Ready), None]);
    bench.supplied.set(vec![provider(
        ProviderType::Mcp,
        "docs",
        vec![tool("docs", "find").standing_at(Standing::Changed)],
    )]);
    assert_eq!(states(), [Some(AdmissionStatus::Ready), Some(AdmissionStatus::PolicyBlocked)]);
}

#[tokio::test]
async fn what_a_skill_requires_only_raises() {
    let bench = Bench::providing(GrantLimits::off());
    let skill = read(MANIFEST).expect("it is one");
    let required = skill.requirements().expect("it requires something");
    assert_eq!(required.kind(), SourceKind::Package);
    let call = json!({ "behaviour": "answer" });
    let before = bench.invoke("lab.act_read_local", &call).await;
    assert_eq!(before.kind().as_str(), "executed");
    let allowing =
        "[[rule]]\nid = \"fine\"\neffect = \"allow\"\ncapability = \"lab.act_read_local\"\nreason = \"it is fine\"\n";
    let operator = rules::source(SourceKind::Operator, allowing);
    bench.policy.set(rules::compiled(vec![operator, required]).expect("it is a policy"));
    // What an operator allows is asked about all the same.
    let id = bench.pending("lab.act_read_local", &call).await;
    let filed = bench.found(id).await.expect("it is filed").filed.expect("it has its content");
    assert_eq!((filed.approval.verdict, filed.approval.because), (Verdict::Ask, vec![Code::RuleAsk]));
}

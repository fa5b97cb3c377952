//! A package as bytes, and the skill that it is.

use std::collections::BTreeMap;

use base64ct::{Base64, Encoding as _};
use capability_core::policy::{Rule, Source, SourceKind};
use capability_core::skill::{MAX_INSTRUCTION_BYTES, Skill, SkillManifest};
use serde::{Deserialize, Serialize};

use super::PackageFault;

/// The largest `skill.toml`, in bytes.
const MAX_MANIFEST_BYTES: usize = 64 * 1024;

/// Everything of a package, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub(super) manifest: Vec<u8>,
    pub(super) instructions: Vec<u8>,
    pub(super) resources: BTreeMap<String, Vec<u8>>,
}

/// A package as it is kept: bytes in Base64.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    manifest: String,
    instructions: String,
    resources: BTreeMap<String, String>,
}

impl Package {
    /// For a store.
    pub(super) fn kept(&self) -> Vec<u8> {
        let encoded = |bytes: &Vec<u8>| Base64::encode_string(bytes);
        let resources = self.resources.iter().map(|(path, bytes)| (path.clone(), encoded(bytes))).collect();
        let kept = Kept { manifest: encoded(&self.manifest), instructions: encoded(&self.instructions), resources };
        serde_json::to_vec(&kept).unwrap_or_default()
    }

    /// From a store that kept it; none for what is damaged.
    pub(super) fn of_kept(bytes: &[u8]) -> Option<Self> {
        let Kept { manifest, instructions, resources } = serde_json::from_slice(bytes).ok()?;
        let decoded = |text: &str| Base64::decode_vec(text).ok();
        let resources = resources.into_iter().map(|(path, text)| Some((path, decoded(&text)?)));
        let resources = resources.collect::<Option<BTreeMap<_, _>>>()?;
        Some(Self { manifest: decoded(&manifest)?, instructions: decoded(&instructions)?, resources })
    }

    /// The skill that it is, when it is the one of that name.
    ///
    /// # Errors
    /// [`PackageFault`] names what is wrong.
    pub(super) fn skill(&self, name: &str) -> Result<Skill, PackageFault> {
        if self.manifest.len() > MAX_MANIFEST_BYTES || self.instructions.len() > MAX_INSTRUCTION_BYTES {
            return Err(PackageFault::TooLarge);
        }
        if let Some(key) = installs(&self.manifest) {
            return Err(PackageFault::Installs { key });
        }
        let manifest: SkillManifest = parsed(&self.manifest)?;
        if manifest.name != name {
            return Err(PackageFault::NotItsFolder { name: manifest.name });
        }
        Ok(Skill::new(manifest, &self.manifest, &self.instructions, self.resources.clone())?)
    }

    /// What it requires of policy, whether or not this build takes it otherwise: what was in force once is not lost because the
    /// rest of it does not fit any more. None when it requires nothing.
    ///
    /// # Errors
    /// [`PackageFault`] when its rules cannot be read.
    pub(super) fn requirements(&self) -> Result<Option<Source>, PackageFault> {
        #[derive(Deserialize)]
        struct Rules {
            #[serde(default)]
            rule: Vec<Rule>,
        }
        let Rules { rule } = parsed(&self.manifest)?;
        Ok((!rule.is_empty()).then(|| Source::new(SourceKind::Package, &self.manifest, rule)))
    }

    /// The text of one part, by its path; none for what is no text.
    pub(super) fn texts(&self) -> BTreeMap<&str, Option<&str>> {
        let own = [("skill.toml", &self.manifest), ("SKILL.md", &self.instructions)];
        let resources = self.resources.iter().map(|(path, bytes)| (path.as_str(), bytes));
        own.into_iter().chain(resources).map(|(path, bytes)| (path, core::str::from_utf8(bytes).ok())).collect()
    }

    /// The bytes of one part, by its path.
    pub(super) fn part(&self, path: &str) -> Option<&[u8]> {
        match path {
            "skill.toml" => Some(&self.manifest),
            "SKILL.md" => Some(&self.instructions),
            _ => self.resources.get(path).map(Vec::as_slice),
        }
    }
}

/// The first key of a manifest that would have something installed, wherever it stands. It would be refused as unknown too; what
/// it needs is said once.
fn installs(manifest: &[u8]) -> Option<String> {
    const KEYS: &[&str] = &[
        "apt",
        "brew",
        "cargo",
        "dependencies",
        "dependency",
        "install",
        "installs",
        "npm",
        "packages",
        "pip",
        "post_install",
        "requirements",
        "requires",
        "setup",
    ];
    fn named((key, value): (&String, &toml::Value)) -> Option<String> {
        let plain = key.to_ascii_lowercase().replace('-', "_");
        if KEYS.contains(&plain.as_str()) { Some(key.clone()) } else { within(value) }
    }
    fn within(value: &toml::Value) -> Option<String> {
        match value {
            toml::Value::Table(table) => table.iter().find_map(named),
            toml::Value::Array(values) => values.iter().find_map(within),
            _ => None,
        }
    }
    let manifest: toml::Table = toml::from_str(core::str::from_utf8(manifest).ok()?).ok()?;
    // What a rule asks about is no recipe.
    manifest.iter().filter(|(key, _)| *key != "rule").find_map(named)
}

fn parsed<T: serde::de::DeserializeOwned>(manifest: &[u8]) -> Result<T, PackageFault> {
    let text = core::str::from_utf8(manifest)
        .map_err(|_| PackageFault::Manifest { line: 1, what: "it is not UTF-8 text".to_owned() })?;
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        PackageFault::Manifest { line, what: error.message().trim_end().replace('\n', "; ") }
    })
}

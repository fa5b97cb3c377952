//! Files: what is read, told and changed, by whom, and everything that is not.

mod patching;
mod reading;
mod rules;
mod walking;
mod writing;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use capability_core::Code;
use capability_core::audit::OutcomeKind;
use serde_json::{Value, json};

use crate::household::{Household, folder, private};

/// A household with a workspace, and a directory beside it.
pub struct Home {
    pub household: Household,
    pub root: PathBuf,
    pub outside: PathBuf,
}

impl Home {
    pub async fn new() -> Self {
        Self::with("", "").await
    }

    /// With more in its configuration, and rules.
    pub async fn with(config: &str, rules: &str) -> Self {
        let top = folder();
        let (root, outside) = (top.path().join("ws"), top.path().join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "sesame\n").unwrap();
        if !rules.is_empty() {
            private(&top.path().join("data/policy.toml"), rules);
        }
        let config = format!("[workspace]\nroot = {:?}\n{config}", root.display().to_string());
        Self { household: Household::open(top, &config).await, root, outside }
    }

    /// Puts a file below the workspace, with the directories it needs.
    pub fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// What stands in a file of the workspace.
    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    pub fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.root.join(path)).unwrap().permissions().mode() & 0o777
    }

    /// The names in a directory of the workspace.
    pub fn names(&self, path: &str) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<_> = fs::read_dir(self.root.join(path)).unwrap().map(name).collect();
        names.sort();
        names
    }

    pub fn link(&self, to: impl AsRef<Path>, path: &str) {
        symlink(to, self.root.join(path)).unwrap();
    }

    /// How a call ends that nobody answers: its word, or the code that refused it.
    pub async fn ended(&self, name: &str, arguments: &Value) -> String {
        let outcome = self.household.ask(name, arguments).await;
        match (outcome.code(), outcome.kind()) {
            (Some(code), _) => code.as_str().to_owned(),
            (None, OutcomeKind::Executed) => "executed".to_owned(),
            (None, OutcomeKind::Pending) => "pending".to_owned(),
            (None, _) => outcome.message().unwrap_or_default().into_owned(),
        }
    }

    /// What the approver of a call is told it is about, and that is raised by this.
    pub async fn because(&self, name: &str, arguments: &Value) -> Vec<Code> {
        let mut because = Vec::new();
        let _ = self.household.call_after(name, arguments, |pending| because.clone_from(&pending.because)).await;
        because
    }
}

pub fn at(path: impl AsRef<Path>) -> Value {
    json!({ "path": path.as_ref().display().to_string() })
}

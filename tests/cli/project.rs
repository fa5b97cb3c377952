//! An author's project, built as an author builds it: from an empty folder, by cargo.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The functions of the household, as they stand in its `src/main.rs`.
pub const HOUSEHOLD: &str = include_str!("../fixtures/author/main.rs");

/// The workspace's own profile, without which nothing of what it built could be used again.
const PROFILE: [&str; 10] = [
    "debug='line-tables-only'",
    "package.'*'.debug=false",
    // There they are members, which `*` is not about.
    "package.capability-macros.debug='line-tables-only'",
    "package.capability-core.debug='line-tables-only'",
    "package.capabilities.debug='line-tables-only'",
    "package.capability-host.debug='line-tables-only'",
    "package.argon2.opt-level=3",
    "package.blake2.opt-level=3",
    "package.sha2.opt-level=3",
    "package.ring.opt-level=3",
];

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The workspace's own target directory: what the tests were built from need not be built again.
fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap()
}

fn cargo(directory: &Path, words: &[&str]) -> Output {
    // Settings before whatever goes to another program.
    let (command, words) = words.split_first().unwrap();
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .arg(command)
        .args(PROFILE.into_iter().flat_map(|entry| ["--config".to_owned(), format!("profile.dev.{entry}")]))
        .args(words)
        .current_dir(directory)
        .env("CARGO_TARGET_DIR", target())
        .env_remove("CARGO_BUILD_TARGET")
        .output()
        .unwrap()
}

/// A package outside the workspace.
pub struct Project {
    root: PathBuf,
    name: &'static str,
}

impl Project {
    /// An empty folder and a manifest: one dependency on the core, one on the host, and nothing else but `more`.
    pub fn new(name: &'static str, host: &str, more: &str) -> Self {
        let at = workspace().display();
        Self::of(name, &format!("capability-host = {{ path = \"{at}/capabilities/host\"{host} }}\n{more}"))
    }

    /// The same on the core alone.
    pub fn on_core(name: &'static str) -> Self {
        Self::of(name, "")
    }

    fn of(name: &'static str, more: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("projects").join(name);
        if root.exists() {
            fs::remove_dir_all(&root).unwrap();
        }
        let project = Self { root, name };
        let at = workspace().display();
        project.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
                 capability-core = {{ path = \"{at}/capability-core\" }}\n{more}"
            ),
        );
        // The versions that the workspace was tested with.
        fs::copy(workspace().join("Cargo.lock"), project.root.join("Cargo.lock")).unwrap();
        project
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    /// Where a program of that name lies once it is built.
    pub fn built(&self, name: &str) -> PathBuf {
        target().join("debug").join(name)
    }

    /// Does something with it by cargo.
    pub fn cargo(&self, words: &[&str]) -> Output {
        cargo(&self.root, words)
    }

    /// Builds it, and gives a copy of the program that no later build replaces.
    pub fn build(&self) -> PathBuf {
        // Until it is copied, nobody else builds one of the same name.
        static BUILDING: Mutex<()> = Mutex::new(());
        let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
        let built = cargo(&self.root, &["build", "--quiet", "--offline"]);
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let copies = self.root.join("built");
        fs::create_dir_all(&copies).unwrap();
        let number = fs::read_dir(&copies).unwrap().count();
        let copy = copies.join(number.to_string()).join(self.name);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(target().join("debug").join(self.name), &copy).unwrap();
        copy
    }
}

/// The household's binary, the built-in capabilities included.
pub fn household() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let project = Project::new("household", "", "");
        project.write("src/main.rs", HOUSEHOLD);
        project.build()
    })
}

/// The same household without the built-in capabilities.
pub fn bare_household() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let project = Project::new("bare-household", ", default-features = false", "");
        project.write("src/main.rs", HOUSEHOLD);
        project.build()
    })
}

/// The workspace's own binary.
pub fn builtin() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let built =
            cargo(workspace(), &["build", "--quiet", "--offline", "-p", "capability-host", "--bin", "capability"]);
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        target().join("debug/capability")
    })
}

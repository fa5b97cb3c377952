//! Real repositories, made by git, and git's own server for them behind a server of the tests.

use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

use crate::servers::{Sent, Server, Then, answer};

/// A folder of repositories.
pub struct Shelf(TempDir);

impl Shelf {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A repository with one of everything, in two commits, the first of them tagged.
    pub fn full(&self) -> PathBuf {
        let at = self.at("full");
        std::fs::create_dir_all(at.join("notes/deep")).unwrap();
        git(&at, &["init", "-q", "-b", "main", "."]);
        std::fs::write(at.join("README.md"), "the first words\n").unwrap();
        git(&at, &["add", "."]);
        git(&at, &["commit", "-q", "-m", "one"]);
        git(&at, &["tag", "-a", "v1.0", "-m", "tagged"]);
        std::fs::write(at.join("README.md"), "the second words, and a hidden \u{202e}mark\n").unwrap();
        std::fs::write(at.join("notes/deep/today.txt"), "deep words\n").unwrap();
        std::fs::write(at.join("picture"), b"\x89PNG\0\xff").unwrap();
        std::fs::write(at.join("large"), vec![b'x'; 300 * 1024]).unwrap();
        std::fs::write(at.join("é\t.txt"), "named oddly\n").unwrap();
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 5\n";
        std::fs::write(at.join("kept-elsewhere"), pointer).unwrap();
        symlink("/etc/passwd", at.join("absolute")).unwrap();
        symlink("notes", at.join("folder")).unwrap();
        git(&at, &["add", "."]);
        let commit = git(&at, &["rev-parse", "HEAD"]);
        git(&at, &["update-index", "--add", "--cacheinfo", &format!("160000,{},module", commit.trim())]);
        git(&at, &["commit", "-q", "-m", "two"]);
        git(&at, &["branch", "side", "v1.0"]);
        at
    }

    /// git's own server for all of them, over HTTP.
    pub fn served(&self, password: Option<&str>) -> Server {
        self.served_until(password, &Arc::default())
    }

    /// The same, until it is told to answer something else.
    pub fn served_until(&self, password: Option<&str>, instead: &Arc<Mutex<Option<Vec<u8>>>>) -> Server {
        let instead = Arc::clone(instead);
        let (root, password) = (self.0.path().to_owned(), password.map(str::to_owned));
        Server::start(move |sent, out| {
            let instead = instead.lock().unwrap().clone();
            let whole = match (&password, instead) {
                (_, Some(instead)) => instead,
                (Some(password), None) if sent.header("authorization") != Some(password) => {
                    answer("401 Unauthorized", &[("www-authenticate", "Basic realm=\"git\"")], "")
                }
                _ => backend(&root, sent),
            };
            out.write_all(&whole).map(|()| Then::Close)
        })
    }
}

/// What `git http-backend` answers.
fn backend(root: &Path, sent: &Sent) -> Vec<u8> {
    let (path, query) = sent.target.split_once('?').unwrap_or((&sent.target, ""));
    let mut process = Command::new("git")
        .arg("http-backend")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "safe.directory")
        .env("GIT_CONFIG_VALUE_0", "*")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", &sent.method)
        .env("CONTENT_TYPE", sent.header("content-type").unwrap_or_default())
        .env("CONTENT_LENGTH", sent.body.len().to_string())
        .env("GIT_PROTOCOL", sent.header("git-protocol").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.take().unwrap().write_all(&sent.body).unwrap();
    let said = process.wait_with_output().unwrap().stdout;
    let end = said.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(said[..end].to_vec()).unwrap();
    let fields: Vec<_> = head.lines().filter_map(|line| line.split_once(": ")).collect();
    let status = fields.iter().find(|(name, _)| *name == "Status").map_or("200 OK", |(_, status)| status);
    let fields: Vec<_> = fields.iter().filter(|(name, _)| *name != "Status").copied().collect();
    answer(status, &fields, &said[end + 4..])
}

/// What git says, from an environment of its own.
pub fn git(at: &Path, words: &[&str]) -> String {
    let ran = Command::new("git")
        .args(["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "safe.directory=*"])
        .args(words)
        .current_dir(at)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(ran.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

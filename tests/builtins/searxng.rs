//! A real SearXNG on the loopback.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::household::python;

const SETTINGS: &str = include_str!("../fixtures/searxng/settings.yml");

/// Engines that do not work, each in its own way.
pub const BROKEN: &str = r#"
  - { <<: *library, name: slow, shortcut: sl, search_url: "http://127.0.0.1:CORPUS/slow?q={query}" }
  - { <<: *library, name: busy, shortcut: bu, search_url: "http://127.0.0.1:CORPUS/busy?q={query}" }
  - { <<: *library, name: broken, shortcut: br, search_url: "http://127.0.0.1:CORPUS/broken?q={query}" }
  - { <<: *library, name: garbage, shortcut: ga, search_url: "http://127.0.0.1:CORPUS/garbage?q={query}" }
"#;

pub struct Searxng {
    process: Child,
    port: u16,
    _top: TempDir,
}

impl Searxng {
    /// Over the documents at `corpus`; `change` may rewrite the settings.
    pub fn start(corpus: u16, change: impl FnOnce(String) -> String) -> Self {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let settings = change(SETTINGS.to_owned()).replace("BROKEN", "");
        let settings = settings.replace("PORT", &port.to_string()).replace("CORPUS", &corpus.to_string());
        let top = tempfile::tempdir().unwrap();
        let file = top.path().join("settings.yml");
        std::fs::write(&file, settings).unwrap();
        let process = Command::new(python())
            .args(["-m", "searx.webapp"])
            .current_dir(top.path())
            .env("SEARXNG_SETTINGS_PATH", &file)
            .env("TMPDIR", top.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut searxng = Self { process, port, _top: top };
        let end = Instant::now() + Duration::from_secs(120);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(searxng.process.try_wait().unwrap().is_none(), "SearXNG ended at once");
            assert!(Instant::now() < end, "SearXNG did not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        searxng
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Searxng {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

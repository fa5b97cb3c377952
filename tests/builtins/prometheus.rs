//! A real Prometheus on the loopback, which measures itself.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub struct Prometheus {
    process: Child,
    port: u16,
    _top: TempDir,
}

impl Prometheus {
    /// Once it has measured itself.
    pub fn start() -> Self {
        let program = Path::new("/usr/bin/prometheus");
        assert!(program.exists(), "{} is not there\nhelp: run `tests/run`, which installs it", program.display());
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let top = tempfile::tempdir().unwrap();
        let settings = format!(
            "global: {{ scrape_interval: 1s }}\nscrape_configs:\n- job_name: itself\n  static_configs: [ {{ targets: ['127.0.0.1:{port}'] }} ]\n"
        );
        std::fs::write(top.path().join("prometheus.yml"), settings).unwrap();
        let process = Command::new(program)
            .arg(format!("--config.file={}", top.path().join("prometheus.yml").display()))
            .arg(format!("--storage.tsdb.path={}", top.path().join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .args(["--query.max-samples=20000", "--log.level=error"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut prometheus = Self { process, port, _top: top };
        let end = Instant::now() + Duration::from_secs(120);
        while !ask(port, "/api/v1/query?query=up%3D%3D1").is_some_and(|answer| answer.contains("itself")) {
            assert!(prometheus.process.try_wait().unwrap().is_none(), "Prometheus ended at once");
            assert!(Instant::now() < end, "Prometheus did not measure itself");
            std::thread::sleep(Duration::from_millis(50));
        }
        prometheus
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What is answered there, if anybody is.
fn ask(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok().map(|_| answer)
}

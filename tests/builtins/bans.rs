//! A built-in that reaches past its handles does not pass the lints.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Each line reaches for something by itself; the handle that its refusal names.
const REACHING: [(&str, &str); 12] = [
    ("let _ = std::fs::read(\"/etc/passwd\");", "&Workspace<Read>"),
    ("let _ = std::fs::File::open(\"/etc/passwd\");", "&Workspace<"),
    ("let _ = std::path::Path::new(\"/\").exists();", "&Workspace<Read>"),
    ("let _ = std::net::TcpStream::connect(\"127.0.0.1:1\");", "&Http"),
    ("let _ = std::net::UdpSocket::bind(\"127.0.0.1:0\");", "&Http"),
    ("let _ = std::os::unix::net::UnixStream::connect(\"/run/x\");", "&Endpoint<"),
    ("let _ = tokio::net::TcpStream::connect(\"127.0.0.1:1\");", "&Http"),
    ("let _ = tokio::net::UdpSocket::bind(\"127.0.0.1:0\");", "&Http"),
    ("let _ = std::env::var(\"HOME\");", "&Secret<"),
    ("let _ = std::process::Command::new(\"true\");", "a capability starts none"),
    ("let _ = std::time::SystemTime::now();", "&Clock"),
    ("let _ = std::thread::spawn(|| ());", "the runner places the body"),
];

/// The lints are run on a package that has nothing but these lines and the built-ins' own `clippy.toml`.
#[test]
fn what_a_builtin_reaches_for_by_itself_is_refused_with_the_handle_to_take() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let package = target.join("projects/reaching");
    fs::create_dir_all(package.join("src")).unwrap();
    let manifest = "[package]\nname = \"reaching\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
                    tokio = { version = \"1\", default-features = false, features = [\"net\"] }\n";
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    fs::copy(root.join("capabilities/clippy.toml"), package.join("clippy.toml")).unwrap();
    let body: String =
        REACHING.iter().enumerate().map(|(at, (line, _))| format!("pub fn reach_{at}() {{ {line} }}\n")).collect();
    fs::write(package.join("src/lib.rs"), body).unwrap();
    let ran = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["clippy", "--quiet", "--offline", "--", "-D", "warnings"])
        .current_dir(&package)
        .env("CARGO_TARGET_DIR", target.join("reaching"))
        .env_remove("CARGO_BUILD_TARGET")
        .output()
        .unwrap();
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(!ran.status.success(), "{told}");
    let refusals: Vec<_> = told.split("\nerror: ").filter(|told| told.contains("disallowed")).collect();
    for (at, (line, handle)) in REACHING.iter().enumerate() {
        let place = format!("--> src/lib.rs:{}:", at + 1);
        let named = refusals.iter().any(|told| told.contains(&place) && told.contains(handle));
        assert!(named, "{line}\n{told}");
    }
    assert!(!told.contains("does not refer to"), "every banned path exists: {told}");
}

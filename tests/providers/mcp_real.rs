//! Servers that others wrote, as they are installed from where they publish them.

use capability_core::provider::{ProviderReach, Standing};

use crate::mcp_lab::{Lab, server, target, words};

pub fn node(name: &str, arguments: &[&str]) -> String {
    let program = target().join("providers/node_modules/.bin").join(name);
    words(&[&["node", program.to_str().unwrap()], arguments].concat())
}

pub fn python(name: &str) -> String {
    words(&[target().join("python/bin").join(name).to_str().unwrap()])
}

/// Both generations of the protocol, in two languages, four at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_of_both_generations_are_listed() {
    let files = tempfile::tempdir().unwrap();
    let path = files.path().to_str().unwrap();
    let config = [
        server("everything", &node("mcp-server-everything", &[])),
        server("filesystem", &node("mcp-server-filesystem", &[path])),
        server("memory", &node("mcp-server-memory", &[])),
        server("git", &python("mcp-server-git")),
        server("time", &python("mcp-server-time")),
    ];
    let config = config.map(|one| one + "discovery_s = 60\n").concat();
    let lab = Lab::new(&config);
    let names = ["everything", "filesystem", "memory", "git", "time"];
    for name in names {
        assert_eq!(lab.reach(name), ProviderReach::NotConnected, "{name}");
    }
    let (everything, filesystem, memory, git, time) = tokio::join!(
        lab.connect("everything"),
        lab.connect("filesystem"),
        lab.connect("memory"),
        lab.connect("git"),
        lab.connect("time"),
    );
    for (name, connected, least, known) in [
        ("everything", everything, 10, "get-env"),
        ("filesystem", filesystem, 10, "read_text_file"),
        ("memory", memory, 9, "create_entities"),
        ("git", git, 10, "git_status"),
        ("time", time, 2, "get_current_time"),
    ] {
        let connected = connected.unwrap_or_else(|fault| panic!("{name}: {fault:?}, {:?}", lab.reach(name)));
        assert!(connected.tools >= least && connected.unusable == 0, "{name}: {connected:?} {:?}", lab.tools(name));
        assert_eq!(lab.reach(name), ProviderReach::Ready, "{name}");
        assert!(lab.tools(name).contains(&(known.to_owned(), Standing::Accepted)), "{name}");
    }
    // Claims are kept as claims: this one says of itself that it only reads and reaches nothing, and tells an environment.
    let state = lab.state("everything");
    let liar = state.tools.iter().find(|tool| tool.definition().id.native == "get-env").unwrap();
    assert_eq!((liar.definition().claims.read_only, liar.classified()), (Some(true), None));
    lab.host().close().await;
    for name in names {
        assert_eq!(lab.reach(name), ProviderReach::NotConnected, "{name}");
        assert!(!lab.tools(name).is_empty(), "{name}: what was accepted stays in sight");
    }
}

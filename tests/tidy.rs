//! House rules that a compiler does not hold.

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::path::{Path, PathBuf};

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    /// Every file below `at` with this ending, build products apart.
    fn files(at: &Path, ending: &str, found: &mut Vec<PathBuf>) {
        let Ok(entries) = fs::read_dir(at) else { return };
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() && !["target", "wip", "corpus", "artifacts"].contains(&name) && !name.starts_with('.') {
                files(&path, ending, found);
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }

    fn sources() -> Vec<(String, String)> {
        let mut found = Vec::new();
        files(root(), ".rs", &mut found);
        assert!(found.len() > 50, "the sources are found");
        found.sort();
        found
            .into_iter()
            .map(|path| {
                let text = fs::read_to_string(&path).expect("a source is text");
                (path.strip_prefix(root()).expect("below the root").display().to_string(), text)
            })
            .collect()
    }

    fn toml(path: &Path) -> toml::Table {
        fs::read_to_string(path).expect("it is there").parse().expect("it is TOML")
    }

    fn is_test(path: &str) -> bool {
        path.starts_with("tests/")
            || path.contains("/tests/")
            || path.contains("/benches/")
            || path.ends_with("/tests.rs")
    }

    #[test]
    fn no_file_is_longer_than_six_hundred_lines() {
        let long: Vec<_> = sources()
            .into_iter()
            .filter(|(path, text)| !is_test(path) && text.lines().count() > 600)
            .map(|(path, _)| path)
            .collect();
        assert_eq!(long, [""; 0]);
    }

    /// Written in halves, so that this file does not find itself.
    #[test]
    fn nothing_unfinished_and_no_silent_exception_is_checked_in() {
        let words = [
            ["TO", "DO"],
            ["FIX", "ME"],
            ["to", "do!("],
            ["unimple", "mented!("],
            ["db", "g!("],
            ["#[ig", "nore"],
            ["#[al", "low("],
            ["#![al", "low("],
        ]
        .map(|halves| halves.concat());
        let mut found = Vec::new();
        for (path, text) in sources().iter().filter(|(path, _)| !path.starts_with("ui-tests/fail/")) {
            for (at, line) in text.lines().enumerate() {
                // Generated code may carry lint levels, and tests of the macro may write them down.
                if words.iter().any(|word| line.contains(word))
                    && !path.starts_with("capability-macros/src/")
                    && !path.starts_with("ui-tests/")
                {
                    found.push(format!("{path}:{}: {}", at + 1, line.trim()));
                }
            }
        }
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn the_top_level_holds_what_the_layout_says_and_nothing_else() {
        let allowed = [
            "Cargo.lock",
            "Cargo.toml",
            "LICENSE-APACHE",
            "LICENSE-MIT",
            "README.md",
            "capabilities",
            "capability-core",
            "capability-macros",
            "docs",
            "rust-toolchain.toml",
            "tests",
            "ui-tests",
        ];
        let listed = std::process::Command::new("git").args(["ls-files"]).current_dir(root()).output();
        let names: BTreeSet<String> = match listed {
            Ok(listed) if listed.status.success() => {
                let text = String::from_utf8(listed.stdout).expect("names are text");
                text.lines().filter_map(|path| path.split('/').next()).map(str::to_owned).collect()
            }
            // An exported tree has no index; what lies there is what counts then.
            _ => fs::read_dir(root())
                .expect("the root is readable")
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .filter(|name| name != "target")
                .collect(),
        };
        let strange: Vec<_> =
            names.iter().filter(|name| !name.starts_with('.') && !allowed.contains(&name.as_str())).collect();
        assert_eq!(strange, [""; 0]);
    }

    #[test]
    fn every_package_takes_the_lints_of_the_workspace() {
        let mut manifests = Vec::new();
        files(root(), "Cargo.toml", &mut manifests);
        let without: Vec<_> = manifests
            .iter()
            .filter(|path| {
                let manifest = toml(path);
                // A directory that is a workspace of its own, such as one for fuzzing, has its own rules.
                let own = manifest.contains_key("workspace") && path.parent() != Some(root());
                let inherits = manifest.get("lints").and_then(|lints| lints.get("workspace")?.as_bool());
                !own && inherits != Some(true)
            })
            .collect();
        assert_eq!(without, [""; 0].map(PathBuf::from).iter().collect::<Vec<_>>());
    }

    /// Package to the packages it needs, from the lock file.
    fn locked() -> BTreeMap<String, Vec<String>> {
        let lock = toml(&root().join("Cargo.lock"));
        let packages = lock["package"].as_array().expect("packages");
        let name = |package: &toml::Value| {
            let text = |key: &str| package[key].as_str().expect("text").to_owned();
            (text("name"), text("version"))
        };
        let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for package in packages {
            let (name, version) = name(package);
            versions.entry(name).or_default().push(version);
        }
        packages
            .iter()
            .map(|package| {
                let needs = package.get("dependencies").and_then(|needs| needs.as_array()).into_iter().flatten();
                let needs = needs.filter_map(|need| {
                    let mut words = need.as_str()?.split(' ');
                    let named = words.next()?;
                    let version =
                        words.next().map_or_else(|| versions.get(named)?.first().cloned(), |v| Some(v.to_owned()))?;
                    Some(format!("{named} {version}"))
                });
                let (name, version) = name(package);
                (format!("{name} {version}"), needs.collect())
            })
            .collect()
    }

    /// What a package's normal dependencies pull in, itself and what it needs for its tests left out.
    fn tree_of(package: &str) -> BTreeSet<String> {
        let locked = locked();
        let manifest = toml(&root().join(package).join("Cargo.toml"));
        let direct: BTreeSet<&str> =
            manifest["dependencies"].as_table().expect("a table").keys().map(String::as_str).collect();
        let named = |full: &str| full.split(' ').next().unwrap_or_default().to_owned();
        let (_, needs) = locked.iter().find(|(full, _)| named(full) == package).expect("it is locked");
        let mut open: Vec<String> =
            needs.iter().filter(|need| direct.contains(named(need).as_str())).cloned().collect();
        let mut tree = BTreeSet::new();
        while let Some(next) = open.pop() {
            if tree.insert(next.clone()) {
                open.extend(locked.get(&next).into_iter().flatten().cloned());
            }
        }
        tree
    }

    #[test]
    fn the_core_depends_on_no_network_database_command_line_or_tool_protocol_crate() {
        // The lock file does not know features, so what only an unused feature would pull in counts as well.
        let forbidden = [
            "hyper",
            "reqwest",
            "ureq",
            "http",
            "h2",
            "axum",
            "tower",
            "rustls",
            "native-tls",
            "openssl",
            "rusqlite",
            "sqlx",
            "libsqlite3-sys",
            "tokio-postgres",
            "postgres",
            "clap",
            "rmcp",
            "async-nats",
            "tracing-subscriber",
        ];
        let tree = tree_of("capability-core");
        assert!(tree.len() > 20, "the tree is read: {tree:?}");
        let found: Vec<_> =
            tree.iter().filter(|full| forbidden.contains(&full.split(' ').next().unwrap_or_default())).collect();
        assert_eq!(found, [""; 0]);
    }

    /// Building two majors of the parser costs every author; where a second one comes from is said here.
    #[test]
    fn the_core_builds_one_third_major_of_the_parser_and_the_second_comes_only_from_where_it_is_known() {
        let tree = tree_of("capability-core");
        let syn: Vec<_> = tree.iter().filter(|full| full.starts_with("syn ")).cloned().collect();
        assert_eq!(syn.iter().filter(|full| full.starts_with("syn 3.")).count(), 1, "{syn:?}");
        let locked = locked();
        let from: BTreeSet<_> = tree
            .iter()
            .filter(|full| locked.get(*full).is_some_and(|needs| needs.iter().any(|need| need.starts_with("syn 2."))))
            .map(|full| full.split(' ').next().unwrap_or_default())
            .collect();
        let known = BTreeSet::from(KNOWN_SECOND_PARSER);
        assert!(from.is_subset(&known), "{from:?} pull in a second major of the parser");
    }

    /// `strum_macros` comes with the schema validator's `strum`; `zerocopy-derive` and what is for Windows only with features that
    /// the host's libraries turn on in crates that the core has too, which the lock file does not tell apart.
    const KNOWN_SECOND_PARSER: [&str; 4] =
        ["strum_macros", "windows-implement", "windows-interface", "zerocopy-derive"];

    /// The third column names test functions, or files that must not compile. A table of two columns holds what has no test
    /// of its own yet.
    #[test]
    fn every_threat_names_a_living_test() {
        let sources = sources();
        let (mut named, mut dead) = (0, Vec::new());
        let documents = ["docs/threats.md", "docs/seed-coverage.md"]
            .map(|path| fs::read_to_string(root().join(path)).expect("the table is there"));
        for row in documents.iter().flat_map(|text| text.lines()) {
            if !row.starts_with('|') || row.starts_with("|---") {
                continue;
            }
            let columns: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
            let [_, defence, tests] = columns[..] else { continue };
            if ["test", "held by"].contains(&tests) {
                continue;
            }
            let names: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
            // What does not apply says so in a sentence.
            if names.is_empty() && !defence.ends_with('.') {
                dead.push(row);
            }
            for name in names {
                named += 1;
                let function = format!("fn {}(", name.rsplit("::").next().unwrap_or_default());
                let is_file = name.ends_with(".rs") && root().join(name).is_file();
                if !is_file && !sources.iter().any(|(_, text)| text.contains(&function)) {
                    dead.push(name);
                }
            }
        }
        assert_eq!(dead, [""; 0]);
        assert!(named > 20, "the table is read");
    }

    /// Everything that runs without an unwinding catch is left to the worker; nothing else talks to the kernel by hand.
    #[test]
    fn unsafe_code_stands_only_in_the_worker() {
        let word = ["unsafe", " {"].concat();
        let elsewhere: Vec<_> = sources()
            .into_iter()
            // Bodies that misbehave on purpose are the other side of the worker's.
            .filter(|(path, _)| !path.contains("/worker/") && path != "tests/isolation/bodies.rs")
            .filter(|(path, text)| text.contains(&word) && !path.starts_with("ui-tests/"))
            .map(|(path, _)| path)
            .collect();
        assert_eq!(elsewhere, [""; 0]);
    }
}

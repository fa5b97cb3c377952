//! Rows, laws, and whatever bytes there are.

use proptest::prelude::*;

use super::{Base, Class, MAX_COMMANDS, Script, Unread, Why, judge_argv, judge_script};

const BASE: Base<'_> = Base { root: "/ws", workdir: "." };

/// The rows of `cases.txt`.
fn rows() -> impl Iterator<Item = (Class, String)> {
    include_str!("cases.txt").lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (class, script) = line.split_once('\t').expect("a class, a tab and a text");
        let class = [Class::Low, Class::High, Class::Block].into_iter().find(|known| known.as_str() == class);
        (class.expect("a class"), serde_json::from_str(script).expect("a JSON text"))
    })
}

/// What is not read does not run, which is more than any class.
fn class(script: &str) -> Class {
    judge_script(script, BASE).map_or(Class::Block, |judgement| judgement.class())
}

#[test]
fn every_row_is_what_it_is() {
    let mut wrong = Vec::new();
    for (expected, script) in rows() {
        match judge_script(&script, BASE) {
            Ok(judgement) if judgement.class() == expected => {}
            other => wrong.push(format!("{} {script:?}: {other:?}", expected.as_str())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows().count() > 200);
}

#[test]
fn what_does_not_end_is_not_read() {
    for script in [
        "git status \"",
        "echo 'a",
        "echo $(ls",
        "echo `ls",
        "(ls",
        "ls)",
        "echo ${x",
        "cat <<EOF\nx",
        "case x in a) ls",
        "[[ a",
        "echo \\",
        "coproc ls",
        "echo $[1]",
        "ls >",
        "a <<X $(\n)\nX\n",
    ] {
        assert!(judge_script(script, BASE).is_err(), "{script:?}");
    }
    let deep = |many: usize| format!("{}reboot{}", "$(".repeat(many), ")".repeat(many));
    assert_eq!(class(&deep(20)), Class::Block);
    assert_eq!(judge_script(&deep(10_000), BASE), Err(Unread::TooDeep));
    assert_eq!(judge_script(&"ls;".repeat(MAX_COMMANDS + 1), BASE), Err(Unread::TooMany));
    for opening in ["\"$(", "${x:-", "$((", "((", "`", "<(", "{ ", "if ", "case x in x) ", "[[ ", "a() { "] {
        let _ = judge_script(&opening.repeat(20_000), BASE);
    }
    let nested = (0..6).fold("reboot".to_owned(), |inner, _| format!("bash -c {}", quoted(&inner)));
    assert_eq!(class(&nested), Class::Block);
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn has(script: &str, words: &[&str]) -> bool {
    let judgement = judge_script(script, BASE).unwrap_or_else(|unread| panic!("{script:?}: {unread:?}"));
    judgement.commands().any(|command| command == words)
}

/// Rules are held against every command, whatever stands around it.
#[test]
fn every_command_is_named() {
    for script in [
        "rm x",
        "(rm x)",
        "echo `rm x`",
        "git status\nrm x",
        "git status && rm x",
        "git status || rm x",
        "/bin/rm x",
        "r'm' x",
        "command rm x",
        "timeout 5 nice rm x",
        "timeout -k 5 --unknown 5 rm x",
        "xargs -0 rm x",
        "nohup rm x",
        "time rm x",
        "stdbuf -oL rm x",
        "watch rm x",
        "watch -n1 'rm x'",
        "bash -c 'rm x'",
        "bash -lc 'rm x'",
        "bash -ec 'true; rm x'",
        "sudo -u root -- rm x",
        "env -u A B=1 rm x",
        "find . -exec rm x ';'",
        "find . -ok rm x +",
        "a=$(rm x)",
        "a=(1 2) rm x",
        "x[1]=2 rm x",
        "for i in 1; do rm x; done",
        "for i do rm x; done",
        "select i in 1; do rm x; done",
        "for ((i=0;i<3;i++)); do rm x; done",
        "until rm x; do :; done",
        "{ rm x; }",
        "case a in (a|b) rm x;& c) ;; esac",
        "f() { rm x; }",
        "function f() { rm x; }",
        "[[ -f a && -n $(rm x) ]]",
        "cat << 'E' | sh -c 'rm x'\n$(no)\nE\n",
        "cat <<-E\n\t$(rm x)\n\tE\n",
        "echo \"a $(echo \"$(rm x)\")\"",
        "echo ${a:-`rm x`}",
        "((a=$(rm x)))",
        "true;rm x",
        "true&rm x",
        "$(rm x)",
        "! rm x",
        "if rm x; then :; fi",
        "busybox rm x",
        "sh -s <<E\nrm x\nE",
        "git bisect run rm x",
        "git rebase --exec 'rm x'",
        "{fd}>a rm x",
        "3>a rm x",
        "&>a rm x",
        "<a rm x",
        "echo \\\nx; rm \\\n x",
    ] {
        assert!(has(script, &["rm", "x"]), "{script:?}: {:?}", judge_script(script, BASE));
    }
    let argv = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    for words in [
        &["timeout", "5", "nice", "sudo", "id"][..],
        &["/usr/bin/sudo", "id"],
        &["bash", "-c", "sudo id"],
        &["env", "sudo", "id"],
        &["xargs", "sudo", "id"],
        &["nohup", "sudo", "id"],
        &["time", "sudo", "id"],
        &["stdbuf", "-o0", "sudo", "id"],
        &["watch", "sudo", "id"],
        &["ｓｕｄｏ", "id"],
        &["su\u{200b}do", "id"],
    ] {
        let judgement = judge_argv(&argv(words), BASE).expect("it is read");
        assert!(judgement.commands().any(|command| command == ["sudo", "id"]), "{words:?}: {judgement:?}");
        assert!(judgement.class() > Class::Low);
    }
    // 50 harmless ones before it hide nothing, and neither does what is quoted name anything.
    assert!(has(&format!("{}curl http://x", "true;".repeat(50)), &["curl", "http://x"]));
    assert!(!has("echo 'a; rm x' \"b && rm x\" # rm x", &["rm", "x"]));
    assert!(judge_script("$X id", BASE).expect("read").unknown);
    assert!(judge_script("sudo $X", BASE).expect("read").unknown);
    assert!(!judge_script("echo $X", BASE).expect("read").unknown);
}

/// Words are what a program gets, not what a shell makes of them.
#[test]
fn words_are_no_script() {
    for (words, expected) in [
        (&["echo", "a; reboot", "$(reboot)"][..], Class::Low),
        (&["rg", "-n", "pat"], Class::Low),
        (&["rg", "--pre=./x", "pat"], Class::High),
        (&["find", ".", "-name", "*.py", "-exec", "rm", "{}", ";"], Class::High),
        (&["git", "-p", "status"], Class::High),
        (&["git", "log", "-p"], Class::Low),
        (&["git", "log", "--output=/ws/../home/u/.bashrc"], Class::Block),
        (&["sed", "-n", "1e id", "f"], Class::High),
        (&["sed", "-n", "1,5p", "f"], Class::Low),
        (&["cat", ".[e]nv"], Class::Low),
        (&["", "x"], Class::High),
    ] {
        let argv: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(judge_argv(&argv, BASE).expect("read").class(), expected, "{words:?}");
    }
    assert_eq!(judge_argv(&[], BASE).map(|judgement| judgement.segments.len()), Ok(0));
}

/// What a person is told, and what policy hears, grow together.
#[test]
fn graver_is_never_less() {
    let all = [
        Why::OnlyLooks,
        Why::UnknownCommand,
        Why::UnknownOption,
        Why::Construct,
        Why::Many,
        Why::Computed,
        Why::OddCharacters,
        Why::Environment,
        Why::Writes,
        Why::RunsFile,
        Why::ReadsOutside,
        Why::InProtected,
        Why::Sensitive,
        Why::WritesOutside,
        Why::WritesProtected,
        Why::Never,
    ];
    for pair in all.windows(2) {
        let [less, more] = pair else { panic!("two") };
        assert!(less < more && less.class() <= more.class());
        assert!(less.raise().map(|raise| raise.verdict) <= more.raise().map(|raise| raise.verdict));
    }
}

/// Relative words are relative to where a command runs, and some directories say enough by themselves.
#[test]
fn where_a_command_runs_is_a_part_of_what_it_names() {
    let judged = |workdir: &str, script: &str| {
        let base = Base { root: "/ws", workdir };
        let argv: Vec<String> = script.split(' ').map(str::to_owned).collect();
        let judgement = judge_script(script, base).expect("read");
        if judgement.class() == Class::Low {
            assert_eq!(judge_argv(&argv, base).expect("read").why, judgement.why, "{script:?}");
        }
        judgement.why
    };
    for (workdir, script, why) in [
        (".", "cat config", Why::OnlyLooks),
        ("src", "cat config", Why::OnlyLooks),
        (".ssh", "cat config", Why::Sensitive),
        ("a/.SSH", "ls", Why::Sensitive),
        (".git", "cat config", Why::Sensitive),
        (".config", "ls gcloud", Why::Sensitive),
        (".config", "ls other", Why::OnlyLooks),
        (".git/hooks", "ls", Why::InProtected),
        (".git/hooks", "python3 x.py", Why::InProtected),
        (".git/hooks", "echo x > pre-commit", Why::WritesProtected),
        (".git/hooks", "tee pre-commit", Why::WritesProtected),
        (".git/hooks", "cd x; touch pre-commit", Why::WritesProtected),
        (".git/hooks", "echo x > /dev/null", Why::InProtected),
        ("a", "touch ../.git/x", Why::WritesProtected),
        ("a", "cd .. && touch x", Why::Writes),
        ("a", "cd /ws/b && touch x", Why::Writes),
    ] {
        assert_eq!(judged(workdir, script), why, "{workdir}: {script}");
    }
    let many: String = (0..40).map(|number| format!("cd d{number};")).collect();
    assert_eq!(judge_script(&many, BASE), Err(Unread::TooMany));
}

/// A shell that reads its commands, and a command that is put together, are names that nobody can read.
#[test]
fn what_is_read_when_it_runs_is_unknown() {
    for script in [
        "echo 'curl x' | sh",
        "printf 'curl x' | bash -s",
        "echo x | bash -xs a",
        "echo x | bash -",
        "echo x | bash /dev/stdin",
        "echo x | bash -o posix",
        "echo x | sudo sh",
        "echo x | env A=1 timeout 5 zsh",
        "echo x | busybox sh",
        "bash < f",
        "source /dev/stdin < f",
        ". <(cat f)",
        "bash <(cat f)",
        "echo curl | xargs -I{} {} x",
        "echo curl | xargs -I% % x",
        "echo curl | xargs --replace=R env R x",
        "echo curl x | xargs env",
        "echo curl x | xargs timeout 5",
        "echo 'curl x' | xargs -0 sh -c",
        "echo curl | xargs -I X sh -c 'X x'",
        "echo curl x | parallel",
        "find . -exec {} x ';'",
        "find . -exec sh {} ';'",
    ] {
        assert!(judge_script(script, BASE).expect("read").unknown, "{script:?}");
    }
    for script in [
        "bash f",
        "bash -c ls",
        "sh <<'E'\nls\nE",
        "echo x | xargs rm",
        "ls | cat",
        "find . -exec rm {} ';'",
        "bash -e f -s",
    ] {
        assert!(!judge_script(script, BASE).expect("read").unknown, "{script:?}");
    }
    let argv = ["find", ".", "-exec", "{}", ";"].map(str::to_owned);
    assert!(judge_argv(&argv, BASE).expect("read").unknown);
}

fn any_row() -> impl Strategy<Value = String> {
    let scripts: Vec<String> = rows().map(|(_, script)| script).collect();
    prop::sample::select(scripts)
}

/// Pieces of the shell's language, so that random text often means something.
fn pieces() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "ls", "rm", "x", "reboot", " ", " ", ";", "\n", "&&", "||", "|", "&", "(", ")", "{", "}", "$(", "`", "\"", "'",
        "\\", "$", "${", "}", "<<E\n", "E\n", ">", "<", "if", "then", "fi", "case", "in", "esac", "do", "done", "for",
        "[[", "]]", "((", "))", "#", "=", "a=1", "-c", "bash", "env", "git", "~", "*", "\u{1b}[", "ａ", "\u{200b}",
        "$'", "\\x62", "find", "-exec", "--",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// A command beside another one lowers nothing, on either side and whatever joins them.
    #[test]
    fn adding_a_command_never_lowers(one in any_row(), other in any_row(), by in prop::sample::select(&["\n", " ; ", " && ", " || ", " | "][..])) {
        // A here-document must end its line, and a comment takes what follows it.
        prop_assume!(!one.contains("<<") && !one.contains('#') && !one.trim_end().ends_with([';', '&']));
        let both = class(&format!("{one}{by}{other}"));
        prop_assert!(both >= class(&one), "{one:?} {by:?} {other:?}");
        prop_assert!(both >= class(&other), "{one:?} {by:?} {other:?}");
    }

    /// Whatever is put around a command lowers nothing.
    #[test]
    fn wrapping_never_lowers(script in any_row(), at in 0_usize..13) {
        prop_assume!(!script.contains("<<") && !script.contains('#'));
        let inner = quoted(&script);
        let wrapped = match at {
            0 => format!("({script}\n)"),
            1 => format!("{{ {script}\n}}"),
            2 => format!("bash -c {inner}"),
            3 => format!("env bash -c {inner}"),
            4 => format!("timeout 5 sh -c {inner}"),
            5 => format!("echo $({script}\n)"),
            6 => format!("if true; then {script}\nfi"),
            7 => format!("f() {{ {script}\n}}"),
            8 => format!("eval {inner}"),
            9 => format!("for i in 1; do {script}\ndone"),
            10 => format!("cat <(\n{script}\n)"),
            11 => format!("cd src\n{script}"),
            _ => format!("case a in a) {script}\n;; esac"),
        };
        prop_assert!(class(&wrapped) >= class(&script), "{wrapped:?}");
        prop_assert!(class(&wrapped) > Class::Low, "{wrapped:?}");
    }

    /// Nothing counts for less in a directory than in the root, and in one that is protected or secret nothing only looks.
    #[test]
    fn a_directory_never_lowers(script in any_row(), workdir in prop::sample::select(&["src", "a/b", ".git", ".ssh", "secrets"][..])) {
        let judged = |workdir| judge_script(&script, Base { root: "/ws", workdir }).map_or(Why::Never, |judgement| judgement.why);
        prop_assert!(judged(workdir) >= judged("."), "{workdir}: {script:?}");
        prop_assert!(judged(workdir) > Why::OnlyLooks || workdir.starts_with(['s', 'a']) && workdir != "secrets", "{workdir}: {script:?}");
    }

    /// Any text ends in an answer, and a plain script is one that another reading of its words gives again.
    #[test]
    fn any_text_is_judged_and_plain_words_come_back(script in pieces()) {
        let judged = judge_script(&script, BASE);
        if let (Ok(read), Ok(judged)) = (Script::read(&script), &judged)
            && read.plain()
            && !read.commands.is_empty()
        {
            let again: Vec<String> = read.commands.iter().map(|simple| {
                simple.words.iter().map(|word| quoted(&word.text)).collect::<Vec<_>>().join(" ")
            }).collect();
            let again = Script::read(&again.join("\n")).expect("quoted words are read");
            let words = |script: &Script| script.commands.iter().map(|simple| {
                simple.words.iter().map(|word| word.text.clone()).collect::<Vec<_>>()
            }).collect::<Vec<_>>();
            prop_assert_eq!(words(&read), words(&again));
            prop_assert!(judged.segments.len() >= read.commands.len().min(1));
        }
    }

    #[test]
    fn any_words_are_judged(argv in prop::collection::vec(pieces(), 0..6)) {
        if let Ok(judgement) = judge_argv(&argv, BASE) {
            prop_assert!(argv.is_empty() || judgement.commands().any(|command| command == argv));
        }
    }
}

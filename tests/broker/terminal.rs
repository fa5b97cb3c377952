//! Commands: what is said before one runs, what it reaches, and what is left of it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use capability_core::Code;
use capability_core::executor::Effect;
use serde_json::{Value, json};

use super::lab::Lab;

pub const EXEC: &str = "terminal.exec";

fn lab() -> Lab {
    Lab::isolated(&[], &[])
}

async fn run(lab: &Lab, arguments: Value) -> Value {
    lab.said(EXEC, arguments).await.unwrap_or_else(|word| panic!("{word}"))
}

/// What a script writes to its standard output.
async fn out(lab: &Lab, script: &str) -> String {
    let result = run(lab, json!({ "script": script })).await;
    assert_eq!(result["ended"], "exited", "{script}: {result}");
    result["stdout"]["text"].as_str().expect("a text").to_owned()
}

/// Whether a process with this word among its own is there.
pub fn alive(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    processes.into_iter().any(|process| {
        let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        words.split(|b| *b == 0).any(|own| own == word.as_bytes())
    })
}

fn homes() -> usize {
    let all = std::fs::read_dir(std::env::temp_dir()).expect("a directory").flatten();
    all.filter(|entry| entry.file_name().to_string_lossy().starts_with("capability-")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_runs_in_the_workspace_once_a_person_has_said_yes() {
    let lab = lab();
    std::fs::create_dir(lab.workspace().join("src")).expect("a directory");
    let waiting = lab.invoke(EXEC, json!({ "argv": ["touch", "made"], "workdir": "src" })).await;
    let id = waiting.approval().expect("it waits");
    assert!(!lab.workspace().join("src/made").exists(), "nobody has answered");
    lab.approve(id).await;
    let outcome = lab.executor.resume(&lab.session, id).await;
    assert!(outcome.result().is_some(), "{outcome:?}");
    assert!(lab.workspace().join("src/made").exists());

    let result = run(&lab, json!({ "script": "echo out; echo err >&2; exit 3" })).await;
    assert_eq!((&result["ended"], &result["status"]), (&json!("exited"), &json!(3)), "{result}");
    assert_eq!((&result["stdout"]["text"], &result["stderr"]["text"]), (&json!("out\n"), &json!("err\n")));
    let result = run(&lab, json!({ "argv": ["no-such-program"] })).await;
    assert_eq!(result["ended"], "not_started");
    let result = run(&lab, json!({ "script": "kill -TERM $$" })).await;
    assert_eq!((&result["ended"], &result["status"]), (&json!("signalled"), &json!(15)));
    // Words are no script.
    let result = run(&lab, json!({ "argv": ["echo", "$HOME; `id`", "*"] })).await;
    assert_eq!(result["stdout"]["text"], "$HOME; `id` *\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_has_the_variables_it_was_given_and_a_home_that_goes_with_it() {
    let lab = lab();
    let result = run(&lab, json!({ "argv": ["env"], "env": [{ "name": "GREETING", "value": "hello" }] })).await;
    let text = result["stdout"]["text"].as_str().expect("a text");
    let mut names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.sort_unstable();
    assert_eq!(names, ["GREETING", "HOME", "LANG", "PATH", "TERM", "TMPDIR"], "{text}");
    let home = out(&lab, "cd && touch x \"$TMPDIR/y\" && stat -c %a . && pwd").await;
    let (mode, home) = home.trim().split_once('\n').expect("two lines");
    assert_eq!(mode, "700");
    assert!(!std::path::Path::new(home).exists(), "it is gone: {home}");
    for name in ["PATH", "LD_PRELOAD", "BASH_ENV", "HOME"] {
        let outcome = lab.invoke(EXEC, json!({ "argv": ["env"], "env": [{ "name": name, "value": "x" }] })).await;
        assert_eq!(outcome.code(), Some(Code::CheckRefused), "{name}");
    }
    // There is no terminal, and nothing to read.
    assert_eq!(out(&lab, "cat; tty; : </dev/tty || echo none").await, "not a tty\nnone\n");
}

/// Everything that a command tries besides its work fails, and says so to it.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_reaches_nothing_but_the_workspace_and_what_the_system_has() {
    let lab = lab();
    std::fs::write(lab.outside().join("outside"), "secret").expect("a file");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (host, outside) = (std::process::id(), lab.outside().join("outside").display().to_string());
    let tries = [
        format!("cat '{outside}'"),
        "cat link".to_owned(),
        format!("cat 'x' > '{outside}'"),
        format!("ln '{outside}' here && cat here"),
        "cat /etc/shadow".to_owned(),
        "ls /root".to_owned(),
        "ls /tmp".to_owned(),
        "echo x > /etc/x".to_owned(),
        "python3 -c 'open(\"/etc/capability-was-here\", \"w\")'".to_owned(),
        format!("python3 -c 'open(\"{outside}\", \"w\")'"),
        format!("python3 -c 'import os; os.symlink(\"{outside}\", \"there\"); open(\"there\").read()'"),
        "echo x > /usr/x".to_owned(),
        format!("exec 3<>/dev/tcp/127.0.0.1/{port}"),
        format!("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 1)'"),
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'".to_owned(),
        "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)'".to_owned(),
        format!("kill -0 {host}"),
        format!("cat /proc/{host}/environ"),
        format!("python3 -c 'import resource; resource.prlimit({host}, resource.RLIMIT_NOFILE)'"),
        format!("python3 -c 'import os; os.sched_setaffinity({host}, [0])'"),
        format!("python3 -c 'import os; os.setpriority(os.PRIO_PROCESS, {host}, 5)'"),
        "mount -t tmpfs none .".to_owned(),
        "unshare -U true".to_owned(),
        "mknod x c 1 3".to_owned(),
        "chroot / true".to_owned(),
        "cat /proc/1/environ | tr -d '\\0' | grep -a SECRET".to_owned(),
    ];
    for attempts in tries.chunks(7) {
        // As many as a turn has room for.
        let lab = Lab::isolated(&[], &[]);
        std::os::unix::fs::symlink(&outside, lab.workspace().join("link")).expect("a link");
        assert_eq!(
            out(&lab, "(python3 -c 'open(\"x\", \"w\")') && echo REACHED").await,
            "REACHED\n",
            "what is allowed is"
        );
        for attempt in attempts {
            // A denial comes before the kernel where the guard sees what is meant.
            let outcome = lab.run(EXEC, json!({ "script": format!("({attempt}) && echo REACHED") })).await;
            match outcome.result() {
                Some(result) => assert!(!result.contains("REACHED"), "{attempt}: {result}"),
                None => assert_eq!(outcome.effect(), Effect::NotStarted, "{attempt}: {outcome:?}"),
            }
        }
    }
    assert_eq!(std::fs::read_to_string(lab.outside().join("outside")).expect("it is there"), "secret");
    assert_eq!(out(&lab, "ls /sys /dev/shm /run 2>/dev/null | wc -l").await.trim(), "0");
    if out(&lab, "cat /proc/self/status | wc -l").await.trim() == "0" {
        // Without namespaces there is no view of its own processes alone, and so none at all.
        assert_eq!(run(&lab, json!({ "argv": ["true"] })).await["own_processes"], false);
        return;
    }
    assert_eq!(
        out(&lab, "grep CapEff /proc/self/status | cut -f2; grep NoNewPrivs /proc/self/status | cut -f2").await,
        "0000000000000000\n1\n"
    );
    assert_eq!(out(&lab, "ls /proc/self/fd | wc -l").await.trim(), "4", "0, 1, 2, and the directory that is listed");
}

/// The end of the program is the end of the command, whoever else still holds its outputs.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_ends_with_its_program_and_nothing_of_it_is_left() {
    let lab = lab();
    let word = format!("57{:09}", std::process::id());
    let began = Instant::now();
    let result = run(&lab, json!({ "script": format!("sleep {word} & setsid sleep {word} & (trap '' TERM HUP; sleep {word}) & echo done"), "timeout": 100 })).await;
    assert_eq!((&result["ended"], &result["stdout"]["text"]), (&json!("exited"), &json!("done\n")), "{result}");
    assert!(began.elapsed() < Duration::from_secs(60));
    assert!(!alive(&word), "what it had started is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_takes_too_long_is_ended_with_everything_it_started() {
    let lab = lab();
    let word = format!("58{:09}", std::process::id());
    let result = run(&lab, json!({ "script": format!("echo begun; trap '' TERM; setsid sleep {word} & sleep {word}; sleep {word}"), "timeout": 1 })).await;
    assert_eq!(
        (&result["ended"], &result["status"], &result["stdout"]["text"]),
        (&json!("timed_out"), &json!(null), &json!("begun\n"))
    );
    assert!(!alive(&word));
}

/// A command can hold the pipe of its output from inside the kernel, and whoever reads at the other end waits then, whatever the pipe
/// says. That is whatever takes this output in, and nobody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_command_that_holds_its_output_holds_nobody_else() {
    let lab = lab();
    let longest = Arc::new(Mutex::new(Duration::ZERO));
    let seen = Arc::clone(&longest);
    let looking = tokio::spawn(async move {
        loop {
            let before = Instant::now();
            tokio::time::sleep(Duration::from_millis(20)).await;
            let mut seen = seen.lock().expect("no panic");
            *seen = seen.max(before.elapsed());
        }
    });
    let holding = "import os, socket; ours, theirs = socket.socketpair(); os.write(1, b'begun\\n'); os.splice(ours.fileno(), 1, 9)";
    let result = run(&lab, json!({ "argv": ["python3", "-c", holding], "timeout": 8 })).await;
    looking.abort();
    assert_eq!((&result["ended"], &result["stdout"]["text"]), (&json!("timed_out"), &json!("begun\n")), "{result}");
    let longest = *longest.lock().expect("no panic");
    assert!(longest < Duration::from_secs(4), "everything waited for it: {longest:?}");
}

/// A caller that goes away takes its command along.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_command_leaves_no_process_and_no_directory() {
    let lab = lab();
    let word = format!("59{:09}", std::process::id());
    let before = homes();
    let arguments = json!({ "script": format!("touch begun; setsid sleep {word} & sleep {word}"), "timeout": 200 });
    let waiting = lab.invoke(EXEC, arguments).await;
    let id = waiting.approval().expect("it waits");
    lab.approve(id).await;
    let running = lab.executor.resume(&lab.session, id);
    let begun = async {
        while !lab.workspace().join("begun").exists() || !alive(&word) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        outcome = running => panic!("it ended: {outcome:?}"),
        () = begun => {}
    }
    let gone = async {
        while alive(&word) || homes() > before {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("nothing is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_of_any_length_is_told_by_its_ends() {
    let lab = lab();
    let result = run(&lab, json!({ "script": "seq 1 200000" })).await;
    let (text, end) =
        (result["stdout"]["text"].as_str().expect("text"), result["stdout"]["end"].as_str().expect("an end"));
    assert!(text.starts_with("1\n2\n3\n") && end.ends_with("\n199999\n200000\n"), "{result}");
    let whole: usize = (1..=200_000_usize).map(|number| number.to_string().len() + 1).sum();
    let left_out = usize::try_from(result["stdout"]["left_out"].as_u64().expect("a number")).expect("it fits");
    assert_eq!(text.len() + end.len() + left_out, whole);
}

/// What is written is taken in as it comes: a hundred MiB end as fast as they are read, and of a command that is slower than its time
/// everything is there that it had written.
#[tokio::test(flavor = "multi_thread")]
async fn outputs_of_a_hundred_mebibytes_and_slow_ones_are_taken_in_as_they_come() {
    let lab = lab();
    let result =
        run(&lab, json!({ "script": "head -c 104857600 /dev/zero | tr '\\0' q; echo end >&2", "timeout": 200 })).await;
    assert_eq!((&result["ended"], &result["status"]), (&json!("exited"), &json!(0)), "{}", result["ended"]);
    let kept = "q".repeat(24 << 10);
    assert_eq!((&result["stdout"]["text"], &result["stdout"]["end"]), (&json!(kept), &json!(kept)));
    assert_eq!(result["stdout"]["left_out"], (100 << 20) - 2 * (24 << 10));
    assert_eq!(result["stderr"]["text"], "end\n");

    let slow = "for i in $(seq 1 1000); do printf \"$i \"; printf . >&2; sleep 0.1; done";
    let result = run(&lab, json!({ "script": slow, "timeout": 3 })).await;
    assert_eq!(result["ended"], "timed_out");
    let (text, dots) =
        (result["stdout"]["text"].as_str().expect("text"), result["stderr"]["text"].as_str().expect("text"));
    assert!(text.starts_with("1 2 3 ") && dots.starts_with("..."), "{result}");
}

/// Where one command goes, the next one does not find itself; and a directory that is no more is no place to run in.
#[tokio::test(flavor = "multi_thread")]
async fn where_a_command_runs_is_chosen_for_it_alone() {
    let lab = lab();
    std::fs::create_dir_all(lab.workspace().join("a/b")).expect("directories");
    let root = out(&lab, "pwd").await;
    let result = run(&lab, json!({ "script": "pwd; cd b; export LATER=1", "workdir": "a" })).await;
    assert_eq!(result["stdout"]["text"], format!("{}/a\n", root.trim()));
    assert_eq!(out(&lab, "pwd; echo \"${LATER-none}\"").await, format!("{root}none\n"));
    let outside = lab.outside().join("elsewhere");
    std::fs::create_dir(&outside).expect("a directory");
    std::os::unix::fs::symlink(&outside, lab.workspace().join("link")).expect("a link");
    for workdir in ["link", "a/../..", "/", "a/b/c"] {
        let outcome = lab.invoke(EXEC, json!({ "argv": ["pwd"], "workdir": workdir })).await;
        assert_eq!(outcome.code(), Some(Code::PrepareFailed), "{workdir}: {outcome:?}");
    }
}

/// A process that leaves its parent, its session and its outputs is still the command's.
#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_ends_with_the_command_that_made_it() {
    let lab = lab();
    let word = format!("61{:09}", std::process::id());
    let script = format!("{}; test -e up && echo done", daemon(&word));
    assert_eq!(out(&lab, &script).await, "done\n");
    assert!(!alive(&word));
}

/// Python that becomes a daemon in the way that daemons do: it forks twice, closes what it has, and makes the file `up`.
pub fn daemon(word: &str) -> String {
    format!(
        "python3 -c 'import os, sys, time\nif os.fork():\n while not os.path.exists(\"up\"): time.sleep(0.01)\n os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\nos.closerange(0, 3)\nopen(\"up\", \"w\")\nos.execvp(\"sleep\", [\"sleep\", \"{word}\"])'"
    )
}

/// A bomb of processes ends with the command, and the machine does not notice where the kernel counts.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_multiplies_is_ended_as_a_whole() {
    let lab = lab();
    let word = format!("60{:09}", std::process::id());
    let script = format!("for i in $(seq 1 100); do (setsid sleep {word} &) ; done; sleep {word}");
    let result = run(&lab, json!({ "script": script, "timeout": 3 })).await;
    assert_eq!(result["ended"], "timed_out", "{result}");
    assert!(!alive(&word));
}

/// The measure of the guard's reading is the shell that reads the script in the end: what counts as plain words are the words that
/// `bash` passes on, and no others.
#[test]
fn what_is_read_as_plain_words_is_what_bash_passes_on() {
    use capabilities::terminal::guard::Script;
    const PIECES: &[&str] = &[
        "a", "b", "x1", " ", " ", "\t", ";", "\n", "&&", "||", "|", "'", "\"", "\\", "'q r'", "\"d e\"", "-c", "--",
        "=", "~", "*", "?", "[", "]", "{", "}", ",", "#", "!", "$", "%", "^", ":", ".", "@", "+", "ä", "\\\n", "/",
        "if", "a=1", "(", ")", "<", ">", "&", "`",
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below).expect("small")).expect("small")
    };
    // Whatever is asked for is not found, and its words are put down instead.
    let before = "command_not_found_handle() { printf '%s\\0' \"$@\" >>\"$TOLD\"; }\n";
    let empty = tempfile::tempdir().expect("a directory");
    let mut compared = 0;
    while compared < 300 {
        let script: String = (0..random(9) + 1).map(|_| PIECES[random(PIECES.len())]).collect();
        let Ok(read) = Script::read(&script) else { continue };
        // What stands behind a command that failed does not run, so one command at a time.
        let [simple] = read.commands.as_slice() else { continue };
        let words: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
        // Commands of the shell's own are found, and so is what has a path.
        if !read.plain()
            || words[0].contains('/')
            || words[0].starts_with('%')
            || matches!(words[0], "" | ":" | "." | "[")
        {
            continue;
        }
        let told = empty.path().join("told");
        std::fs::write(&told, "").expect("a file");
        let ended = std::process::Command::new("/bin/bash")
            .args(["--noprofile", "--norc", "-c", &format!("{before}{script}\n")])
            .env_clear()
            .envs([("PATH", "/nowhere"), ("LANG", "C.UTF-8")])
            .env("TOLD", &told)
            .current_dir(empty.path())
            .stdin(std::process::Stdio::null())
            .output();
        let ended = ended.expect("this machine has bash");
        let passed = std::fs::read_to_string(&told).expect("text");
        let passed: Vec<&str> = passed.split_terminator('\0').collect();
        if passed.is_empty() && ended.status.code() == Some(2) {
            // What `bash` does not understand it does not run.
            continue;
        }
        assert_eq!(passed, words, "{script:?}");
        compared += 1;
    }
}

/// Before anybody is asked: what is refused, and by whom.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_never_run_is_refused_before_anybody_is_asked() {
    let lab = lab();
    for directory in [".git/hooks", ".ssh", "src"] {
        std::fs::create_dir_all(lab.workspace().join(directory)).expect("a directory");
    }
    for (arguments, code) in [
        (json!({ "argv": ["git", "sta\rtus"] }), Code::CheckRefused),
        (json!({ "script": "git status \"" }), Code::CheckRefused),
        (json!({ "argv": ["ls"], "script": "ls" }), Code::CheckRefused),
        (json!({}), Code::CheckRefused),
        (json!({ "argv": [""] }), Code::CheckRefused),
        (json!({ "argv": ["ls"], "workdir": "../x" }), Code::PrepareFailed),
        (json!({ "argv": ["ls"], "workdir": "gone" }), Code::PrepareFailed),
        (json!({ "script": "sudo reboot" }), Code::GuardBlock),
        (json!({ "argv": ["bash", "-c", "rm -rf /"] }), Code::GuardBlock),
        (json!({ "script": "echo x > .git/hooks/pre-commit" }), Code::ProtectedPath),
        (json!({ "script": "git show > ~/.ssh/id_rsa" }), Code::ProtectedPath),
        (json!({ "argv": ["git", "log", "--output=/ws/../home/u/.bashrc"] }), Code::ProtectedPath),
        (json!({ "script": "echo x > ../x" }), Code::OutsideWorkspace),
        (json!({ "workdir": ".git/hooks", "script": "echo x > pre-commit" }), Code::ProtectedPath),
        (json!({ "workdir": ".git/hooks", "argv": ["tee", "pre-commit"] }), Code::ProtectedPath),
        (json!({ "script": "cd .git/hooks && echo x > pre-commit" }), Code::ProtectedPath),
        (json!({ "workdir": "src", "script": "cd ../.git && touch hooks/x" }), Code::ProtectedPath),
    ] {
        let outcome = lab.invoke(EXEC, arguments.clone()).await;
        assert_eq!((outcome.code(), outcome.effect()), (Some(code), Effect::NotStarted), "{arguments}: {outcome:?}");
    }
    // What only looks where secrets are is not what only looks, and whoever is asked is told.
    for (arguments, why) in [
        (json!({ "workdir": ".ssh", "argv": ["cat", "config"] }), "high: names a path that often holds secrets"),
        (json!({ "script": "cd .ssh && cat config" }), "high: names a path that often holds secrets"),
        (json!({ "workdir": ".git/hooks", "argv": ["ls"] }), "high: runs where nothing may be changed"),
    ] {
        let waiting = lab.invoke(EXEC, arguments.clone()).await;
        let shown = lab.preview(waiting.approval().expect("it waits")).await;
        assert!(shown.starts_with(why), "{arguments}: {shown}");
    }
}

/// A rule about paths is held against the directory that a command runs in.
#[tokio::test(flavor = "multi_thread")]
async fn a_rule_about_a_path_holds_for_where_a_command_runs() {
    let lab = lab();
    std::fs::create_dir_all(lab.workspace().join("private/deep")).expect("a directory");
    std::fs::create_dir_all(lab.workspace().join("public")).expect("a directory");
    lab.rules(
        "[[rule]]\nid = \"no\"\neffect = \"deny\"\nreason = \"not here\"\ncapability = \"*\"\ntarget = { path = \"private/**\" }\n",
    );
    for workdir in ["private", "private/deep"] {
        for background in [false, true] {
            lab.broker.stay();
            let outcome =
                lab.invoke(EXEC, json!({ "argv": ["ls"], "workdir": workdir, "background": background })).await;
            assert_eq!((outcome.approval(), outcome.effect()), (None, Effect::NotStarted), "{outcome:?}");
            assert!(outcome.message().is_some_and(|told| told.contains("a rule denies the directory")), "{outcome:?}");
        }
    }
    assert!(lab.invoke(EXEC, json!({ "argv": ["ls"], "workdir": "public" })).await.approval().is_some());
}

/// An operator's rule is held against every command that would run, whatever stands around it.
#[tokio::test(flavor = "multi_thread")]
async fn a_rule_about_a_command_holds_wherever_the_command_stands() {
    let lab = lab();
    let deny = |program: &str| {
        format!(
            "[[rule]]\nid = \"no\"\neffect = \"deny\"\nreason = \"not here\"\ncapability = \"terminal.exec\"\ntarget = {{ argv = [\"{program}\", \"**\"] }}\n"
        )
    };
    for (program, calls) in [
        (
            "rm",
            vec![
                json!({ "script": "echo `rm x`" }),
                json!({ "script": "(rm x)" }),
                json!({ "script": "git status\nrm x" }),
                json!({ "argv": ["find", ".", "-exec", "rm", "{}", ";"] }),
            ],
        ),
        (
            "sudo",
            vec![
                json!({ "argv": ["/usr/bin/sudo", "-n", "id"] }),
                json!({ "script": "s\"u\"do id" }),
                json!({ "script": "sud\\o id" }),
                json!({ "script": "'sudo' id" }),
                json!({ "argv": ["timeout", "5", "nice", "sudo", "id"] }),
                json!({ "argv": ["env", "sudo", "id"] }),
                json!({ "argv": ["xargs", "sudo", "id"] }),
                json!({ "argv": ["nohup", "sudo", "id"] }),
                json!({ "argv": ["time", "sudo", "id"] }),
                json!({ "argv": ["stdbuf", "-oL", "sudo", "id"] }),
                json!({ "argv": ["watch", "sudo", "id"] }),
                json!({ "argv": ["bash", "-c", "sudo id"] }),
            ],
        ),
        ("curl", vec![json!({ "script": format!("{}curl http://x", "true;".repeat(50)) })]),
    ] {
        lab.rules(&deny(program));
        for arguments in calls {
            let outcome = lab.invoke(EXEC, arguments.clone()).await;
            assert_eq!(outcome.code(), Some(Code::RuleDeny), "{arguments}: {outcome:?}");
        }
        // A program that only begins alike is another one, and a quoted text names none.
        let other = lab.invoke(EXEC, json!({ "argv": [format!("{program}x"), program] })).await;
        assert!(other.approval().is_some(), "{other:?}");
        // A name that is only known when it runs cannot be held against the rule.
        for script in [
            "$PROGRAM id".to_owned(),
            format!("echo '{program} x' | sh"),
            format!("printf '{program} x' | bash -s"),
            "bash < f".to_owned(),
            format!("echo {program} | xargs -I{{}} {{}} x"),
            format!("echo {program} x | xargs env"),
        ] {
            let unknown = lab.invoke(EXEC, json!({ "script": script })).await;
            assert_eq!(unknown.code(), Some(Code::TargetUnjudged), "{script}");
        }
    }
}

/// A person sees every command with its class, where it would run, and what of the workspace it would run.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_answers_sees_every_command_and_what_it_rests_on() {
    let lab = lab();
    std::fs::write(lab.workspace().join("build.sh"), "echo one").expect("a file");
    let arguments =
        json!({ "script": "git status || bash build.sh", "env": [{ "name": "CI", "value": "hidden" }], "timeout": 7 });
    let id = lab.invoke(EXEC, arguments).await.approval().expect("it waits");
    let shown = lab.preview(id).await;
    for part in [
        "high: changes the environment",
        "  low   git status (only looks)\n",
        "  high  bash build.sh (",
        "in `.` (device ",
        "sets `CI`\n",
        "for 7 s at most\n",
        "runs `build.sh` of the workspace as it is now\n",
    ] {
        assert!(shown.contains(part), "{part:?} in {shown}");
    }
    assert!(!shown.contains("hidden"));
    lab.approve(id).await;
    // Whichever of a program's words is the file that it runs.
    for (words, file) in [
        (["python3", "-W", "ignore", "run.py"], "run.py"),
        (["node", "-r", "./a.js", "b.js"], "a.js"),
        (["perl", "-I", "lib", "x.pl"], "x.pl"),
    ] {
        std::fs::write(lab.workspace().join(file), "one").expect("a file");
        let pinned = lab.invoke(EXEC, json!({ "argv": words })).await.approval().expect("it waits");
        lab.approve(pinned).await;
        std::fs::write(lab.workspace().join(file), "two").expect("a file");
        let outcome = lab.executor.resume(&lab.session, pinned).await;
        assert_eq!(outcome.code(), Some(Code::ApprovalMismatch), "{words:?}: {outcome:?}");
    }
    // What would run is not what was approved, and then it is again.
    std::fs::write(lab.workspace().join("build.sh"), "echo two").expect("a file");
    assert_eq!(lab.executor.resume(&lab.session, id).await.code(), Some(Code::ApprovalMismatch));
    std::fs::write(lab.workspace().join("build.sh"), "echo one").expect("a file");
    let outcome = lab.executor.resume(&lab.session, id).await;
    assert!(outcome.result().is_some_and(|result| result.contains("one")), "{outcome:?}");
    assert_eq!(lab.executor.resume(&lab.session, id).await.code(), Some(Code::ApprovalConsumed), "once is once");

    // Another directory of the same name is another place.
    std::fs::create_dir(lab.workspace().join("a")).expect("a directory");
    let id = lab.invoke(EXEC, json!({ "argv": ["ls"], "workdir": "a" })).await.approval().expect("it waits");
    lab.approve(id).await;
    std::fs::create_dir(lab.workspace().join("b")).expect("a directory");
    std::fs::rename(lab.workspace().join("a"), lab.workspace().join("c")).expect("moved");
    std::fs::rename(lab.workspace().join("b"), lab.workspace().join("a")).expect("moved");
    assert_eq!(lab.executor.resume(&lab.session, id).await.code(), Some(Code::ApprovalMismatch));
}

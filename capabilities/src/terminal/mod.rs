//! Commands: what one would do, and running it.
//!
//! | capability | class | what it does |
//! |---|---|---|
//! | [`terminal.exec`](terminal_exec) | `mutating` + `local` | runs a command in the workspace, or begins one |
//! | [`terminal.list`](background::terminal_list) | `read_only` + `local` | lists those that run on |
//! | [`terminal.inspect`](background::terminal_inspect) | `read_only` + `local` | tells of one, and what it wrote |
//! | [`terminal.cancel`](background::terminal_cancel) | `read_only` + `local` | ends one |

pub mod background;
mod environment;
pub mod guard;
mod shown;

use std::fmt::Write as _;

use capability_core::handle::{
    BrokerFault, Command, Context, HowEnded, KeptOutput, MAX_READ_BYTES, Read, SecretUse, Terminal, Workspace,
    is_configured_name,
};
use capability_core::{Failure, Preview, capability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use environment::{is_settable, takes_a_secret};
use guard::{Base, Judgement, judge_argv, judge_script};

/// One variable of a command's environment.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Its name. Those that decide what runs, such as `PATH` and `LD_PRELOAD`, are not set.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// Its value.
    #[schemars(length(max = 8192))]
    pub value: String,
}

/// A secret that a command is given, for this one call.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundSecret {
    /// The variable that holds it. The subject declares it, as `secret.bind:DEPLOY_TOKEN`; none that decides what runs, such as
    /// `PATH`.
    #[schemars(length(min = 1, max = 128))]
    pub variable: String,
    /// The secret's name, as the operator configured it.
    #[schemars(length(min = 1, max = 32))]
    pub secret: String,
}

/// A command: either `argv`, which no shell reads, or `script`, which `bash` does.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Execution {
    /// The program and its arguments, word by word. No shell reads them.
    #[schemars(length(min = 1, max = 200))]
    pub argv: Option<Vec<String>>,
    /// A script for `bash`.
    #[schemars(length(min = 1, max = 16384))]
    pub script: Option<String>,
    /// Where it runs, relative to the workspace's root. The root itself when it is left out.
    #[schemars(length(min = 1, max = 1024))]
    pub workdir: Option<String>,
    /// Variables beside those that every command has.
    #[schemars(length(max = 64))]
    pub env: Option<Vec<Variable>>,
    /// Secrets that the command finds in variables. A person is asked each time; what it writes comes back without their values.
    #[schemars(length(max = 16))]
    pub secrets: Option<Vec<BoundSecret>>,
    /// How long it may run, in seconds: a minute when it is left out, and 290 at most. In the background ten minutes, and eight hours.
    #[schemars(range(min = 1, max = 28_800))]
    pub timeout: Option<u16>,
    /// Whether it runs on after the call.
    pub background: Option<bool>,
}

impl Execution {
    fn workdir(&self) -> &str {
        self.workdir.as_deref().unwrap_or(".")
    }

    fn seconds(&self) -> u16 {
        self.timeout.unwrap_or(if self.runs_on() { background::DEFAULT_SECONDS } else { DEFAULT_SECONDS })
    }

    /// Whether it runs on after the call. What may not be given to such a command is refused in [`makes_sense`].
    fn runs_on(&self) -> bool {
        self.background.unwrap_or_default()
    }

    fn judged(&self, root: &str) -> Result<Judgement, String> {
        let base = Base { root, workdir: self.workdir() };
        let judged = match (&self.argv, &self.script) {
            (Some(argv), _) => judge_argv(argv, base),
            (None, script) => judge_script(script.as_deref().unwrap_or_default(), base),
        };
        judged.map_err(|unread| unread.words().to_owned())
    }
}

/// What a command wrote.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    /// The beginning, all of it when it is short.
    pub text: String,
    /// The end, when there was too much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// How many bytes between the two are not shown.
    pub left_out: u64,
}

/// How a command ended, or that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// By itself: see its status.
    Exited,
    /// By a signal.
    Signalled,
    /// Its time was over. Whatever it had done by then is done.
    TimedOut,
    /// There is no such program, or it may not be run.
    NotStarted,
    /// It has not: it runs in the background.
    Running,
    /// It was in the background, and was ended by `terminal.cancel`.
    Cancelled,
    /// It was in the background, and the session that began it ended.
    SessionEnded,
    /// It was in the background, and the host stopped.
    HostStopped,
    /// It was in the background, and what kept it failed.
    Lost,
}

/// What came of a command.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CommandResult {
    /// How it ended.
    pub ended: Ended,
    /// Its status when it ended by itself; the signal's number when by one.
    pub status: Option<i32>,
    /// Its standard output.
    pub stdout: Written,
    /// Its standard error.
    pub stderr: Written,
    /// How long it ran, in milliseconds.
    pub ran_ms: u32,
    /// Whether its processes were kept in a namespace of their own, which ends as one.
    pub own_processes: bool,
    /// What it is called, when it was begun in the background: for `terminal.inspect` and `terminal.cancel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
}

/// Run a command in the workspace, without a network and without a terminal, and wait until it ends, or leave it running.
///
/// Give either `argv`, which no shell reads, or `script`, which `bash` does. The command sees the workspace and what the system
/// has installed; its home is empty and gone afterwards, and so is everything it started.
///
/// With `background` it runs on after the call, until its time is over, it is cancelled, or session or host end. `terminal.inspect` tells
/// what it wrote.
#[capability(
    name = "terminal.exec",
    version = 1,
    side_effect = mutating,
    network = local,
    title = "Run a command",
    bounds(timeout = "300s", max_result = "512 KiB", per_turn = 8),
    target = argv(argv),
    check = makes_sense,
    preview = what_would_run,
    risk = high
)]
pub async fn terminal_exec(
    context: &Context,
    terminal: &Terminal,
    _workspace: &Workspace<Read>,
    #[args] wanted: Execution,
) -> Result<CommandResult, Failure> {
    if wanted.runs_on() {
        return background::begun(terminal, wanted).await;
    }
    // Its own time ends before the call's, so that what it wrote is still told.
    let left = context.remaining().as_millis().saturating_sub(LAST_MS);
    let command = Command {
        timeout_ms: (u32::from(wanted.seconds()) * 1000).min(u32::try_from(left).unwrap_or(u32::MAX)).max(1),
        workdir: wanted.workdir().to_owned(),
        environment: wanted.env.unwrap_or_default().into_iter().map(|set| (set.name, set.value)).collect(),
        secrets: uses(wanted.secrets.as_deref()),
        argv: words(wanted.argv, wanted.script),
    };
    let end = terminal.run(command).await?;
    let (ended, status) = match end.how {
        HowEnded::Exited(status) => (Ended::Exited, Some(status)),
        HowEnded::Signalled(signal) => (Ended::Signalled, Some(signal)),
        HowEnded::TimedOut => (Ended::TimedOut, None),
        HowEnded::NotStarted => (Ended::NotStarted, None),
    };
    let written = |kept: KeptOutput| Written {
        text: kept.head,
        end: (kept.dropped > 0).then_some(kept.tail),
        left_out: kept.dropped,
    };
    Ok(CommandResult {
        ended,
        status,
        stdout: written(end.stdout),
        stderr: written(end.stderr),
        ran_ms: end.ran_ms,
        own_processes: end.held.processes,
        process: None,
    })
}

/// The longest that a command runs whose end is waited for, in seconds.
const MAX_SECONDS: u16 = 290;
/// How long a command runs that says nothing about it.
const DEFAULT_SECONDS: u16 = 60;
/// What of the call's time is kept for telling.
const LAST_MS: u128 = 2_000;

/// The secrets as the handle takes them.
fn uses(secrets: Option<&[BoundSecret]>) -> Vec<SecretUse> {
    let each = secrets.into_iter().flatten();
    each.map(|one| SecretUse { variable: one.variable.clone(), secret: one.secret.clone() }).collect()
}

/// What is run: the words as they are, or `bash` with the script.
fn words(argv: Option<Vec<String>>, script: Option<String>) -> Vec<String> {
    let shell = |script: String| {
        ["/bin/bash", "--noprofile", "--norc", "-c"].map(str::to_owned).into_iter().chain([script]).collect()
    };
    argv.or_else(|| script.map(shell)).unwrap_or_default()
}

fn makes_sense(wanted: &Execution) -> Result<(), String> {
    match (&wanted.argv, &wanted.script) {
        (Some(_), Some(_)) => return Err("both `argv` and `script` are given; give one of them".to_owned()),
        (None, None) => return Err("neither `argv` nor `script` is given; give one of them".to_owned()),
        (Some(argv), None) => {
            if argv.iter().any(|word| word.chars().any(char::is_control)) {
                let words = "a word of `argv` has a control character; text with line breaks goes into a `script`";
                return Err(words.to_owned());
            }
            if argv.first().is_none_or(String::is_empty) {
                return Err("the first word of `argv` is empty; it names the program".to_owned());
            }
        }
        (None, Some(_)) => {}
    }
    if wanted.seconds() > MAX_SECONDS && !wanted.runs_on() {
        return Err(
            "`timeout` is above 290 s, and the end of the command is waited for; give less, or `background`".to_owned()
        );
    }
    for set in wanted.env.iter().flatten() {
        is_settable(&set.name).map_err(str::to_owned)?;
    }
    let secrets = wanted.secrets.as_deref().unwrap_or_default();
    if wanted.runs_on() && !secrets.is_empty() {
        return Err("a command in the background is given no secret; leave out `secrets`, or `background`".to_owned());
    }
    for (at, one) in secrets.iter().enumerate() {
        takes_a_secret(&one.variable).map_err(str::to_owned)?;
        if !is_configured_name(&one.secret) {
            return Err("a name in `secrets` is no secret's; write it as the operator configured it".to_owned());
        }
        let set = wanted.env.iter().flatten().any(|set| set.name == one.variable);
        if set || secrets.iter().take(at).any(|other| other.variable == one.variable) {
            return Err("one variable is given two values; give it one, in `env` or in `secrets`".to_owned());
        }
    }
    wanted.judged("").map(drop)
}

async fn what_would_run(
    _context: &Context,
    terminal: &Terminal,
    workspace: &Workspace<Read>,
    wanted: &Execution,
) -> Result<Preview, Failure> {
    let workdir = wanted.workdir();
    let place = terminal.workdir(workdir).await.map_err(|fault| match fault {
        BrokerFault::RuleDenied => Failure::public(
            "a rule denies the directory that the command would run in\nhelp: name another `workdir`; an operator may change the rule",
        ),
        fault => fault.into(),
    })?;
    if wanted.runs_on() && !place.lasts {
        return Err(BrokerFault::NotLasting.into_public());
    }
    let root = place.root.clone().unwrap_or_default();
    let mut judgement = wanted.judged(&root).map_err(Failure::public)?;
    if wanted.env.as_ref().is_some_and(|env| !env.is_empty()) {
        judgement.why = judgement.why.max(guard::Why::Environment);
    }
    let mut text = shown::judgement(&judgement);
    let _ = writeln!(text, "in `{workdir}` (device {}, inode {})", place.device, place.inode);
    for set in wanted.env.iter().flatten() {
        let _ = writeln!(text, "sets `{}`", set.name);
    }
    for one in wanted.secrets.iter().flatten() {
        let _ = writeln!(text, "gives it the secret `{}` as `{}`", one.secret, one.variable);
    }
    let how = if wanted.runs_on() { "in the background, after this call too, " } else { "" };
    let _ = writeln!(text, "{how}for {} s at most", wanted.seconds());
    let mut rests_on = Vec::new();
    for path in shown::own_programs(&judgement, &root) {
        match workspace.read(&path, MAX_READ_BYTES).await {
            Ok(content) => {
                rests_on.push(Sha256::digest(&content).into());
                let _ = writeln!(text, "runs `{path}` of the workspace as it is now");
            }
            // It may be made by the command itself, or be no file at all: a person sees the command either way.
            Err(_) => {
                let _ = writeln!(
                    text,
                    "names `{path}`, which is no file of the workspace now, or one that is not looked at"
                );
            }
        }
    }
    let acts_on = shown::acts_on(&judgement, wanted.argv.as_deref(), wanted.script.as_deref());
    Ok(Preview { text, rests_on, raise: judgement.why.raise(), acts_on, secrets: uses(wanted.secrets.as_deref()) })
}

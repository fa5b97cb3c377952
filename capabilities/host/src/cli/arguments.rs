//! The words of the command line.

use std::num::NonZeroU32;
use std::path::PathBuf;

use capability_core::approval::{ApprovalId, DenialReason, GrantId};
use capability_core::audit::Receipt;
use capability_core::session::{Mode, Subject};
use capability_core::surface::Profile;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

use super::channel::{Channel, Inbox};
use super::mcp::Mcp;
use super::policy::{Explain, ReachArgs};
use super::providers::Providers;
use super::repositories::Repositories;
use super::reviews::{Reviews, State};
use super::schedules::Schedules;
use super::secrets::Secrets;
use super::self_model::SelfModelArgs;
use super::skills::Skills;
use crate::audit_log::VerifierKey;
use crate::config::Span;
use crate::service::MOST_ENTRIES;
use crate::subjects::SlotPath;

/// Capabilities: what a machine may ask for, and the one executor that every request passes.
#[derive(Debug, Parser)]
#[command(version, disable_help_subcommand = true, arg_required_else_help = true, after_help = EXIT_CODES)]
pub struct CommandLine {
    /// What applies everywhere.
    #[command(flatten)]
    pub everywhere: Everywhere,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 2 usage, 3 pending a person's answer, 4 refused (rejected, denied, expired, \
cancelled), 5 the call started and ended otherwise, 6 the host or its audit log cannot do its work, 130 interrupted.\n\
`audit verify` has codes of its own: 0 clean, 1 tampered, 2 torn, 3 unanchored, 6 the log cannot be read.";

const VERIFY_CODES: &str = "Exit codes: 0 clean, 1 tampered, 2 torn, 3 unanchored, 6 the log cannot be read. The next start of \
the host sets a torn end aside, and signs what is unanchored. Also 1 when the receipt is not in the log.";

/// What applies to every command.
#[derive(Debug, Args)]
pub struct Everywhere {
    /// Print one JSON document and nothing else
    #[arg(long, global = true)]
    pub json: bool,
    /// Where the host keeps its state [default: the platform's state directory]
    #[arg(long, global = true, env = "CAPABILITY_DATA_DIR", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub data_dir: Option<PathBuf>,
    /// Prove to be an operator with the token in this file, written by `operator login --token-file`
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub operator_token_file: Option<PathBuf>,
    /// Run capabilities even where this machine's kernel does not hold them everywhere; every event says so then
    #[arg(long, global = true)]
    pub accept_degraded: bool,
}

/// Every command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List every capability of this build
    List,
    /// Show one capability: class, bounds, handles, schemas
    Describe {
        /// The name, with `@VERSION` for another version than the newest
        #[arg(value_name = "NAME[@V]")]
        capability: Named,
    },
    /// Ask for something
    Invoke(Invoke),
    /// Finish a call that waited for a person's answer
    Resume {
        /// The approval id that `invoke` gave
        id: ApprovalId,
        /// Wait for the answer first, when there is none yet
        #[arg(long)]
        wait: bool,
        /// For whom
        #[command(flatten)]
        caller: CallerArgs,
    },
    /// Show what you wrote down, and what operators did about your calls
    History {
        /// How many entries, at most 1000
        #[arg(short = 'n', long = "entries", default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_ENTRIES)))]
        count: u32,
        /// For whom
        #[command(flatten)]
        caller: CallerArgs,
    },
    /// See and answer what waits for a person (operators)
    #[command(subcommand)]
    Approvals(Approvals),
    /// See and take back standing answers (operators)
    #[command(subcommand)]
    Grants(Grants),
    /// See and set which families may reach outside the device
    #[command(subcommand)]
    Optin(OptIn),
    /// Read and erase what subjects wrote into their journals (operators)
    #[command(subcommand)]
    Journal(Journal),
    /// Erase results that their sessions could have again (operators)
    #[command(subcommand)]
    Results(Results),
    /// Show what came in from outside for a subject: untrusted text
    Inbox(Inbox),
    /// Take in mail, and let somebody at a channel answer
    #[command(subcommand)]
    Channel(Channel),
    /// See and close what subjects left for people to look at (operators)
    #[command(subcommand)]
    Reviews(Reviews),
    /// Read and erase what subjects keep (operators)
    #[command(subcommand)]
    State(State),
    /// See and end the calls that are made at times (operators)
    #[command(subcommand)]
    Schedules(Schedules),
    /// See configured repositories, and fetch those that are elsewhere (operators)
    #[command(subcommand)]
    Repositories(Repositories),
    /// See where secrets come from and whether they can be used; never their values
    #[command(subcommand)]
    Secrets(Secrets),
    /// Check the operator's rules, see those in force, and ask questions about them
    #[command(subcommand)]
    Policy(Policy),
    /// See the servers whose tools can be called, connect to one, and accept what changed
    #[command(subcommand)]
    Providers(Providers),
    /// See packages of instructions, and take one into use as it is or out of it
    #[command(subcommand)]
    Skills(Skills),
    /// Tell what a subject can do now, what is asked first, and what is out of its reach and why
    SelfModel(SelfModelArgs),
    /// Show the tools that a model sees, as a provider of models takes them, and what that loses
    Surface {
        /// For whom it speaks
        #[arg(long, value_name = "NAME", default_value = "local")]
        subject: Subject,
        /// For which slot of that subject's agent
        #[arg(long, value_name = "SLOT", requires = "subject")]
        slot: Option<SlotPath>,
        /// As which provider takes them: mcp, openai, anthropic or gemini
        #[arg(long, value_name = "PROFILE", default_value = "mcp")]
        profile: Profile,
    },
    /// Set up and use the operator credential
    #[command(subcommand)]
    Operator(Operator),
    /// Read and verify the audit log
    #[command(subcommand)]
    Audit(Audit),
    /// Compare the capabilities with their checked-in contracts
    #[command(subcommand)]
    Contract(Contract),
    /// Check this host: directory, stores, log, credential, contracts, isolation
    Doctor {
        /// Also write a dated report into this directory
        #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "docs/research", value_hint = ValueHint::DirPath)]
        report: Option<PathBuf>,
        /// Show every way out of the sandbox that was tried, and what became of it
        #[arg(long)]
        ways: bool,
    },
    /// Own the data directory; serve other command lines, and the approval centre, until interrupted
    Serve {
        /// Leave the approval centre out
        #[arg(long)]
        no_web: bool,
        /// Leave the channels out: nothing comes in from outside
        #[arg(long)]
        no_channels: bool,
    },
    /// Speak MCP with the program that started this one, over standard input and output
    Mcp(Mcp),
    /// Log in to the approval centre (operators)
    #[command(subcommand)]
    Web(Web),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// A capability as people write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The dotted name.
    pub name: String,
    /// The version, when one was written.
    pub version: Option<NonZeroU32>,
}

impl std::str::FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, version) = match text.split_once('@') {
            None => (text, None),
            Some((name, version)) => {
                let version = version.strip_prefix('v').unwrap_or(version);
                (name, Some(version.parse().map_err(|_| "a version is a positive integer, as in `web.search@1`")?))
            }
        };
        if capability_core::contract::is_valid_name(name) {
            Ok(Self { name: name.to_owned(), version })
        } else {
            Err("a name has two or more dotted parts of a-z, 0-9 and _, as in `system.health`".into())
        }
    }
}

/// `invoke`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("payload").multiple(false))]
pub struct Invoke {
    /// The name, with `@VERSION` for another version than the newest
    #[arg(value_name = "NAME[@V]")]
    pub capability: Named,
    /// The arguments: a JSON object, or `-` to read one from standard input
    #[arg(value_name = "JSON|-", group = "payload")]
    pub arguments: Option<String>,
    /// One argument; the value is JSON, or text where it is not. May be repeated
    #[arg(long = "arg", value_name = "KEY=VALUE", group = "payload")]
    pub arg: Vec<String>,
    /// Why: shown to whoever answers, as your claim
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// On what grounds: shown to whoever answers, as your claim
    #[arg(long, value_name = "TEXT")]
    pub evidence: Option<String>,
    /// The entry of the subject's inbox because of which it is asked: in that entry's session and turn
    #[arg(long, value_name = "N", requires = "subject", conflicts_with = "turn")]
    pub entry: Option<i64>,
    /// Where a person must answer, wait for the answer elsewhere, and finish by itself
    #[arg(long)]
    pub wait: bool,
    /// A configured server with `scope = "request"` that this call has of its own: connected before it, and ended after it. May be
    /// repeated; where nobody answers here, it waits
    #[arg(long = "with", value_name = "SERVER", conflicts_with = "entry")]
    pub with: Vec<String>,
    /// For whom
    #[command(flatten)]
    pub caller: CallerArgs,
}

/// For whom a call is made.
#[derive(Debug, Args)]
pub struct CallerArgs {
    /// Another subject than the local one; needs the operator credential
    #[arg(long, value_name = "NAME")]
    pub subject: Option<Subject>,
    /// The slot of that subject's agent that a component stands in
    #[arg(long, value_name = "SLOT", requires = "subject")]
    pub slot: Option<SlotPath>,
    /// A turn number that several calls share: caps per turn count by it
    #[arg(long, value_name = "N")]
    pub turn: Option<u64>,
    /// A stricter mode than the ordinary one
    #[arg(long, value_name = "MODE")]
    pub mode: Option<ModeArg>,
}

/// The modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// The ordinary mode
    Live,
    /// Only what is read-only and local
    Plan,
    /// Nothing at all
    Dream,
    /// Nothing at all
    Replay,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Live => Self::Live,
            ModeArg::Plan => Self::Plan,
            ModeArg::Dream => Self::Dream,
            ModeArg::Replay => Self::Replay,
        }
    }
}

/// `approvals`.
#[derive(Debug, Subcommand)]
pub enum Approvals {
    /// List what waits for an answer or for its run
    List,
    /// Show exactly what would run
    Show {
        /// Which
        id: ApprovalId,
    },
    /// Say yes to this very call, once
    Approve {
        /// Which
        id: ApprovalId,
        /// Say yes to its like as well, for a while: in the same session, for exactly what the card says
        #[arg(long, requires_all = ["lasting", "uses"])]
        session: bool,
        /// With `--session`: for how long, as in `10m`
        #[arg(long = "for", id = "lasting", value_name = "SPAN", requires = "session")]
        lasting: Option<Span>,
        /// With `--session`: how often, this call not counted
        #[arg(long, value_name = "N", requires = "session")]
        uses: Option<NonZeroU32>,
    },
    /// Say no, for good
    Deny {
        /// Which
        id: ApprovalId,
        /// Why: told to the proposer, and recorded
        #[arg(long, value_name = "REASON")]
        reason: Option<ReasonArg>,
        /// A sentence for the proposer; not recorded
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Put a call with other arguments in its place, approved: checked from the start, and refused when it is not right
    Edit {
        /// Which
        id: ApprovalId,
        /// Where the other arguments are: a file with a JSON object, or `-` for standard input
        #[arg(long, value_name = "FILE|-", default_value = "-", value_hint = ValueHint::FilePath)]
        arguments: PathBuf,
    },
    /// Show calls about which nobody is asked any more, because people kept saying no
    Loops {
        /// Forget the denials of this subject's calls, on record
        #[arg(long, value_name = "SUBJECT")]
        clear: Option<Subject>,
    },
    /// Erase what is retained of approved calls, on record
    Erase {
        /// Of this subject only
        #[arg(long, value_name = "NAME")]
        subject: Option<Subject>,
    },
}

/// Why somebody says no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum ReasonArg {
    /// It may be right later
    NotNow,
    /// Right, and on the wrong thing
    WrongTarget,
    /// It does more than it has to
    TooBroad,
    /// There is no need for it
    NotNeeded,
    /// It could do harm
    Unsafe,
}

impl From<ReasonArg> for DenialReason {
    fn from(reason: ReasonArg) -> Self {
        match reason {
            ReasonArg::NotNow => Self::NotNow,
            ReasonArg::WrongTarget => Self::WrongTarget,
            ReasonArg::TooBroad => Self::TooBroad,
            ReasonArg::NotNeeded => Self::NotNeeded,
            ReasonArg::Unsafe => Self::Unsafe,
        }
    }
}

/// `grants`.
#[derive(Debug, Subcommand)]
pub enum Grants {
    /// List the standing answers that live, and what has ended since yesterday
    List,
    /// Take one back, or all of them
    #[command(group = clap::ArgGroup::new("which").required(true))]
    Revoke {
        /// Which
        #[arg(group = "which")]
        id: Option<GrantId>,
        /// All of them
        #[arg(long, group = "which")]
        all: bool,
    },
}

/// `optin`.
#[derive(Debug, Subcommand)]
pub enum OptIn {
    /// Show every family that reaches outside the device
    Show,
    /// Turn a family on or off (operators)
    Set {
        /// The family: the first part of its capabilities' names
        family: String,
        /// The new state
        state: OnOff,
    },
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnOff {
    /// May reach outside the device, each call after an answer
    On,
    /// Stays on the device
    Off,
}

/// `journal`.
#[derive(Debug, Subcommand)]
pub enum Journal {
    /// Show a subject's newest entries: untrusted text, in its own words
    Show {
        /// Whose
        subject: Subject,
        /// How many, at most 1000
        #[arg(short = 'n', long = "entries", default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_ENTRIES)))]
        count: u32,
    },
    /// Erase a subject's whole journal, on record
    Erase {
        /// Whose
        subject: Subject,
    },
}

/// `results`.
#[derive(Debug, Subcommand)]
pub enum Results {
    /// Erase them, on record
    Erase {
        /// Of this subject only
        #[arg(long, value_name = "NAME")]
        subject: Option<Subject>,
    },
}

/// `policy`.
#[derive(Debug, Subcommand)]
pub enum Policy {
    /// Read a file of rules, run its examples, and tell what is wrong or strange; nothing is changed
    Check {
        /// The file [default: `policy.toml` in the data directory]
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
    },
    /// Show the rules in force
    Show,
    /// Tell what would be said to one call, and by whom
    Explain(Explain),
    /// Show what subjects may, capability by capability
    Matrix {
        /// Only this one [default: the local subject and everyone with a manifest]
        #[arg(long, value_name = "NAME")]
        subject: Option<Subject>,
        /// Only this slot of its agent [default: each of them, and none]
        #[arg(long, value_name = "SLOT", requires = "subject")]
        slot: Option<SlotPath>,
    },
    /// Tell whether a subject can ever do something, with a call by which it can
    Reach(ReachArgs),
    /// Tell what a file of rules lets through that those in force do not, and the other way round
    Compare {
        /// The file [default: `policy.toml` in the data directory]
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
    },
    /// Let `policy.toml` come into force although it lets through more than what is (operators)
    Accept,
}

/// `operator`.
#[derive(Debug, Subcommand)]
pub enum Operator {
    /// Set the operator password, or change it
    Setup {
        /// Read the password from standard input; to change it, the present one first, on a line of its own
        #[arg(long)]
        password_stdin: bool,
    },
    /// Open an operator session of ten minutes
    Login {
        /// Read the password from standard input
        #[arg(long)]
        password_stdin: bool,
        /// Write a token for scripts to this file instead of binding the session to this terminal
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        token_file: Option<PathBuf>,
    },
    /// End every operator session
    Logout,
}

/// `web`.
#[derive(Debug, Subcommand)]
pub enum Web {
    /// Print a link that logs one browser in, once, within ten minutes
    Link,
}

/// `audit`.
#[derive(Debug, Subcommand)]
pub enum Audit {
    /// Show the last records
    Tail {
        /// How many, at most 10000
        #[arg(short = 'n', long = "lines", default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
        count: u32,
        /// Go on with what is recorded from now on, until interrupted; with `--json` one document a line
        #[arg(short, long)]
        follow: bool,
    },
    /// Verify every line of the chain, and the checkpoint over it
    #[command(after_help = VERIFY_CODES)]
    Verify {
        /// Also tell whether this receipt is in the log
        #[arg(long, value_name = "SEQ:HASH", value_parser = receipt)]
        receipt: Option<Receipt>,
        /// Check with this verifier key, kept elsewhere, instead of the one beside the log
        #[arg(long, value_name = "KEY")]
        key: Option<VerifierKey>,
    },
    /// How often what was asked for, and where it was refused
    Stats,
}

/// A receipt as `SEQ:HASH`.
fn receipt(text: &str) -> Result<Receipt, &'static str> {
    let parsed = text
        .split_once(':')
        .and_then(|(seq, hash)| Some(Receipt { seq: seq.parse().ok()?, hash: Some(hash.parse().ok()?) }));
    parsed.ok_or("a receipt is a number and 64 hexadecimal digits, as in `7:0a1b..`")
}

/// `contract`.
#[derive(Debug, Subcommand)]
pub enum Contract {
    /// Fail when a schema, class or bound changed under the same version
    Check,
    /// Write the contract list of a package
    Update {
        /// The package [default: the one this binary belongs to]
        #[arg(long)]
        package: Option<String>,
        /// The file [default: `contracts.lock` beside the package's `src`]
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
        /// Also overwrite what changed under the same version: only before its first release
        #[arg(long)]
        force: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::{CommandLine, Named};

    #[test]
    fn the_grammar_is_consistent() {
        <CommandLine as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn names_with_and_without_version() {
        let named = |text: &str| text.parse::<Named>();
        assert_eq!(named("system.health").unwrap().version, None);
        assert_eq!(named("system.health@2").unwrap().version.unwrap().get(), 2);
        for wrong in ["health", "system.health@0", "system.health@", "system.health@x", "System.health"] {
            assert!(named(wrong).is_err(), "{wrong}");
        }
    }
}

//! Why the host did not serve a handle.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Why the host did not serve a request: a closed list of rules, without a word that anybody else chose.
///
/// `?` turns it into a private failure, as it does every error. What may be shown to the caller is shown by
/// [`BrokerFault::into_public`]:
///
/// ```
/// use capability_core::Failure;
/// use capability_core::handle::{BrokerFault, Http};
///
/// async fn connected(http: &Http) -> Result<std::os::fd::OwnedFd, Failure> {
///     http.connect().await.map_err(BrokerFault::into_public)
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BrokerFault {
    /// No broker of this host serves that kind.
    Unserved,
    /// The capability declares no such handle.
    Undeclared,
    /// The call is only being prepared: until it is confirmed, its handles only read.
    Unconfirmed,
    /// The call has ended.
    Ended,
    /// The request is above a cap.
    CapExceeded,
    /// The invocation has used up what one invocation may.
    BudgetSpent,
    /// The thing behind the broker did not answer.
    Unavailable,
    /// It did not answer in time.
    TimedOut,
    /// It answers, and has no room for this now.
    Busy,
    /// The answer was not of the kind that was asked for.
    WrongReply,
    /// Method and path are not on the endpoint kind's list.
    NotListed,
    /// The approved target is no plain `http` or `https` address.
    MalformedTarget,
    /// The approved target's port is neither a standard one nor allowed.
    PortNotAllowed,
    /// The name does not resolve.
    Unresolved,
    /// One of its addresses is not globally reachable.
    NotPublic,
    /// The other side's certificate is not one that is trusted for it.
    Untrusted,
    /// The service does not take the configured credential.
    CredentialRefused,
    /// A secret is not bound to this command: it is not one that the preview named and a person answered for, or it is gone,
    /// has ended or is too short.
    SecretRefused,
    /// What would be sent to somebody holds a secret of this host.
    HoldsSecret,
    /// The configured credential or secret cannot be read, or is none.
    CredentialUnreadable,
    /// The configured credential or secret is too short to be found in what goes out.
    CredentialShort,
    /// The host knows as many secrets as it can look for, so it reads no further one.
    SecretsFull,
    /// What came back is no answer in the protocol that was spoken.
    MalformedReply,
    /// What came back is above the cap.
    ReplyTooLarge,
    /// What came back is encoded or compressed.
    EncodedReply,
    /// What came back is not JSON of the wanted shape.
    NotJson,
    /// The path is no plain relative path.
    MalformedPath,
    /// There is nothing at that path.
    NotFound,
    /// The path leads out of the workspace, or over a link.
    OutsideWorkspace,
    /// It is something else than a plain file or directory.
    NotAFile,
    /// The file has another name somewhere else.
    HardLinked,
    /// The machine's own permissions refuse it.
    NotPermitted,
    /// The revision is not written plainly.
    MalformedRevision,
    /// No repository is configured under that name.
    UnknownRepository,
    /// The repository is elsewhere, and nobody has fetched it yet.
    NotFetched,
    /// The repository has no such revision.
    UnknownRevision,
    /// The revision has nothing at that path.
    NotInRevision,
    /// It is no plain key.
    MalformedKey,
    /// Times, zone, capability or arguments of a plan are none.
    MalformedPlan,
    /// A call that acts for another subject plans something: what is above it would not be above its runs.
    ActsForAnother,
    /// The subject has no such schedule.
    UnknownSchedule,
    /// The subject has no such process.
    UnknownProcess,
    /// As many processes run as may.
    ProcessLimit,
    /// This host is there for one command line only.
    NotLasting,
    /// It is no plain mail address.
    MalformedAddress,
    /// A letter's subject or text has a control character.
    MalformedLetter,
    /// The operator did not list that recipient.
    NotARecipient,
    /// The mail server does not take the letter.
    LetterRefused,
    /// The connection broke off after the letter was on its way.
    Uncertain,
    /// The provider's tool is not the one that was judged any more.
    DefinitionChanged,
    /// The provider is spoken with by the subject's own credential now and was judged with everybody's, or the other way round.
    AnotherCredential,
    /// What is so called is secret, and nobody answered for this very path.
    Sensitive,
    /// What is there is no capability's to reach: the host's own, the kernel's, or what others run and believe.
    Protected,
    /// A rule says more to that path than to what the call was judged by.
    RuleDenied,
    /// No person answered this very call.
    Unanswered,
    /// What stands there is not what the approval rests on.
    Changed,
    /// The path is absolute and leads into the workspace.
    InsideWorkspace,
    /// No agent is configured under that name.
    UnknownAgent,
    /// The session acts for that agent already, or is one of its subject's.
    AgentAbove,
    /// One more session behind it would be too many.
    TooDeep,
    /// The agent's subject has no manifest that counts.
    NoManifest,
    /// The subject, or the host, has as many agents under way as it may.
    AgentsBusy,
    /// The machine cannot keep the agent's program apart from the host.
    Unconfined,
    /// The subject has started no such agent, or it has ended.
    UnknownRun,
    /// No tree is configured under that name.
    UnknownTree,
    /// None of the tree's candidates leads to that revision.
    NotACandidate,
    /// The live revision is not among those that the revision came from.
    NotForward,
    /// The revision was never live by a promotion or a way back.
    NotLiveBefore,
    /// The live reference names that revision already.
    AlreadyLive,
    /// The live reference is a branch that is checked out.
    CheckedOut,
}

impl BrokerFault {
    /// The sentence a capability's caller may read.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unserved => "this host does not serve that handle",
            Self::Undeclared => "the capability declares no such handle",
            Self::Unconfirmed => "until the call is confirmed, its handles only read",
            Self::Ended => "the call has ended, and its handles with it",
            Self::CapExceeded => "the request is above the handle's cap",
            Self::BudgetSpent => "the invocation has used up what one invocation may",
            Self::Unavailable => "what the handle reaches did not answer",
            Self::TimedOut => "what the handle reaches did not answer in time",
            Self::Busy => "the service has no session left, or is asked too often",
            Self::WrongReply => "the host answered something else than was asked",
            Self::NotListed => "the endpoint's list has no such method and path",
            Self::MalformedTarget => "the target is no plain `http` or `https` address",
            Self::PortNotAllowed => "the target's port is neither 80 nor 443",
            Self::Unresolved => "the target's name does not resolve",
            Self::NotPublic => "the target has an address that is not public",
            Self::Untrusted => "the service's certificate is not trusted",
            Self::CredentialRefused => "the service does not take the configured credential",
            Self::HoldsSecret => "what would be sent holds a secret of this host",
            Self::SecretRefused => "a secret is not given to this command",
            Self::CredentialUnreadable => "the configured credential cannot be read",
            Self::CredentialShort => {
                "the configured credential is shorter than 8 bytes, so it could not be kept out of what goes out"
            }
            Self::SecretsFull => {
                "the host knows as many secrets as it can keep out of what goes out, and reads no further one"
            }
            Self::MalformedReply => "the service's answer breaks its protocol",
            Self::ReplyTooLarge => "the service's answer is above the cap",
            Self::EncodedReply => "the service's answer is compressed, which nobody asked for",
            Self::NotJson => "the service's answer is not the expected JSON",
            Self::MalformedPath => "the path is no plain relative path",
            Self::NotFound => "nothing is at that path",
            Self::OutsideWorkspace => "the path leads out of the workspace or over a link",
            Self::NotAFile => "what is at that path is not of the kind that was asked for",
            Self::HardLinked => "the file has a second name, perhaps outside the workspace",
            Self::NotPermitted => "the machine's own permissions refuse it",
            Self::MalformedRevision => "the revision is not written plainly",
            Self::UnknownRepository => "no repository is configured under that name",
            Self::NotFetched => "the repository is elsewhere, and nobody has fetched it yet",
            Self::UnknownRevision => "the repository has no such revision",
            Self::NotInRevision => "the revision has nothing at that path",
            Self::MalformedPlan => "times, zone, capability or arguments of the plan are none",
            Self::ActsForAnother => "a call that acts for another subject plans nothing",
            Self::UnknownSchedule => "you have no such schedule",
            Self::UnknownProcess => "you have no such process",
            Self::ProcessLimit => "as many processes run in the background as may",
            Self::NotLasting => {
                "this host ends with the command line that it was started for, and a process would end with it"
            }
            Self::MalformedKey => "the key is not written plainly",
            Self::MalformedAddress => "it is no plain mail address",
            Self::MalformedLetter => "the letter has a control character where none can be",
            Self::NotARecipient => "the operator did not list that recipient",
            Self::LetterRefused => "the mail server does not take the letter",
            Self::Uncertain => "the connection broke off, and the letter may have been sent",
            Self::DefinitionChanged => "the provider's tool is not the one that was judged any more",
            Self::AnotherCredential => "the provider is spoken with by another one's credential than was judged",
            Self::Sensitive => "what is so called is secret, and nobody answered for this very path",
            Self::Protected => "what is there is no capability's to reach",
            Self::RuleDenied => "a rule is about that path",
            Self::Unanswered => "no person answered this very call",
            Self::Changed => "what stands there has changed since it was shown",
            Self::InsideWorkspace => "the absolute path leads into the workspace",
            Self::UnknownAgent => "no agent is configured under that name",
            Self::AgentAbove => "you act for that agent, or for its subject, already",
            Self::TooDeep => "as many act for one another as may",
            Self::NoManifest => "the agent's subject has no manifest that counts",
            Self::AgentsBusy => "as many agents are under way as may be",
            Self::Unconfined => "this machine cannot keep an agent's program apart from the host",
            Self::UnknownRun => "no agent of yours runs under that id",
            Self::UnknownTree => "no tree is configured under that name",
            Self::NotACandidate => "none of the tree's candidates leads to that revision",
            Self::NotForward => "the live revision is not among those that the revision came from",
            Self::NotLiveBefore => "the revision was never made live here",
            Self::AlreadyLive => "that revision is live already",
            Self::CheckedOut => "the live branch is checked out in a work tree",
        }
    }

    /// What would be right, for whoever can do it.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::Unserved => "the operator configures it; see `capability doctor`",
            Self::Undeclared => "its author takes the handle as a parameter",
            Self::Unconfirmed => "its author asks in the body, not in `preview`",
            Self::Ended => "its author awaits every request in the body",
            Self::CapExceeded => "ask for less at a time",
            Self::BudgetSpent => "ask for less, or in several calls",
            Self::Unavailable => "try again later; the operator sees more with `capability doctor`",
            Self::TimedOut => "try again later, or ask for less",
            Self::Busy => "try again later; the operator sees the service's sessions in its settings",
            Self::WrongReply => "the operator updates host and capabilities together",
            Self::NotListed => "its author lists them in `EndpointKind::ALLOWED`",
            Self::MalformedTarget => {
                "write it as in `https://example.com/page`: no user, no password, no numeric spelling of a host but dotted decimal or `[IPv6]`"
            }
            Self::PortNotAllowed => "leave the port out, or the operator adds `host:port` to `allow` under `[http]`",
            Self::Unresolved => "check the spelling of the name",
            Self::NotPublic => "use a public address, or the operator adds `host:port` to `allow` under `[http]`",
            Self::Untrusted => "the operator names the service's own authority with `ca_file`",
            Self::CredentialRefused => "the operator writes the right one into the configured file",
            Self::HoldsSecret => "leave it out: what was approved is sent as it is, or not at all",
            Self::SecretRefused => {
                "name it in the call, and a person answers; the operator sees with `capability secrets check` whether it can be bound"
            }
            Self::CredentialUnreadable => {
                "the operator writes it into its file, readable for the host alone (mode 0600)"
            }
            Self::CredentialShort => {
                "the operator gives the service one of at least 8 bytes; `capability secrets check` names it"
            }
            Self::SecretsFull => "the operator looks at `capability doctor`, and starts the host again",
            Self::MalformedReply => "the operator checks that the configured address is that service's",
            Self::ReplyTooLarge => "ask for less at a time",
            Self::EncodedReply => "the operator turns compression off at the service",
            Self::NotJson => {
                "the operator checks that the configured address is that service's, in a version that is supported"
            }
            Self::MalformedPath => "write it as in `notes/today.md`: no `..`, no leading `/`, no `//`",
            Self::NotFound => "list the directory to see what is there",
            Self::OutsideWorkspace => "name a file below the workspace by its own path",
            Self::NotAFile => "name a plain file, or a directory where one is asked for",
            Self::HardLinked => "replace it by a copy of its own first",
            Self::NotPermitted => "the operator gives the host's user access to it",
            Self::MalformedRevision => "write a branch, a tag or a commit, as in `main`, `v1.2` or `main~2`",
            Self::UnknownRepository => "the operator lists it under `[repositories]`; see `capability describe`",
            Self::NotFetched => "the operator fetches it with `capability repositories fetch`",
            Self::UnknownRevision => {
                "name a branch or tag that it has; the operator fetches newer ones with `capability repositories fetch`"
            }
            Self::MalformedPlan => {
                "write five fields as in `0 7 * * MON-FRI`, a zone as in `Europe/Berlin`, a capability that exists and makes no schedules, and a JSON object"
            }
            Self::ActsForAnother => "whoever it acts for makes the schedule",
            Self::UnknownSchedule => "see yours with `schedule.list`",
            Self::UnknownProcess => "see yours with `terminal.list`",
            Self::ProcessLimit => "wait for one to end, or end one with `terminal.cancel`",
            Self::NotLasting => "the operator starts `capability serve`; without `background` it runs as it is",
            Self::MalformedKey => "write it with `a-z`, `0-9`, `.`, `_` and `-`, at most 64 of them",
            Self::MalformedAddress => "write one address, as in `ada@example.org`: no name beside it, no list",
            Self::MalformedLetter => "write the subject on one line, and the text with line feeds and tabs only",
            Self::NotARecipient => "the operator adds them to `recipients` under `[mail]`",
            Self::LetterRefused => "the operator looks at the server's log; it is not tried again by itself",
            Self::Uncertain => "look whether it arrived before it is sent again",
            Self::NotInRevision => "check the path from the repository's root on, upper and lower case included",
            Self::DefinitionChanged => "an operator looks at what changed and accepts it, or not",
            Self::AnotherCredential => "propose the call again: whoever is asked is told whose credential goes along",
            Self::Sensitive => "read it alone, by its own path: a person is asked then",
            Self::Protected => "nothing lifts this; a person does it by hand",
            Self::RuleDenied => "ask for it alone, by its own path: the rule says then what it takes",
            Self::Unanswered => "the capability's `preview` raises such a call to a question",
            Self::Changed => "propose the call again: what it does now is shown anew",
            Self::UnknownAgent => "the operator lists it under `[agents]`; see `capability describe`",
            Self::AgentAbove => "do the task yourself, or let whoever you act for ask another agent",
            Self::TooDeep => "do the task yourself, or answer with what is left to do",
            Self::NoManifest => {
                "the operator writes one for it, and sees what is wrong with one with `capability surface --subject NAME`"
            }
            Self::AgentsBusy => "wait until one has ended, or stop one with `agent.stop`",
            Self::Unconfined => "the operator lets the host's user make namespaces; see `capability doctor`",
            Self::UnknownRun => "see yours with `agent.status`",
            Self::UnknownTree => "the operator lists it under `[trees]`; see `capability describe`",
            Self::NotACandidate => "bring it into one of the branches or tags that the operator lists under `from`",
            Self::NotForward => "name a revision that comes after the live one, or go back with `git.rollback`",
            Self::NotLiveBefore => "name one that was live before; `git.promote` moves forward",
            Self::AlreadyLive => "nothing is left to do",
            Self::CheckedOut => "the operator names a branch that nobody has checked out, or a bare repository",
            Self::InsideWorkspace => "write it as it is from the workspace's root, as in `notes/today.md`",
        }
    }

    /// The failure whose sentence and help the caller may read.
    #[must_use]
    pub fn into_public(self) -> Failure {
        Failure::public(self.to_string())
    }
}

impl core::fmt::Display for BrokerFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}\nhelp: {}", self.as_str(), self.help())
    }
}

impl core::error::Error for BrokerFault {}

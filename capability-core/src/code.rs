//! Every reason the framework itself gives, as one closed list.

use serde::{Deserialize, Serialize};

/// The six stages in their order, and the door before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Before any stage: a session that may not ask at all.
    Entry,
    /// Exact name and version.
    Resolve,
    /// Arguments against the schema, typed parsing, the author's `check` and `preview`.
    Validate,
    /// The verdict, and the caps per turn.
    Policy,
    /// A person's answer, when one is needed.
    Confirm,
    /// The body, bounded.
    Execute,
    /// The record.
    Audit,
}

impl Stage {
    /// The word used in outcomes and in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Resolve => "resolve",
            Self::Validate => "validate",
            Self::Policy => "policy",
            Self::Confirm => "confirm",
            Self::Execute => "execute",
            Self::Audit => "audit",
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])+ $variant:ident $text:literal at $stage:ident: $message:literal, help $help:literal;)+) => {
        /// Why an invocation was refused or ended: a word for machines, with its sentence and what to do for people.
        ///
        /// It carries no content: what a caller wrote is never part of a code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Code { $($(#[$doc])+ $variant,)+ }

        impl Code {
            /// All of them, in the order of the stages.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word used in outcomes and in the audit.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The stage that gives it; `runner_saturated` can also come from validate.
            #[must_use]
            pub const fn stage(self) -> Stage {
                match self { $(Self::$variant => Stage::$stage),+ }
            }

            /// The sentence, when nothing more precise is known.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $message),+ }
            }

            /// What to do about it, when nothing more precise is known.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help),+ }
            }
        }
    };
}

codes! {
    /// A dream or replay session asked.
    ModeRefused "mode_refused" at Entry: "dream and replay sessions run nothing", help "ask again in a live session";
    /// The session was ended.
    SessionEnded "session_ended" at Entry: "the session has ended", help "open a new session";
    /// No entry has that name and version.
    UnknownCapability "unknown_capability" at Resolve: "no capability has exactly that name and version", help "see what exists with `capability list`";
    /// A provider is named that nobody configured, or a tool that it does not have.
    UnknownTool "unknown_tool" at Resolve: "no provider of that name has a tool of that name", help "see which tools there are with `capability list`";
    /// No provider owns what is asked for.
    UnsupportedCapability "unsupported_capability" at Resolve: "no provider of this host owns that capability", help "an operator connects a provider that does";
    /// A tool that is only found by a search is called as if it had been shown.
    SelectionMissing "selection_missing" at Resolve: "the tool is called by `invoke_tool` only: nobody has been shown its arguments", help "find it with `tool_search`, and call `invoke_tool` with the digest it comes with";
    /// `tool_search` or `invoke_tool` is not given what it takes.
    OperationMalformed "operation_malformed" at Resolve: "an operation of the surface was called with other arguments than it takes", help "send the arguments as the schema of the operation says";
    /// The tool is not the one that was found.
    SelectionStale "selection_stale" at Resolve: "the tool is another one than the one that was found: its definition has changed since", help "search again with `tool_search`, and call it with the digest it gives";
    /// Above the size limit.
    ArgumentsTooLarge "arguments_too_large" at Validate: "the arguments are too large", help "send at most 1 MiB of JSON";
    /// Not JSON, or not of a kind that is taken.
    ArgumentsMalformed "arguments_malformed" at Validate: "the arguments are not well-formed JSON", help "send one JSON object";
    /// One object has one key twice.
    DuplicateKey "duplicate_key" at Validate: "an object has the same key twice", help "send each key once";
    /// Nested too deeply.
    TooDeep "too_deep" at Validate: "the arguments are nested too deeply", help "flatten the arguments";
    /// A text holds a NUL character.
    ControlCharacter "control_character" at Validate: "a text holds a NUL character", help "send texts without NUL";
    /// The arguments are not an object.
    NotAnObject "not_an_object" at Validate: "the arguments are not a JSON object", help "send an object such as `{}`";
    /// The schema refuses the arguments.
    SchemaViolation "schema_violation" at Validate: "the arguments do not follow the schema", help "see the schema with `capability describe`";
    /// Typed parsing refuses what the schema accepts.
    ArgumentRefused "argument_refused" at Validate: "an argument has the right shape and no such value exists", help "see the schema with `capability describe`";
    /// The author's `check` refuses the arguments.
    CheckRefused "check_refused" at Validate: "the arguments make no sense together", help "read the message and send other arguments";
    /// A claim is above its limit.
    ClaimsTooLarge "claims_too_large" at Validate: "the reason or evidence is too long", help "send at most 1 KiB of reason and 4 KiB of evidence";
    /// The capability's own schema breaks a rule of the framework.
    SchemaFault "schema_fault" at Validate: "the capability's own schema is at fault", help "its author runs `capability contract check`";
    /// The host's sandbox does not hold, or cannot be put up.
    IsolationUnavailable "isolation_unavailable" at Validate: "this host cannot isolate what it would run, so it runs nothing", help "see what is missing with `capability doctor`";
    /// The author's part of validate failed.
    PrepareFailed "prepare_failed" at Validate: "the capability could not prepare this call", help "read the message; nothing has happened";
    /// The author's part of validate took too long.
    PrepareTimedOut "prepare_timed_out" at Validate: "the capability took too long to prepare this call", help "try again; nothing has happened";
    /// The author's part of validate panicked.
    PreparePanicked "prepare_panicked" at Validate: "the capability failed while preparing this call", help "report it to its author; nothing has happened";
    /// It exists to be named.
    Locked "locked" at Policy: "this capability is locked: it exists to be named and never runs", help "nothing unlocks it";
    /// The subject's manifest does not declare it.
    Undeclared "undeclared" at Policy: "this subject's manifest does not declare the capability", help "an operator adds it to the subject's manifest";
    /// The subject's manifest asks for a person.
    ManifestAsk "manifest_ask" at Policy: "this subject's manifest asks for a person", help "a person answers it";
    /// The subject's manifest denies it.
    ManifestDeny "manifest_deny" at Policy: "this subject's manifest denies it", help "an operator changes the subject's manifest";
    /// Plan mode blocks what changes or leaves the device.
    PlanMode "plan_mode" at Policy: "plan mode runs only what is read-only and local", help "ask again in a live session";
    /// The family of an external capability is off.
    OptInOff "opt_in_off" at Policy: "this family reaches outside the device and is off", help "an operator turns it on with `capability optin set FAMILY on`";
    /// The setting that would turn it on cannot be read.
    OptInDamaged "opt_in_damaged" at Policy: "the setting for this family cannot be read, so it counts as off", help "an operator sets it again with `capability optin set FAMILY on|off`";
    /// The capability's own default denies.
    DefaultDeny "default_deny" at Policy: "this capability is denied by its own default", help "an operator's narrower rule lifts it";
    /// The capability's own default asks.
    DefaultAsk "default_ask" at Policy: "this capability asks by default", help "a person answers it";
    /// A rule denies.
    RuleDeny "rule_deny" at Policy: "a rule denies this call", help "nothing but a change of that rule lifts it; its author is who to ask";
    /// A rule asks for a fresh answer.
    RuleAskFresh "rule_ask_fresh" at Policy: "a rule asks for a fresh confirmation", help "a person answers this very invocation";
    /// A rule asks.
    RuleAsk "rule_ask" at Policy: "a rule asks", help "a person answers it";
    /// Whoever the session acts for could do less.
    Delegation "delegation" at Policy: "whoever this session acts for could not do this without more", help "nothing is done for somebody who could not do it; ask in a session of its own";
    /// A rule asks about the target, and the target cannot be read in one way only.
    TargetUnjudged "target_unjudged" at Policy: "a rule asks what this call acts on, and that cannot be read in one way only", help "write the target plainly: no user, escape or detour in an address or path, and nothing beyond its size";
    /// A rule asks for the time, and the clock shows none.
    ClockUnjudged "clock_unjudged" at Policy: "a rule asks for the time, and this machine's clock is not set", help "an operator sets the clock";
    /// The class's floor asks for a fresh answer.
    FloorRequired "floor_required" at Policy: "its class needs a fresh confirmation", help "a person answers this very invocation";
    /// The command can do more than look, or is not fully understood.
    GuardHigh "guard_high" at Policy: "this command can do more than look, or is not fully understood", help "a person looks at each part of it; the preview names them";
    /// The command is one that is never run.
    GuardBlock "guard_block" at Policy: "a part of this command is never run here", help "leave that part out; nothing lifts it";
    /// The call binds a secret to a command.
    SecretBound "secret_bound" at Policy: "this call gives a secret to a command", help "a person answers this very invocation";
    /// A secret that the call would bind is not there, has ended, or is too short to be found in what the command writes.
    SecretUnbound "secret_unbound" at Policy: "a secret that this call names is not there, has ended, or is shorter than 8 bytes", help "an operator puts it right; see `capability secrets check`";
    /// The call acts outside the workspace.
    OutsideWorkspace "outside_workspace" at Policy: "this call acts outside the workspace", help "name a path inside the workspace";
    /// The call acts on a path that often holds secrets.
    SensitivePath "sensitive_path" at Policy: "this call acts on a path that often holds secrets", help "name another path, or a person answers it";
    /// The call acts on a path that nothing may change.
    ProtectedPath "protected_path" at Policy: "this call acts on a path that is protected", help "name another path";
    /// No broker of this host serves one of its handles.
    MissingRuntimeBinding "missing_runtime_binding" at Policy: "the capability exists, and this host has nothing bound to it", help "an operator configures what it needs; see `capability describe`";
    /// The provider that would run it cannot be reached.
    ProviderOffline "provider_offline" at Policy: "the provider of this tool is known, and cannot be reached now", help "try again when it is connected; nothing has happened";
    /// The tool is out of use until an operator has looked at it.
    ToolQuarantined "tool_quarantined" at Policy: "this tool is not what it was when it was accepted, so it is out of use", help "an operator looks at what has changed, and accepts it or not";
    /// The tool's definition is none that can be enforced; why is told with it.
    ToolNotTaken "tool_not_taken" at Policy: "this tool cannot be called, because what its provider says of it is not taken", help "its author has to change it; nobody here can";
    /// The first choice cannot run it, and an operator turned off that another does.
    FallbackDisabled "fallback_disabled" at Policy: "the provider of this tool cannot be reached now, and policy lets no other stand in for it", help "try again when it is connected, or an operator approves a fallback; nothing has happened";
    /// The capability's own cap for this turn is used up.
    TurnCap "turn_cap" at Policy: "this capability's cap for the turn is used up", help "go on in the next turn";
    /// The overall cap for this turn is used up.
    TurnTotal "turn_total" at Policy: "the turn's overall cap is used up", help "go on in the next turn";
    /// Nothing to say.
    Clear "clear" at Policy: "nothing stands against it", help "go on";
    /// A store could not be read or written.
    StoreUnavailable "store_unavailable" at Policy: "a store of the host did not answer", help "an operator runs `capability doctor`";
    /// No such approval, or not this subject's.
    ApprovalUnknown "approval_unknown" at Confirm: "no approval of yours has that id", help "propose the call again";
    /// What would run is not what was approved.
    ApprovalMismatch "approval_mismatch" at Confirm: "what would run is not what was approved", help "propose the call again; the approval is not used up";
    /// Somebody answered while the call was being changed.
    ApprovalAnswered "approval_answered" at Confirm: "the call was answered while it was being changed", help "look at where it stands; nothing was changed";
    /// The approval was used.
    ApprovalConsumed "approval_consumed" at Confirm: "the approval was used", help "propose the call again";
    /// People said no to this very call again and again.
    DenialLoop "denial_loop" at Confirm: "people said no to this very call three times, so nobody is asked again", help "propose something else; the count lapses after an hour, or an operator clears it with `capability approvals loops --clear SUBJECT`";
    /// Too many calls wait for an answer.
    TooManyPending "too_many_pending" at Confirm: "too many calls wait for an answer", help "answer or let expire what is pending, then propose again";
    /// The runner has no room.
    RunnerSaturated "runner_saturated" at Execute: "the host has no room to run another call", help "try again later; nothing has happened";
    /// The log cannot be written, so nothing runs.
    AuditUnavailable "audit_unavailable" at Audit: "the audit log cannot be written, so nothing runs", help "an operator runs `capability doctor`";
    /// It ran, and its record could not be written.
    Unrecorded "unrecorded" at Audit: "it ran, and its record could not be written, so the result is withheld", help "an operator runs `capability doctor`; do not repeat the call";
    /// It ran, and nobody could look for secrets in its result.
    RedactorFailed "redactor_failed" at Audit: "it ran, and its result could not be looked through for secrets, so it is withheld", help "an operator runs `capability doctor`; do not repeat the call";
    /// It ran, and without the secrets that it held its result breaks its own schema or cap.
    ResultRedacted "result_redacted" at Audit: "it ran, and without the secrets in it the result does not follow its schema, so it is withheld", help "look at its effect before asking again, and ask for what holds no secret";
}

impl core::fmt::Display for Code {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    /// The grammar of refusals: lower case, no full stop, and something to do.
    #[test]
    fn every_code_has_a_sentence_and_a_help() {
        for code in Code::ALL {
            for text in [code.message(), code.help()] {
                assert!(
                    !text.is_empty() && !text.ends_with('.') && text.starts_with(char::is_lowercase),
                    "{code}: {text}"
                );
            }
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}

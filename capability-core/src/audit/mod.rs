//! What happened, without what was said.
//!
//! One event type, fixed from the start. It has no field that could hold an argument, a result, an error's text, a note, a
//! digest or an unknown name: every field is a number, a closed enum, an id that the host made, a rule's
//! id, a name from the registry, or a channel's, an agent's or a tree's from the operator's configuration. The one number that a caller of the command line may choose is its turn's. Source: RFC-0003, "Audit Events".

mod channel;
mod event;
mod memory;
mod names;
mod rules;
mod secret;
mod setting;
mod sink;
mod ticket;

pub use channel::{ChannelKind, ChannelName, ChannelNameError, ChannelNamed, ChannelRule};
pub use event::{
    ApprovalStep, Asked, Contributions, Event, GrantStep, Granted, OutcomeKind, ProvidedBy, Record, RecoveryKind,
    SettingKey,
};
pub use memory::MemorySink;
pub use names::{ConfiguredName, FamilyName, InvocationId, SchemaPlace};
pub use rules::{NamedRule, RulesAsked};
pub use secret::SecretSource;
pub use setting::{EdgeSet, RunKind, RunStopped, SkillSet};
pub use sink::{LineHash, Receipt, Sink, SinkFault, Submission};
pub(crate) use ticket::{AuditTicket, Ending};

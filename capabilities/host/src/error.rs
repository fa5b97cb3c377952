//! Why a host does not open, and why a setting is not changed.

use capability_core::audit::SinkFault;
use capability_core::handle::BrokerFault;
use capability_core::registry::RegistryFault;
use capability_core::store::StoreFault;

use crate::audit_log::AuditLogError;
use crate::config::ConfigError;
use crate::data_dir::DataDirError;
use crate::environment::NoRandomness;
use crate::mcp::ClientError;
use crate::operator::OperatorError;
use crate::policy::PolicyError;
use crate::provider::mcp::CredentialFault;
use crate::store::{DatabaseError, OptInError};
use crate::subjects::ManifestError;

macro_rules! reasons {
    ($(#[$doc:meta])* $name:ident { $($(#[$reason_doc:meta])+ $variant:ident($from:ty),)+ }
     $(plain { $($(#[$plain_doc:meta])+ $plain:ident => $text:literal,)+ })?) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$reason_doc])+ $variant($from),)+
            $($($(#[$plain_doc])+ $plain,)+)?
        }

        $(impl From<$from> for $name {
            fn from(error: $from) -> Self {
                Self::$variant(error)
            }
        })+

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $(Self::$variant(error) => error.fmt(f),)+
                    $($(Self::$plain => f.write_str($text),)+)?
                }
            }
        }

        impl core::error::Error for $name {}
    };
}

reasons! {
    /// Why a host does not open. Its text says what to do.
    HostError {
        /// The registry is not what this binary lists.
        Registry(RegistryFault),
        /// The data directory, or a file in it, is not the host's alone, or another host owns it.
        DataDir(DataDirError),
        /// The configuration file is wrong.
        Config(ConfigError),
        /// A subject's manifest names what does not exist.
        Manifest(ManifestError),
        /// The operator's rules are wrong or gone.
        Policy(PolicyError),
        /// The database cannot be trusted.
        Database(DatabaseError),
        /// The operator credential cannot be read.
        Operator(OperatorError),
        /// The audit log cannot be trusted or written.
        AuditLog(AuditLogError),
        /// There are no random bytes.
        Randomness(NoRandomness),
    }
    plain {
        /// A store did not answer.
        Store => "a store did not answer\nhelp: look at the file system that the data directory lies on",
    }
}

impl From<StoreFault> for HostError {
    fn from(_: StoreFault) -> Self {
        Self::Store
    }
}

reasons! {
    /// Why a setting is not changed.
    SettingError {
        /// The operator's proof does not hold.
        Operator(OperatorError),
        /// The switch cannot be written.
        OptIn(OptInError),
        /// The rules are not what was accepted, or cannot come into force.
        Policy(PolicyError),
        /// A token for a provider cannot be kept.
        Credential(CredentialFault),
        /// The repository cannot be fetched.
        Fetch(BrokerFault),
        /// The list of programs that are let in cannot be changed so.
        Client(ClientError),
        /// The switch of an edge cannot be written.
        Edge(DataDirError),
    }
    plain {
        /// No server of that name is configured.
        UnknownProvider => "no server of that name is configured\nhelp: see them with `capability providers list`",
        /// That is not what waits to be accepted.
        NotThatDefinition => "that is not what the tool is now, or nothing of it waits to be accepted\nhelp: look at it again with `capability providers diff SERVER TOOL`",
        /// No edge of that name is configured.
        UnknownEdge => "no edge of that name is configured\nhelp: see them with `capability providers edges`",
        /// No skill of that name was accepted.
        NoSuchSkill => "no skill of that name was accepted\nhelp: see them with `capability skills list`",
        /// That is not what the skill is now.
        NotThatSkill => "that is not what the skill is now, or it is none\nhelp: look at it again with `capability skills show NAME`",
        /// No registered capability is of that family.
        UnknownFamily => "no capability of this build is of that family\nhelp: see the families with `capability list`",
        /// No repository elsewhere is configured under that name.
        NoSuchRepository => "no repository elsewhere is configured under that name\nhelp: see them with `capability repositories list`",
        /// There is no such schedule.
        NoSuchSchedule => "no schedule has that number\nhelp: see them with `capability schedules list`",
        /// Nothing runs under that id.
        NoSuchRun => "nothing runs under that id\nhelp: see what does with `capability running list`",
        /// It was told to end, and is not gone yet.
        StillEnding => "it was told to end, and is not gone yet\nhelp: look again with `capability running list`",
        /// There is no such open review.
        NoSuchReview => "no open review has that number\nhelp: see them with `capability reviews list`",
        /// A store did not answer.
        Store => "a store did not answer: nothing was changed\nhelp: look at the host with `capability doctor`",
        /// The change could not be recorded, so it is not made, or is not to be relied on.
        Log => "the audit log cannot take the change\nhelp: look at it with `capability doctor`",
    }
}

impl From<StoreFault> for SettingError {
    fn from(_: StoreFault) -> Self {
        Self::Store
    }
}

impl From<SinkFault> for SettingError {
    fn from(_: SinkFault) -> Self {
        Self::Log
    }
}

//! What comes back through the door.

use serde::{Deserialize, Serialize};

use crate::handle::{
    AgentAnswer, AgentRun, AgentSeen, CommandEnd, DeviceReadings, EndpointReply, Fingerprint, Kept, Listing, OwnCall,
    OwnResult, ProcessPage, ProcessSeen, ProviderConnected, Revised, Scheduled, TargetPlace, ToolReply, TreeMoved,
    TreePlan, Workdir,
};
use crate::session::{Required, SessionId};
use crate::time::Timestamp;

/// What the host answers. Plain data but for the one variant that no serialiser takes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BrokerReply {
    /// The time, or the beginning of the day.
    Now(Timestamp),
    /// The readings.
    Device(Box<DeviceReadings>),
    /// The entry is stored.
    Appended,
    /// The earlier result, where there is one.
    Recalled(Option<Box<OwnResult>>),
    /// The calls, the newest first.
    Reflected(Vec<OwnCall>),
    /// The operator's own certificate authorities, each a certificate in DER.
    Authorities(Vec<Vec<u8>>),
    /// What the service answered.
    Exchanged(EndpointReply),
    /// What stands in the directory.
    Listed(Listing),
    /// Where the target is.
    Placed(TargetPlace),
    /// The file's hash; none when there is no file.
    Fingerprint(Option<Fingerprint>),
    /// The files are as they were to be, durably.
    Changed,
    /// The file is in place, durably.
    Written,
    /// The file is gone.
    Removed,
    /// What stands there.
    Revised(Box<Revised>),
    /// From whom a letter would come, and by which server.
    Sender(String),
    /// The letter is handed over, under this id.
    Sent(String),
    /// What is kept there, if anything is.
    Kept(Option<Kept>),
    /// It is done.
    Done,
    /// It is filed under this number.
    Filed(u64),
    /// When it would run next.
    Foreseen(Vec<Timestamp>),
    /// The schedules.
    Schedules(Vec<Scheduled>),
    /// What the agent is.
    Agent(Box<AgentSeen>),
    /// What became of the agent's turn.
    AgentAnswered(Box<AgentAnswer>),
    /// The agent acts in this session.
    AgentStarted(SessionId),
    /// The agents that were started.
    AgentRuns(Vec<AgentRun>),
    /// What the move would do.
    TreePlan(Box<TreePlan>),
    /// What the move did.
    TreeMoved(TreeMoved),
    /// Where a command would run.
    Workdir(Workdir),
    /// How a command ended.
    Ran(Box<CommandEnd>),
    /// The subject's commands that run on.
    Processes(Vec<ProcessSeen>),
    /// One of them.
    Process(Box<ProcessPage>),
    /// What the manifests say to it.
    Declares(Required),
    /// What the tool answered.
    Called(Box<ToolReply>),
    /// What the provider has.
    Connected(ProviderConnected),
    /// An open connection, a file, or a pipe that holds a secret. It crosses a process boundary beside the data, not in it.
    #[serde(skip)]
    Descriptor(std::os::fd::OwnedFd),
}

//! The host attacks its own sandbox before it trusts it.

use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::timeout;

use super::super::{Answer, Finding, FindingState};
use super::frame::{Frame, FrameFault, FromWorker, ToWorker};
use super::pool::Pool;
use super::process::WorkerFault;
use super::sandbox::attempts::{self, Outside, Tried, attempts};
use super::sandbox::{Achieved, Item, Profile};
use crate::words::counted;

/// How long a worker may take to try everything: it takes milliseconds.
pub const TRYING: Duration = Duration::from_secs(30);

/// What was found when the sandbox was put up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    /// What holds, by profile.
    pub achieved: Vec<Achieved>,
    /// Every way out that was tried, and what became of it.
    pub tried: Vec<(Profile, attempts::Finding)>,
}

impl Standing {
    /// The ways out that led out.
    pub fn breaches(&self) -> impl Iterator<Item = &(Profile, attempts::Finding)> {
        self.tried.iter().filter(|(_, finding)| !finding.tried.is_held())
    }

    /// Whether anything that is promised does not hold.
    #[must_use]
    pub fn is_degraded(&self) -> bool {
        self.achieved.iter().flat_map(Achieved::missing).any(Item::is_promised) || self.breaches().next().is_some()
    }

    /// Everything there is to say about it.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let item = |item: Item| {
            let holds = self.achieved.iter().all(|achieved| achieved.has(item));
            let (found, state) = match (holds, item.is_promised()) {
                (true, _) => ("holds in every worker", FindingState::Holds),
                (false, true) => (item.lost(), FindingState::Open),
                (false, false) => (item.lost(), FindingState::Extra),
            };
            Finding { name: format!("sandbox: {item}"), found: found.to_owned(), state, answers: Vec::new() }
        };
        let mut findings: Vec<_> = Item::ALL.into_iter().map(item).collect();
        findings.push(self.ways_out());
        findings
    }

    fn ways_out(&self) -> Finding {
        let answers: Vec<_> = self.tried.iter().map(answer).collect();
        let open: Vec<_> = answers.iter().filter(|answer| answer.led_out).map(|answer| answer.tried.as_str()).collect();
        let (found, state) = if open.is_empty() {
            let ways = counted(answers.len(), "way", "ways");
            (format!("{ways} tried from inside, none leads out"), FindingState::Holds)
        } else {
            (format!("a body can {}", open.join(", and ")), FindingState::Open)
        };
        Finding { name: "sandbox: ways out".to_owned(), found, state, answers }
    }
}

fn answer((profile, finding): &(Profile, attempts::Finding)) -> Answer {
    let found = attempts().find(|attempt| attempt.name == finding.attempt);
    let tries = found.map_or(finding.attempt.as_str(), |attempt| attempt.tries);
    let profile = match profile {
        Profile::Sealed => "sealed",
        Profile::Connected => "connected",
    };
    Answer {
        tried: tries.to_owned(),
        profile: profile.to_owned(),
        answer: finding.tried.to_string(),
        led_out: !finding.tried.is_held(),
    }
}

/// Tries every way out, in a worker of each profile.
pub async fn attack(pools: [&Pool; 2]) -> Result<Standing, WorkerFault> {
    // Doors that are really open: only the sandbox keeps a worker from walking through them.
    let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
    let door = Door::open();
    let outside = Outside {
        process: i32::try_from(std::process::id()).unwrap_or(1),
        port: listener.local_addr()?.port(),
        socket: door.path.to_string_lossy().into_owned(),
        file: "/proc/self/exe".to_owned(),
    };
    let mut standing = Standing::default();
    for pool in pools {
        let mut worker = pool.fresh().await?;
        standing.achieved.extend(worker.achieved().copied());
        let gone = |_: FrameFault| WorkerFault::Sandbox("a worker ended while it tried to get out".to_owned());
        worker.send(&ToWorker::Attest(outside.clone()), &[], None).await.map_err(gone)?;
        match timeout(TRYING, worker.next(0)).await {
            Ok(Ok(Frame { message: FromWorker::Attested(tried), .. })) => {
                standing.tried.extend(tried.into_iter().map(|finding| (pool.profile(), finding)));
            }
            _ => return Err(gone(FrameFault::Closed)),
        }
        for attempt in attempts().filter(|attempt| attempt.ends()) {
            let mut worker = pool.fresh().await?;
            let request = ToWorker::AttestEnding { outside: outside.clone(), attempt: attempt.name.to_owned() };
            worker.send(&request, &[], None).await.map_err(gone)?;
            let tried = match timeout(TRYING, worker.next(0)).await {
                Ok(Ok(Frame { message: FromWorker::Attested(tried), .. })) => {
                    tried.first().map_or(Tried::Succeeded, |finding| finding.tried)
                }
                // Being ended is being refused.
                _ => Tried::Refused(0),
            };
            standing.tried.push((pool.profile(), attempts::Finding { attempt: attempt.name.to_owned(), tried }));
        }
    }
    Ok(standing)
}

/// A socket with a path, on which this process listens.
struct Door {
    path: PathBuf,
    _listener: Option<UnixListener>,
}

impl Door {
    fn open() -> Self {
        let name = crate::environment::random::<8>().map_or(0, u64::from_le_bytes);
        let path = std::env::temp_dir().join(format!("capability-{}-{name:x}.sock", std::process::id()));
        let listener = UnixListener::bind(&path).ok();
        Self { path, _listener: listener }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

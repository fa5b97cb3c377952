//! Capabilities that do what a body can do wrong.

use std::io::Write;
use std::os::fd::FromRawFd;
use std::time::Duration;

use capability_core::handle::{Clock, Context, Device, Journal, Workspace, Write as Writing};
use capability_core::{Concern, Failure, Preview, Raise, capability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    Answer,
    Busy,
    BusyWithSignalsBlocked,
    Sleep,
    ReadForever,
    Await,
    Threads,
    Hog,
    GiantFrame,
    DrippingFrame,
    Garbage,
    LongMessage,
    ManyPanics,
    CloseChannel,
    Overflow,
    Abort,
    Exit,
    Flood,
    Panic,
    FailPublic,
    FailPrivate,
    FailBefore,
    Large,
}

impl Deed {
    /// Those after which the worker is still at it when its time is up.
    pub const ENDLESS: [Self; 9] = [
        Self::Busy,
        Self::BusyWithSignalsBlocked,
        Self::Sleep,
        Self::ReadForever,
        Self::Await,
        Self::Threads,
        Self::Flood,
        Self::DrippingFrame,
        Self::CloseChannel,
    ];
    /// Those that end the worker, or make its host end it, before its time is up.
    pub const DEADLY: [Self; 8] = [
        Self::Overflow,
        Self::Abort,
        Self::Exit,
        Self::GiantFrame,
        Self::Garbage,
        Self::LongMessage,
        Self::ManyPanics,
        Self::Panic,
    ];
}

fn sleep_forever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

fn channel() -> std::fs::File {
    // SAFETY: the worker's own channel; this body is about to be killed for what it writes there.
    unsafe { std::fs::File::from_raw_fd(3) }
}

/// Sends one whole message by hand.
fn say(message: &str) {
    let length = u32::try_from(message.len()).unwrap_or(0).to_le_bytes();
    let frame = [&[0; 4], length.as_slice(), &[0; 4], message.as_bytes()].concat();
    let (mut channel, mut rest) = (channel(), frame.as_slice());
    while !rest.is_empty() {
        match channel.write(rest) {
            Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
            Err(_) => std::thread::yield_now(),
        }
    }
    // The channel stays the worker's.
    core::mem::forget(channel);
}

fn deeper(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 4096]);
    if depth == u64::MAX { room[0] } else { deeper(depth + 1) + room[1] }
}

fn block_signals() {
    // SAFETY: fills a set and sets this thread's mask from it.
    unsafe {
        let mut set = core::mem::zeroed();
        libc::sigfillset(&raw mut set);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const set, core::ptr::null_mut());
    }
}

pub async fn perform(deed: Deed) -> Result<String, Failure> {
    match deed {
        Deed::Answer => return Ok("done".to_owned()),
        Deed::Large => return Ok("x".repeat(4096)),
        Deed::Busy => loop {
            std::hint::spin_loop();
        },
        Deed::BusyWithSignalsBlocked => {
            block_signals();
            loop {
                std::hint::spin_loop();
            }
        }
        Deed::Sleep => sleep_forever(),
        Deed::ReadForever => {
            let (reader, _writer) = std::io::pipe()?;
            std::io::read_to_string(reader)?;
        }
        Deed::Await => core::future::pending::<()>().await,
        Deed::Threads => loop {
            let spin = || loop {
                std::hint::spin_loop();
            };
            if std::thread::Builder::new().stack_size(32 << 10).spawn(spin).is_err() {
                spin();
            }
        },
        Deed::Hog => {
            let mut all: Vec<Vec<u8>> = Vec::new();
            loop {
                all.push(vec![1; 16 << 20]);
            }
        }
        Deed::GiantFrame => {
            let mut channel = channel();
            channel.write_all(&[0, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255])?;
            channel.write_all(b"{}")?;
            sleep_forever();
        }
        Deed::DrippingFrame => {
            let mut channel = channel();
            channel.write_all(&[0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0])?;
            loop {
                // What the channel has no room for now comes later.
                let _ = channel.write(b" ");
                std::thread::yield_now();
            }
        }
        Deed::Garbage => {
            channel().write_all(&[0xff; 64])?;
            sleep_forever();
        }
        Deed::LongMessage => {
            // Sixteen megabytes: more than anything that a handle asks.
            channel().write_all(&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])?;
            sleep_forever();
        }
        Deed::ManyPanics => loop {
            say(r#"{"Panic":{"file":"tangerine.rs","line":7}}"#);
        },
        Deed::CloseChannel => {
            block_signals();
            for descriptor in 3..64 {
                // SAFETY: nothing in this process is used any more but its processor.
                unsafe { libc::close(descriptor) };
            }
            sleep_forever();
        }
        Deed::Overflow => return Ok(deeper(0).to_string()),
        Deed::Abort => std::process::abort(),
        Deed::Exit => std::process::exit(0),
        Deed::Flood => loop {
            println!("tangerine {}", "x".repeat(1000));
            eprintln!("tangerine {}", "x".repeat(1000));
        },
        Deed::Panic => panic!("tangerine"),
        Deed::FailPublic => return Err(Failure::public("the lamp is broken")),
        Deed::FailPrivate => return Err("tangerine".parse::<u8>().err().map_or_else(Failure::private, Into::into)),
        Deed::FailBefore => return Err(Failure::before_effect()),
    }
    Ok(String::new())
}

/// Does it, after telling which process does.
#[capability(name = "cell.read", version = 1, side_effect = read_only, network = local,
    bounds(timeout = "60s", max_result = "1 KiB", per_turn = 1000))]
pub async fn read(journal: &Journal, deed: Deed) -> Result<String, Failure> {
    journal.append(format!("pid {}", std::process::id())).await?;
    perform(deed).await
}

/// The same with little time.
#[capability(name = "cell.brief", version = 1, side_effect = read_only, network = local,
    bounds(timeout = "400ms", max_result = "1 KiB", per_turn = 1000))]
pub async fn brief(journal: &Journal, deed: Deed) -> Result<String, Failure> {
    read(journal, deed).await
}

/// The same, and it might change something.
#[capability(name = "cell.change", version = 1, side_effect = mutating, network = local,
    bounds(timeout = "60s", max_result = "1 KiB", per_turn = 1000))]
pub async fn change(journal: &Journal, deed: Deed) -> Result<String, Failure> {
    read(journal, deed).await
}

/// The same with little time, and it might change something.
#[capability(name = "cell.brief_change", version = 1, side_effect = mutating, network = local,
    bounds(timeout = "400ms", max_result = "1 KiB", per_turn = 1000))]
pub async fn brief_change(journal: &Journal, deed: Deed) -> Result<String, Failure> {
    read(journal, deed).await
}

fn honest(deed: &Deed) -> Result<(), String> {
    match deed {
        Deed::Answer => Ok(()),
        Deed::Busy => loop {
            std::hint::spin_loop();
        },
        Deed::Abort => std::process::abort(),
        Deed::Panic => panic!("tangerine"),
        _ => Err("only `answer` makes sense here".to_owned()),
    }
}

/// Does what makes sense.
#[capability(name = "cell.checked", version = 1, side_effect = read_only, network = local, check = honest)]
pub fn checked(deed: Deed) -> String {
    format!("{deed:?}")
}

async fn shown(clock: &Clock, _: &Journal, text: &String) -> Result<Preview, Failure> {
    clock.now().await?;
    Ok(Preview {
        text: format!("would write {text}"),
        rests_on: vec![[7; 32]],
        raise: Some(Raise::ask(Concern::SensitivePath)),
        ..Preview::default()
    })
}

/// Writes, after showing what.
#[capability(name = "cell.write", version = 1, side_effect = mutating, network = local, preview = shown)]
pub async fn write(clock: &Clock, journal: &Journal, text: String) -> Result<String, Failure> {
    journal.append(format!("wrote {text} at {}", clock.now().await?)).await?;
    Ok(text)
}

/// A preview that is no preview's: made by hand, past the function that would have refused it.
fn forged(text: &str, rests_on: usize) -> ! {
    let hash = format!("[{}]", ["7"; 32].join(","));
    let hashes = vec![hash; rests_on].join(",");
    say(&format!(r#"{{"Prepared":{{"Ok":{{"text":"{text}","rests_on":[{hashes}]}}}}}}"#));
    sleep_forever()
}

async fn too_much(_: &Clock, hashes: &bool) -> Result<Preview, Failure> {
    if *hashes { forged("", 20_000) } else { forged(&"x".repeat(300 << 10), 0) }
}

/// Shows more than anybody can read.
#[capability(name = "cell.loud", version = 1, side_effect = mutating, network = local, preview = too_much)]
pub async fn loud(_clock: &Clock, hashes: bool) -> Result<String, Failure> {
    Ok(hashes.to_string())
}

/// What a body sees of the world.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sight {
    pub environment: u32,
    pub subject: String,
    pub uptime: bool,
    pub remaining_ms: u64,
    pub file: bool,
    pub counted: u32,
}

static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

fn count() -> u32 {
    COUNT.fetch_add(1, std::sync::atomic::Ordering::SeqCst)
}

/// Looks around.
#[capability(name = "cell.look", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
pub async fn look(context: &Context, device: &Device) -> Result<Sight, Failure> {
    let (one, two) = tokio::join!(device.readings(), device.readings());
    Ok(Sight {
        environment: u32::try_from(std::env::vars_os().count())?,
        subject: context.subject().to_string(),
        uptime: one?.uptime_s.is_some() && two?.uptime_s.is_some(),
        remaining_ms: u64::try_from(context.remaining().as_millis())?,
        file: std::fs::read("/etc/passwd").is_ok(),
        counted: count(),
    })
}

/// Asks a hundred things and waits for none, then a hundred at once.
#[capability(name = "cell.many", version = 1, side_effect = read_only, network = local)]
pub async fn many(device: &Device) -> Result<usize, Failure> {
    for _ in 0..100 {
        let _ = tokio::time::timeout(Duration::ZERO, device.readings()).await;
    }
    let mut asked: Vec<_> = (0..100).map(|_| Box::pin(device.readings())).collect();
    let mut answered = 0;
    core::future::poll_fn(|context| {
        let mut open = Vec::new();
        for mut one in core::mem::take(&mut asked) {
            match one.as_mut().poll(context) {
                core::task::Poll::Pending => open.push(one),
                core::task::Poll::Ready(read) => answered += usize::from(read.is_ok()),
            }
        }
        asked = open;
        if asked.is_empty() { core::task::Poll::Ready(()) } else { core::task::Poll::Pending }
    })
    .await;
    Ok(answered)
}

/// Begins to write a large file, does not wait for it, and asks something else.
#[capability(name = "cell.impatient", version = 1, side_effect = mutating, network = local)]
pub async fn impatient(workspace: &Workspace<Writing>, clock: &Clock) -> Result<bool, Failure> {
    let content = vec![b'x'; 1 << 20];
    let waited = tokio::time::timeout(Duration::ZERO, workspace.write("large", content)).await;
    clock.now().await?;
    Ok(waited.is_ok())
}

/// Adds, and tells how often this process has.
#[capability(name = "cell.add", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
pub fn add(a: i32, b: i32) -> (i64, u32) {
    (i64::from(a) + i64::from(b), count())
}

/// Adds, and leaves a thread behind that runs on.
#[capability(name = "cell.litter", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
pub fn litter() -> u32 {
    std::thread::spawn(|| sleep_forever());
    count()
}

/// Counts, and leaves a task behind that would go on counting.
#[capability(name = "cell.leave", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
pub async fn leave() -> u32 {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let counted = count();
    tokio::spawn(async {
        loop {
            count();
            tokio::task::yield_now().await;
        }
    });
    counted
}

/// Tells which process this one was forked from.
#[capability(name = "cell.parent", version = 1, side_effect = read_only, network = local)]
pub fn parent(_context: &Context) -> u32 {
    std::os::unix::process::parent_id()
}

/// Connects by itself.
#[capability(name = "cell.connect", version = 1, side_effect = read_only, network = local)]
pub fn connect(port: u16) -> Result<String, String> {
    std::net::TcpStream::connect(("127.0.0.1", port)).map(|_| "connected".to_owned()).map_err(|error| error.to_string())
}

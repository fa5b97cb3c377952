//! What workers act.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant, SystemTime};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::super::attempts::{Outside, attempts, attest};
use super::super::{Worker, sys};
use super::{MOST, say};

/// Scenes that are acted in a worker that was not locked.
pub(super) fn act(scene: &str, with: &str, mut worker: Worker, channel: &File) {
    match scene {
        "unarmed" => return say(channel, &format!("{}\n", worker.lock().expect_err("no timer runs"))),
        "disarmed" => return disarmed(worker, channel),
        "filtered" => return filtered(worker, channel),
        _ => {}
    }
    worker.arm(if scene == "late" { Duration::from_millis(100) } else { MOST }).expect("there is a timer");
    // An earlier deadline is replaced.
    if scene == "rearmed" {
        worker.arm(Duration::from_millis(50)).expect("there is a timer");
        worker.arm(MOST).expect("there is a timer");
        std::thread::sleep(Duration::from_millis(200));
    }
    let achieved = worker.lock().expect("it locks");
    match scene {
        "achieved" => say(channel, &format!("{achieved}\n")),
        "ordinary" => ordinary(),
        "descriptors" => say(channel, &format!("{:?}\n", open_descriptors())),
        "late" => late(with),
        "rearmed" => {}
        "waits" => {
            say(channel, "here\n");
            let _ = { channel }.read(&mut [0]).expect("the test ends it");
        }
        "threads" => say(channel, &format!("{}\n", threads())),
        "memory" => say(channel, &format!("{}\n", memory())),
        "socket" => socket(),
        "socket_blocked" => socket_blocked(),
        "connection" => connection(channel),
        "metadata" => metadata(),
        "attempts" => try_all(with, channel),
        "attempts_elsewhere" => elsewhere(with, channel),
        "attempt" => try_one(with, channel),
        "paces" => {}
        other => panic!("there is no scene {other}"),
    }
}

pub(super) fn act_in_the_open(scene: &str, with: &str, channel: &File) {
    match scene {
        "attempts" => try_all(with, channel),
        other => panic!("there is no scene {other} in the open"),
    }
}

fn try_all(outside: &str, channel: &File) {
    let outside: Outside = serde_json::from_str(outside).expect("it is told what there is");
    for finding in attest(&outside) {
        say(channel, &format!("{}\n", serde_json::to_string(&finding).expect("it is a finding")));
    }
}

/// From a thread, and from one that a runtime started.
fn elsewhere(outside: &str, channel: &File) {
    std::thread::scope(|scope| scope.spawn(|| try_all(outside, channel)).join()).expect("it ends");
    let (outside, channel) = (outside.to_owned(), channel.try_clone().expect("there are descriptors"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime
        .block_on(async { tokio::task::spawn_blocking(move || try_all(&outside, &channel)).await })
        .expect("it ends");
}

fn try_one(words: &str, channel: &File) {
    let (name, outside) = words.split_once(' ').expect("an attempt and what is outside");
    let outside: Outside = serde_json::from_str(outside).expect("it is told what there is");
    let attempt = attempts().find(|attempt| attempt.name == name).expect("there is one");
    say(channel, &format!("{}\n", attempt.run(&outside)));
}

fn ordinary() {
    println!("to nobody");
    eprintln!("to nobody");
    assert!(SystemTime::now() > SystemTime::UNIX_EPOCH);
    assert_eq!(HashMap::from([(1, 2)]).get(&1), Some(&2));
    let memory = vec![7_u8; 64 << 20];
    assert!(memory.iter().all(|byte| *byte == 7));
    let threads: Vec<_> = (0..8).map(|at| std::thread::spawn(move || at * 2)).collect();
    let sum: i32 = threads.into_iter().map(|thread| thread.join().expect("it ran")).sum();
    assert_eq!(sum, 56);
    std::panic::set_hook(Box::new(|_| {}));
    assert!(std::panic::catch_unwind(|| panic!("a body's own panic")).is_err());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let before = Instant::now();
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(before.elapsed() >= Duration::from_millis(5));
        assert_eq!(tokio::task::spawn_blocking(|| 3).await.expect("it ran"), 3);
        let (mut one, mut other) = tokio::net::UnixStream::pair().expect("a pair");
        one.write_all(b"words").await.expect("written");
        let mut heard = [0; 5];
        other.read_exact(&mut heard).await.expect("heard");
        assert_eq!(&heard, b"words");
    });
    let (mut reader, mut writer) = io::pipe().expect("a pipe");
    writer.write_all(b"words").expect("written");
    drop(writer);
    let mut heard = String::new();
    reader.read_to_string(&mut heard).expect("heard");
    assert_eq!(heard, "words");
    // What is not there is an error and not the end.
    for path in ["/etc/localtime", "/etc/resolv.conf", "/proc/self/status"] {
        assert_eq!(std::fs::read(path).expect_err("no file is there").kind(), io::ErrorKind::PermissionDenied);
    }
    assert!(std::env::current_exe().is_err());
    assert!(std::thread::available_parallelism().is_ok());
    // A pipe whose reader is gone is an error as well.
    let (reader, mut writer) = io::pipe().expect("a pipe");
    drop(reader);
    assert_eq!(writer.write_all(b"words").expect_err("nobody reads").kind(), io::ErrorKind::BrokenPipe);
}

fn open_descriptors() -> Vec<i32> {
    // Holds one of this test's own.
    drop(std::panic::take_hook());
    let is_open = |number: &i32| {
        // SAFETY: asks about a number; whoever owns what is behind it keeps it.
        unsafe { libc::fcntl(*number, libc::F_GETFD) >= 0 }
    };
    (0..1024).filter(is_open).collect()
}

/// Outlives its deadline in every way there is.
fn late(how: &str) {
    match how {
        "busy" => loop {
            std::hint::spin_loop();
        },
        "asleep" => std::thread::sleep(MOST),
        "deaf" => {
            // SAFETY: the set is written before it is read.
            unsafe {
                let mut all: libc::sigset_t = std::mem::zeroed();
                libc::sigfillset(&raw mut all);
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
            }
            std::thread::sleep(MOST);
        }
        "many" => {
            let spin = || loop {
                std::hint::spin_loop();
            };
            while std::thread::Builder::new().spawn(spin).is_ok() {}
            spin();
        }
        other => panic!("there is no way {other}"),
    }
}

fn threads() -> usize {
    let mut started = 0;
    while started < 1000 && std::thread::Builder::new().spawn(|| std::thread::sleep(MOST)).is_ok() {
        started += 1;
    }
    started
}

/// How many pieces of 16 MiB it is given before it is given none.
fn memory() -> usize {
    let mut held = Vec::new();
    loop {
        let mut piece: Vec<u8> = Vec::new();
        if held.len() == 1000 || piece.try_reserve_exact(16 << 20).is_err() {
            return held.len();
        }
        held.push(piece);
    }
}

fn socket() {
    // SAFETY: sets this thread's `errno`, which a refused call must change and nothing else.
    unsafe { *libc::__errno_location() = 0 };
    for _ in 0..10 {
        let refused = TcpStream::connect("127.0.0.1:9").expect_err("there is no network");
        assert_eq!(refused.raw_os_error(), Some(libc::EPERM));
    }
}

fn socket_blocked() {
    // SAFETY: the set is written before it is read.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
    }
    let _ = TcpStream::connect("127.0.0.1:9");
}

/// Talks over its channel, which is a connection in this scene, by tokio.
fn connection(channel: &File) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let stream = TcpStream::from(OwnedFd::from(channel.try_clone().expect("there are descriptors")));
    stream.set_nonblocking(true).expect("it can be waited for");
    runtime.block_on(async {
        let mut stream = tokio::net::TcpStream::from_std(stream).expect("a stream");
        stream.set_nodelay(true).expect("its options can be set");
        stream.write_all(b"question\n").await.expect("written");
        let mut heard = [0; 7];
        stream.read_exact(&mut heard).await.expect("heard");
        assert_eq!(&heard, b"answer\n");
    });
}

/// A descriptor may be asked about, by whichever way the C library has.
fn metadata() {
    let (reader, _writer) = io::pipe().expect("a pipe");
    let file = File::from(OwnedFd::from(reader));
    assert_eq!(file.metadata().expect("it is its own").len(), 0);
    // SAFETY: all zeros is a valid value of this structure.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
    // SAFETY: the structure is valid for the call.
    let by_path = |path: &std::ffi::CStr, about: &mut libc::stat| unsafe {
        libc::syscall(libc::SYS_newfstatat, descriptor, path.as_ptr(), about, libc::AT_EMPTY_PATH)
    };
    assert_eq!(by_path(c"", &mut about), 0);
    assert_eq!(about.st_mode & libc::S_IFMT, libc::S_IFIFO);
    assert_eq!(by_path(c"/", &mut about), -1);
    assert_eq!(io::Error::last_os_error().raw_os_error(), Some(libc::EACCES));
    assert_eq!(std::fs::metadata("/").expect_err("no path is there").raw_os_error(), Some(libc::EACCES));
}

/// A body that takes the timer away before it is locked.
fn disarmed(mut worker: Worker, channel: &File) {
    worker.arm(MOST).expect("there is a timer");
    for number in 0..64 {
        let _ = sys::attempt(libc::SYS_timer_delete, [number, 0, 0, 0, 0, 0]);
    }
    say(channel, &format!("{}\n", worker.lock().expect_err("its timer is gone")));
}

/// A body whose thread has filters of its own before it is locked.
fn filtered(mut worker: Worker, channel: &File) {
    worker.arm(MOST).expect("there is a timer");
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        sys::install(super::super::filter::Prepared::new().locked(), false).expect("it may still");
        tell.send(()).expect("somebody waits");
        std::thread::sleep(MOST);
    });
    told.recv().expect("it did");
    say(channel, &format!("{}\n", worker.lock().expect_err("another thread differs")));
}

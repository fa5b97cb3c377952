use core::time::Duration;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use capability_core::{Environment, Timestamp};

use super::{Credential, OperatorError, OperatorToken, SESSION_LIFETIME, TerminalBinding};

const PASSWORD: &str = "correct horse battery";

/// A clock that stands still until it is moved.
struct Still(AtomicI64);

impl Environment for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::Acquire))
    }

    fn fill_random(&self, _: &mut [u8]) {}
}

struct Bench {
    credential: Credential,
    clock: Arc<Still>,
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let (dir, clock) = (tempfile::tempdir().unwrap(), Arc::new(Still(AtomicI64::new(1_000_000_000_000_000))));
        let credential = Credential::open(dir.path().join("operator"), Arc::clone(&clock) as _).unwrap();
        Self { credential, clock, dir }
    }

    fn reopen(self) -> Self {
        let credential = Credential::open(self.dir.path().join("operator"), Arc::clone(&self.clock) as _).unwrap();
        Self { credential, ..self }
    }

    fn pass(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds * 1_000_000, Ordering::AcqRel);
    }

    fn files(&self) -> Vec<(String, u32, String)> {
        let dir = self.dir.path().join("operator");
        let file = |entry: std::io::Result<fs::DirEntry>| {
            let path = entry.unwrap().path();
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
            (path.file_name().unwrap().to_str().unwrap().to_owned(), mode, fs::read_to_string(&path).unwrap())
        };
        fs::read_dir(dir).unwrap().map(file).collect()
    }
}

#[test]
fn a_password_is_set_once_and_changed_with_the_old_one() {
    let bench = Bench::new();
    let credential = &bench.credential;
    assert!(matches!(credential.verify(PASSWORD), Err(OperatorError::NotSetUp)));
    assert!(matches!(credential.setup("too short"), Err(OperatorError::TooShort)));
    assert!(matches!(credential.setup(&"x".repeat(1025)), Err(OperatorError::TooLong)));
    assert!(!credential.is_set_up().unwrap());
    credential.setup("ünïcödé 10").unwrap();
    assert!(matches!(credential.setup(PASSWORD), Err(OperatorError::AlreadySetUp)));
    let token = credential.login("ünïcödé 10", None).unwrap();
    credential.change("ünïcödé 10", PASSWORD).unwrap();
    assert!(matches!(credential.check(&token), Err(OperatorError::NoSession)));
    assert!(matches!(credential.verify("ünïcödé 10"), Err(OperatorError::Wrong)));
    credential.verify(PASSWORD).unwrap();
    assert!(matches!(credential.verify(&format!("{PASSWORD}{}", "x".repeat(2000))), Err(OperatorError::Wrong)));
}

#[test]
fn nothing_secret_is_stored() {
    let bench = Bench::new();
    bench.credential.setup(PASSWORD).unwrap();
    let token = bench.credential.login(PASSWORD, None).unwrap();
    assert!(matches!(bench.credential.verify("wrong horse battery"), Err(OperatorError::Wrong)));
    let files = bench.files();
    assert_eq!(files.len(), 3);
    for (name, mode, content) in files {
        assert_eq!(mode, 0o600, "{name}");
        assert!(!content.contains("horse") && !content.contains(&token.reveal()), "{name}");
    }
    assert_eq!(OperatorToken::from_hex(&token.reveal()).unwrap().stored(), token.stored());
    assert!(OperatorToken::from_hex(&token.reveal()[1..]).is_none());
}

/// Guessing slows down, across restarts, and a success or enough time lets the next try through.
#[test]
fn wrong_passwords_wait() {
    let bench = Bench::new();
    bench.credential.setup(PASSWORD).unwrap();
    for _ in 0..3 {
        assert!(matches!(bench.credential.verify("wrong horse battery"), Err(OperatorError::Wrong)));
    }
    let bench = bench.reopen();
    let waits = |bench: &Bench| match bench.credential.verify(PASSWORD) {
        Err(OperatorError::TooSoon { wait }) => wait,
        other => panic!("{other:?}"),
    };
    assert_eq!(waits(&bench), Duration::from_secs(1));
    bench.pass(1);
    assert!(matches!(bench.credential.verify("wrong horse battery"), Err(OperatorError::Wrong)));
    assert_eq!(waits(&bench), Duration::from_secs(2));
    bench.pass(1);
    assert_eq!(waits(&bench), Duration::from_secs(1));
    // A clock that is set back neither skips the wait nor makes it endless.
    bench.pass(-1_000_000);
    assert_eq!(waits(&bench), Duration::from_secs(2));
    bench.pass(2);
    bench.credential.verify(PASSWORD).unwrap();
    bench.credential.verify(PASSWORD).unwrap();
}

/// The failure is on disk before the password is looked at.
#[test]
fn a_killed_check_counts_as_a_failure() {
    let bench = Bench::new();
    bench.credential.setup(PASSWORD).unwrap();
    bench.credential.state().attempts.begin(bench.clock.now()).unwrap();
    assert!(bench.files().iter().any(|(name, _, content)| name == "failures" && content.contains("\"in_a_row\":1")));
}

#[test]
fn sessions_end() {
    let bench = Bench::new();
    bench.credential.setup(PASSWORD).unwrap();
    let (one, two) = (bench.credential.login(PASSWORD, None).unwrap(), bench.credential.login(PASSWORD, None).unwrap());
    let lifetime = i64::try_from(SESSION_LIFETIME.as_secs()).unwrap();
    bench.pass(lifetime - 1);
    bench.credential.check(&one).unwrap();
    bench.credential.logout(&one).unwrap();
    assert!(matches!(bench.credential.check(&one), Err(OperatorError::NoSession)));
    let bench = bench.reopen();
    bench.credential.check(&two).unwrap();
    // Neither later nor, with a clock that was set back, before it was opened.
    bench.pass(1);
    assert!(bench.credential.check(&two).is_err());
    bench.pass(-lifetime - 1);
    assert!(bench.credential.check(&two).is_err());
    bench.pass(1);
    bench.credential.check(&two).unwrap();
    // Another start of the machine ends them all.
    let path = bench.dir.path().join("operator/sessions");
    let text = fs::read_to_string(&path).unwrap().replace(&super::terminal::boot_id(), "another boot");
    fs::write(&path, text).unwrap();
    assert!(bench.credential.check(&two).is_err());
    fs::write(&path, "damaged").unwrap();
    assert!(bench.credential.check(&two).is_err());
}

#[test]
fn a_terminal_is_this_very_one() {
    let bench = Bench::new();
    bench.credential.setup(PASSWORD).unwrap();
    let here = TerminalBinding::fake(34816, 100, 5000);
    bench.credential.login(PASSWORD, Some(here)).unwrap();
    assert!(bench.credential.live_session(&here).unwrap());
    for other in [(34817, 100, 5000), (34816, 101, 5000), (34816, 100, 5001)] {
        let other = TerminalBinding::fake(other.0, other.1, other.2);
        assert!(!bench.credential.live_session(&other).unwrap());
    }
    bench.credential.logout_terminal(&here).unwrap();
    assert!(!bench.credential.live_session(&here).unwrap());
    // A session without a terminal binds none.
    bench.credential.login(PASSWORD, None).unwrap();
    assert!(!bench.credential.live_session(&here).unwrap());
    assert_eq!(TerminalBinding::of(-1), None);
}

#[test]
fn a_weaker_or_damaged_hash_is_refused() {
    let bench = Bench::new();
    bench.credential.setup(PASSWORD).unwrap();
    let path = bench.dir.path().join("operator/password");
    let good = fs::read_to_string(&path).unwrap();
    assert!(good.starts_with("$argon2id$v=19$m=32768,t=2,p=1$"), "{good}");
    for wrong in [
        good.replace("m=32768", "m=8"),
        good.replace("t=2", "t=1"),
        good.replace("argon2id", "argon2i"),
        good.get(..good.len() / 2).unwrap().to_owned(),
        String::new(),
        PASSWORD.to_owned(),
    ] {
        fs::write(&path, &wrong).unwrap();
        let refused = bench.credential.verify(PASSWORD);
        assert!(matches!(refused, Err(OperatorError::File(_))), "{wrong}: {refused:?}");
        bench.pass(10_000);
    }
}

/// Between the right password and the session stands the record; a password that is changed meanwhile opens none.
#[test]
fn a_password_that_was_changed_since_opens_no_session() {
    let dir = tempfile::tempdir().unwrap();
    let environment = Arc::new(crate::environment::HostEnvironment::new().unwrap());
    let credential = Credential::open(dir.path().join("operator"), environment).unwrap();
    credential.setup("correct horse battery").unwrap();
    let verified = credential.verified("correct horse battery").unwrap();
    assert!(credential.open_session(&verified, None).is_ok());
    credential.change("correct horse battery", "another horse battery").unwrap();
    assert!(matches!(credential.open_session(&verified, None), Err(OperatorError::Wrong)));
}

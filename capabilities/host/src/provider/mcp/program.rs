//! A server that is a program of this machine.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use capability_core::handle::BrokerFault;
use tokio::net::UnixStream;

use super::lines::{Said, Writer};
use super::peer::Peer;
use crate::environment::random;
use crate::hex;
use crate::secrets::private_text;

#[cfg(all(target_os = "linux", target_endian = "little", any(target_arch = "x86_64", target_arch = "aarch64")))]
use crate::runner::worker::keeping::{Kept, Program, Streams};

/// How a program is started, by the operator's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramSettings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Names of variables that it is given as the host has them.
    pub pass: Vec<String>,
    /// Variables that it is given.
    pub set: Vec<(String, String)>,
    /// Variables that it is given, each from a file that is the host's alone. What it tells of them is masked.
    pub secrets: Vec<(String, PathBuf)>,
    /// Where it starts; in its own empty home, unless it is said.
    pub directory: Option<PathBuf>,
}

/// What every program is given: where programs are, and a language without surprises.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const LANG: &str = "C.UTF-8";
/// How long after its streams a program's end is waited for.
const ENDING: Duration = Duration::from_secs(1);

/// A program that was started: its word to come, and its streams.
pub struct Started {
    /// The program. Dropping it kills it and everything that it started.
    pub running: Running,
    /// What it reads.
    pub input: UnixStream,
    /// What it writes.
    pub output: UnixStream,
}

/// A program that runs, and its home. Dropping it kills the program and everything that it started.
pub struct Running {
    #[cfg(all(target_os = "linux", target_endian = "little", any(target_arch = "x86_64", target_arch = "aarch64")))]
    kept: Option<Kept>,
    home: Home,
    said: Said,
}

/// A fresh directory that nobody else reads, gone when it is dropped.
struct Home(PathBuf);

impl Home {
    fn make() -> std::io::Result<Self> {
        let name = random::<16>().map_err(std::io::Error::other)?;
        let path = std::env::temp_dir().join(format!("capability-home-{}", hex::encode(&name)));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl ProgramSettings {
    /// The whole environment of the program: nothing of the host's but what is named.
    fn environment(&self, home: &Path, secrets: &[String]) -> Vec<(OsString, OsString)> {
        let (path, lang, home) = (OsStr::new(PATH), OsStr::new(LANG), home.as_os_str());
        let fixed = [("PATH", path), ("LANG", lang), ("HOME", home), ("TMPDIR", home)];
        let mut all: Vec<(OsString, OsString)> =
            fixed.iter().map(|(name, value)| ((*name).into(), (*value).to_owned())).collect();
        let passed = self.pass.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
        let set = self.set.iter().map(|(name, value)| (name.into(), value.into()));
        let secret = self.secrets.iter().zip(secrets).map(|((name, _), value)| (name.into(), value.into()));
        for (name, value) in passed.chain(set).chain(secret) {
            all.retain(|(before, _)| *before != name);
            all.push((name, value));
        }
        all
    }

    /// Whether it is given a variable of that name.
    pub(crate) fn gives(&self, name: &str) -> bool {
        let given = self.set.iter().map(|(given, _)| given).chain(self.secrets.iter().map(|(given, _)| given));
        self.pass.iter().chain(given).any(|given| given == name)
    }

    /// What stands in the files of its secrets now.
    ///
    /// # Errors
    /// Those of [`private_text`]: when one cannot be read, is not the host's alone, or could not be found again in what the program
    /// says.
    pub fn secrets(&self) -> Result<Vec<String>, BrokerFault> {
        let read = |(_, file): &(String, PathBuf)| {
            String::from_utf8(private_text(file)?).map_err(|_| BrokerFault::CredentialUnreadable)
        };
        self.secrets.iter().map(read).collect()
    }

    /// Starts it, in a directory that it owns, with `hidden` out of its sight where that can be done.
    ///
    /// # Errors
    /// When this machine cannot start it, or cannot keep it together.
    #[cfg(all(target_os = "linux", target_endian = "little", any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub async fn start(&self, hidden: &Path, secrets: &[String]) -> std::io::Result<(Running, Peer)> {
        let Started { running, input, output } = self.launch(hidden, secrets, |_| Ok(Vec::new())).await?;
        Ok((running, Peer::over_lines(output, Writer::start(input))))
    }

    /// The same, with its streams as they are, and after `furnish` has put into its home what it finds there and has named further
    /// variables.
    ///
    /// # Errors
    /// When this machine cannot start it, or cannot keep it together.
    #[cfg(all(target_os = "linux", target_endian = "little", any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub async fn launch(
        &self,
        hidden: &Path,
        secrets: &[String],
        furnish: impl FnOnce(&Path) -> std::io::Result<Vec<(OsString, OsString)>>,
    ) -> std::io::Result<Started> {
        let home = Home::make()?;
        let mut environment = self.environment(&home.0, secrets);
        environment.extend(furnish(&home.0)?);
        let directory = self.directory.as_deref().unwrap_or(&home.0);
        let program = Program { command: &self.command, environment: &environment, directory, hidden };
        let (kept, Streams { input, output, errors }) = Kept::start(program).await?;
        let said = Said::listen(errors);
        Ok(Started { running: Running { kept: Some(kept), home, said }, input, output })
    }

    /// Elsewhere nothing kills a program with all that it started, so none is started.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(all(
        target_os = "linux",
        target_endian = "little",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )))]
    pub async fn start(&self, _: &Path, _: &[String]) -> std::io::Result<(Running, Peer)> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// See [`start`](Self::start).
    ///
    /// # Errors
    /// Always.
    #[cfg(not(all(
        target_os = "linux",
        target_endian = "little",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )))]
    pub async fn launch(
        &self,
        _: &Path,
        _: &[String],
        _: impl FnOnce(&Path) -> std::io::Result<Vec<(OsString, OsString)>>,
    ) -> std::io::Result<Started> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

impl Running {
    /// What it complained about, newest last. It may hold anything.
    pub async fn said(&self) -> String {
        self.said.text().await
    }

    /// Whether the program could be started at all; asked when it has ended.
    pub async fn was_started(&mut self) -> bool {
        #[cfg(all(
            target_os = "linux",
            target_endian = "little",
            any(target_arch = "x86_64", target_arch = "aarch64")
        ))]
        if let Some(kept) = &mut self.kept {
            return tokio::time::timeout(ENDING, kept.ended()).await.unwrap_or(true);
        }
        false
    }

    /// Whether the machine keeps it and all that it starts together, and out of sight of the hidden directory.
    pub fn is_apart(&self) -> bool {
        #[cfg(all(
            target_os = "linux",
            target_endian = "little",
            any(target_arch = "x86_64", target_arch = "aarch64")
        ))]
        return self.kept.as_ref().is_some_and(|kept| kept.holds().together && kept.holds().hidden);
        #[cfg(not(all(
            target_os = "linux",
            target_endian = "little",
            any(target_arch = "x86_64", target_arch = "aarch64")
        )))]
        false
    }

    /// Waits until it has ended by itself, and gives what it ended with; none when nobody can tell.
    pub async fn status(&mut self) -> Option<u8> {
        #[cfg(all(
            target_os = "linux",
            target_endian = "little",
            any(target_arch = "x86_64", target_arch = "aarch64")
        ))]
        if let Some(kept) = &mut self.kept {
            return kept.status().await;
        }
        None
    }

    /// Kills it and everything that it started, and waits until all of it is gone.
    pub async fn end(mut self) {
        #[cfg(all(
            target_os = "linux",
            target_endian = "little",
            any(target_arch = "x86_64", target_arch = "aarch64")
        ))]
        if let Some(kept) = self.kept.take() {
            kept.end().await;
        }
        let _ = &mut self.home;
    }
}

//! The host's own diagnostics, on standard error.

use std::io;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::protocol::Fault;
use crate::secrets::redactor;

/// Names how much is told.
const VARIABLE: &str = "CAPABILITY_LOG";

/// Begins to tell what the host itself has to say, from the level in `CAPABILITY_LOG` on; warnings and errors without it.
///
/// # Errors
/// When the variable holds no level.
pub fn install() -> Result<(), Fault> {
    let level = match std::env::var(VARIABLE) {
        Err(std::env::VarError::NotPresent) => LevelFilter::WARN,
        Ok(word) if word.is_empty() => LevelFilter::WARN,
        Ok(word) => word.parse().map_err(|_| unknown())?,
        Err(std::env::VarError::NotUnicode(_)) => return Err(unknown()),
    };
    // Plain text, on a terminal too: these lines are rare, and end up in files.
    let lines = tracing_subscriber::fmt::layer().with_writer(|| Redacted(io::stderr())).with_ansi(false);
    let told = filter_fn(move |event| *event.level() <= level && is_ours(event.target()));
    // Somebody who embeds the command line and listens already goes on listening.
    let _ = tracing_subscriber::registry().with(lines.with_filter(told)).try_init();
    Ok(())
}

/// Writes what it is given without secrets. A line comes as one piece.
struct Redacted<W>(W);

impl<W: io::Write> io::Write for Redacted<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let (mut stream, mut told) = (redactor().stream(), Vec::with_capacity(line.len()));
        stream.push(line, &mut told);
        stream.finish(&mut told);
        self.0.write_all(&told)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn unknown() -> Fault {
    Fault::usage(format!("`{VARIABLE}` holds no level"), "set it to off, error, warn, info, debug or trace")
}

/// Whether this crate says it. What a capability's own code or its libraries tell could hold an argument or a result, and
/// standard error is kept by whoever supervises a host.
fn is_ours(target: &str) -> bool {
    let rest = target.strip_prefix(env!("CARGO_CRATE_NAME"));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    #[test]
    fn a_line_of_the_log_holds_no_secret() {
        crate::secrets::note(b"a-secret-of-the-log").unwrap();
        let mut lines = Vec::new();
        let mut to = super::Redacted(&mut lines);
        to.write_all(b"WARN x=a-secret-of-the-log YS1zZWNyZXQtb2YtdGhlLWxvZw==\n").unwrap();
        assert_eq!(String::from_utf8(lines).unwrap(), "WARN x=[redacted] [redacted]\n");
    }

    #[test]
    fn nobody_else_is_heard() {
        assert!(super::is_ours("capability_host") && super::is_ours("capability_host::store::sqlite"));
        for other in ["", "household", "capability_hostile", "capability_core", "my::capability_host"] {
            assert!(!super::is_ours(other), "{other}");
        }
    }
}

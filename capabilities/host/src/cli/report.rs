//! Dated reports of the self-check.

use std::path::{Path, PathBuf};

use crate::protocol::{Fault, Probe, ProbeState};

/// Writes a report into `directory` and gives its path.
///
/// # Errors
/// When it cannot be written.
pub fn write(directory: &Path, probes: &[Probe]) -> Result<PathBuf, Fault> {
    let unwritten = |error: std::io::Error| {
        Fault::usage(format!("the report cannot be written: {error}"), "name a directory with `--report DIR`")
    };
    std::fs::create_dir_all(directory).map_err(unwritten)?;
    let date = today();
    let path = (1..)
        .map(|number| {
            directory.join(if number == 1 { format!("{date}-doctor.md") } else { format!("{date}-doctor-{number}.md") })
        })
        .find(|path| !path.exists())
        .unwrap_or_default();
    std::fs::write(&path, text(&date, probes)).map_err(unwritten)?;
    Ok(path)
}

fn today() -> String {
    let now = crate::environment::now().to_string();
    now.split('T').next().unwrap_or_default().to_owned()
}

fn text(date: &str, probes: &[Probe]) -> String {
    let mut text = format!(
        "# Self-check, {date}\n\nVersion {}, {} on {}.\n\n| probe | state | found |\n|---|---|---|\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    for probe in probes {
        let state = match probe.state {
            ProbeState::Ok => "ok",
            ProbeState::Weak => "weak",
            ProbeState::Failed => "failed",
        };
        text += &format!("| {} | {state} | {} |\n", probe.name, probe.found.replace('|', "\\|").replace('\n', " "));
    }
    text
}

//! Dated reports of the self-check.

use std::path::{Path, PathBuf};

use crate::display::text::written_out;
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
        text += &format!("| {} | {state} | {} |\n", cell(&probe.name), cell(&probe.found));
    }
    for probe in probes.iter().filter(|probe| !probe.answers.is_empty()) {
        text += &format!("\n## {}\n\n| tried | profile | answer |\n|---|---|---|\n", cell(&probe.name));
        for way in &probe.answers {
            text += &format!("| {} | {} | {} |\n", cell(&way.tried), cell(&way.profile), cell(&way.answer));
        }
    }
    text
}

/// A text of any number of lines in one cell of a table.
fn cell(text: &str) -> String {
    text.lines()
        .map(|line| written_out(line).replace('\\', "\\\\").replace('|', "\\|"))
        .collect::<Vec<_>>()
        .join("<br>")
}

#[cfg(test)]
mod tests {
    use crate::protocol::{Probe, ProbeState};

    #[test]
    fn a_finding_of_several_lines_stays_in_its_row() {
        let found = "one | two\r\nthree\u{2028}\u{85}four\\|\nfive\n";
        let probe =
            Probe { name: "a|b".into(), state: ProbeState::Weak, found: found.into(), help: None, answers: vec![] };
        let text = super::text("2026-01-02", &[probe]);
        let rows: Vec<_> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 3, "{text}");
        assert_eq!(rows[2], r"| a\|b | weak | one \| two<br>three\\u{2028}\\u{85}four\\\|<br>five |");
    }
}

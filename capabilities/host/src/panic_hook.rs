//! What is printed when something panics: where, never what.

use std::io::Write;
use std::panic::Location;

/// Replaces the process's panic hook. A panic's payload often quotes what it choked on, an argument for instance, so the
/// line names the place in the source and withholds the message.
pub fn install() {
    std::panic::set_hook(Box::new(|info| say(&line(info.location()))));
}

/// Prints such a line, of this process or of a worker.
pub(crate) fn say(line: &str) {
    // Nobody is left to tell when the standard error stream is closed.
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn line(location: Option<&Location<'_>>) -> String {
    match location {
        Some(at) => format!("panic at {}:{} (message withheld)", at.file(), at.line()),
        None => "panic at an unknown place (message withheld)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_line_has_a_place_and_nothing_else() {
        let here = std::panic::Location::caller();
        assert_eq!(super::line(Some(here)), format!("panic at {}:{} (message withheld)", here.file(), here.line()));
    }
}

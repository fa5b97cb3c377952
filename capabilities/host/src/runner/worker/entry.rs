//! Where a process that was started as a zygote, or as the keeper of a foreign program, turns off from `main`.

#![expect(unsafe_code, reason = "an entry in the table of functions that run before `main`")]

use std::ffi::OsStr;

use super::sandbox::{Profile, Strictness, keeper};
use super::{command, zygote};

/// What a zygote is called, in place of the program's name.
pub const NAME: &str = "capability-zygote";

// SAFETY: the section holds pointers to C functions that are called once, on the only thread there is. This one returns at
// once unless the process was started as a zygote or a keeper, and then never.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    // Nothing may unwind into the loader.
    if std::panic::catch_unwind(turn_off).is_err() {
        zygote::exit(1);
    }
}

/// Becomes a zygote, a keeper or what keeps a command, if that is what this process was started as.
///
/// It runs by itself before `main` where the C library hands the command line over that early; `main!` calls it for those
/// that do not.
pub fn turn_off() {
    let mut words = std::env::args_os();
    match words.next() {
        Some(name) if name == NAME => {}
        Some(name) if name == keeper::NAME => keeper::keep(words),
        Some(name) if name == keeper::INNER => keeper::be_kept(words),
        Some(name) if name == command::NAME => command::launcher::serve(),
        _ => return,
    }
    let (profile, strictness) = (words.next(), words.next());
    match (named(&PROFILES, profile.as_deref()), named(&STRICTNESSES, strictness.as_deref())) {
        (Some(profile), Some(strictness)) => zygote::serve(profile, strictness),
        _ => zygote::exit(2),
    }
}

/// How each profile is told to a zygote.
const PROFILES: [(&str, Profile); 2] = [("sealed", Profile::Sealed), ("connected", Profile::Connected)];
/// How each strictness is.
const STRICTNESSES: [(&str, Strictness); 2] = [("promised", Strictness::Promised), ("degraded", Strictness::Degraded)];

/// The words that a zygote of this cut is started with.
pub fn words(profile: Profile, strictness: Strictness) -> [&'static str; 2] {
    [name(&PROFILES, profile), name(&STRICTNESSES, strictness)]
}

fn name<T: PartialEq>(names: &[(&'static str, T)], of: T) -> &'static str {
    names.iter().find(|(_, one)| *one == of).map_or("", |(name, _)| name)
}

fn named<T: Copy>(names: &[(&'static str, T)], word: Option<&OsStr>) -> Option<T> {
    names.iter().find(|(name, _)| word == Some(OsStr::new(name))).map(|(_, one)| *one)
}

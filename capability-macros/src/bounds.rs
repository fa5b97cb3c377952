//! The values inside `bounds(..)`.

use core::fmt::Display;

use quote::ToTokens;
use syn::Lit;

use crate::args::{Entry, read_into};
use crate::diagnostics::{Problem, Sink};
use crate::keys;
use crate::model::Bounds;
use crate::paths;
use crate::units::{self, Malformed};
use crate::values::literal;

const CEILING_TIMEOUT_MS: u64 = 300_000;
const CEILING_MAX_RESULT: u64 = 8 * 1024 * 1024;
const CEILING_PER_TURN: u64 = 1000;

pub fn read(entry: &Entry, sink: &mut Sink) -> Bounds {
    let mut inner = Vec::new();
    read_into(&mut inner, entry.value.clone(), keys::BOUNDS, "bounds(..)", sink);
    let mut bounds = Bounds::default();
    for bound in &inner {
        match bound.word {
            "timeout" => bounds.timeout_ms = measure(bound, units::duration, CEILING_TIMEOUT_MS, &TIMEOUT, sink),
            "max_result" => bounds.max_result = measure(bound, units::size, CEILING_MAX_RESULT, &MAX_RESULT, sink),
            _ => bounds.per_turn = count(bound, sink),
        }
    }
    bounds
}

/// The words of one kind of bound.
struct Wording {
    rule: &'static str,
    ceiling: &'static str,
    example: &'static str,
    at_most: &'static str,
}

const TIMEOUT: Wording = Wording {
    rule: "a duration is a whole number and one of `ms`, `s`, `m` or `min`",
    ceiling: "no call may run longer than 300 s",
    example: "10s",
    at_most: "300s",
};
const MAX_RESULT: Wording = Wording {
    rule: "a size is a whole number and one of `B`, `KiB` or `MiB`",
    ceiling: "no result may be larger than 8 MiB",
    example: "64 KiB",
    at_most: "8 MiB",
};

const ENDLESS: &str = "every capability is bounded";
const ZERO: &str = "a bound of zero would let nothing run, and what never runs is `locked`";

fn measure(
    entry: &Entry,
    read: fn(&str) -> Result<u64, Malformed>,
    ceiling: u64,
    wording: &Wording,
    sink: &mut Sink,
) -> Option<u64> {
    let key = entry.word;
    let (fault, rule, help): (&str, &str, &str) = match literal(&entry.value) {
        Some(Lit::Str(text)) => match read(&text.value()) {
            Ok(0) => ("is zero", ZERO, wording.example),
            Ok(value) if value <= ceiling => return Some(value),
            Ok(_) => ("is above its ceiling", wording.ceiling, wording.at_most),
            Err(Malformed::Endless) => ("is endless", ENDLESS, wording.at_most),
            Err(Malformed::Number) => ("has no number", wording.rule, wording.example),
            Err(Malformed::Fraction) => ("is a fraction", wording.rule, wording.example),
            Err(Malformed::MissingUnit) => ("has no unit", wording.rule, wording.example),
            Err(Malformed::Unit(unit)) => {
                report_bound(entry, format_args!("`{key}` has the unit `{unit}`"), wording.rule, wording.example, sink);
                return None;
            }
        },
        Some(Lit::Int(number)) => {
            let help = format!("{number} {}", if key == "timeout" { "s" } else { "KiB" });
            let help = if read(&help).is_ok_and(|value| value > 0 && value <= ceiling) {
                help
            } else {
                wording.example.to_owned()
            };
            report_bound(entry, format_args!("`{key}` is a bare number"), wording.rule, &help, sink);
            return None;
        }
        Some(_) | None if ["None", "infinite", "unlimited"].contains(&paths::text(&entry.value).as_str()) => {
            ("is endless", ENDLESS, wording.at_most)
        }
        Some(_) | None => ("is not text in quotes", wording.rule, wording.example),
    };
    report_bound(entry, format_args!("`{key}` {fault}"), rule, help, sink);
    None
}

fn report_bound(entry: &Entry, wrong: impl Display, rule: &str, help: &str, sink: &mut Sink) {
    sink.report(&entry.value, Problem::new(wrong, rule, format_args!("write `{} = \"{help}\"`", entry.word)));
}

fn count(entry: &Entry, sink: &mut Sink) -> Option<u32> {
    let (fault, rule) = match literal(&entry.value) {
        Some(Lit::Int(number)) if number.suffix().is_empty() => match number.base10_parse::<u64>() {
            Ok(0) => ("is zero", ZERO),
            Ok(value) if value <= CEILING_PER_TURN => return u32::try_from(value).ok(),
            Ok(_) | Err(_) => ("is above its ceiling", "no turn may call one capability more than 1000 times"),
        },
        Some(_) | None => ("is not a whole number", "it counts the calls of one turn, from 1 to 1000"),
    };
    sink.report(
        entry.value.to_token_stream(),
        Problem::new(format_args!("`per_turn` {fault}"), rule, "write `per_turn = 1`"),
    );
    None
}

//! A validator's verdict in words: the place, the rule, and what would be right.

use serde_json::{Map, Value};

use super::choice;
use super::fault::{ArgumentCode, ArgumentFault, ResultFault};
use super::judge::Judge;
use super::suggest::{self, nearest, shown};
use super::words;
use crate::contract::schema::check::{Kind, Mistake};
use crate::contract::schema::recursion;
use crate::contract::schema::simplify::type_name;

/// How many mistakes one refusal tells: a caller can correct them together.
const MAX_TOLD: usize = 5;

/// Up to how many bytes of canonical text all mistakes are looked for; beyond, only the first.
const MAX_SEARCHED: usize = 64 * 1024;

/// One mistake.
pub(super) struct Told {
    pub(super) message: String,
    pub(super) help: String,
}

/// The refusal of `value`, which `judge` refuses; with `exact`, because of an integer that may have been rounded.
pub(super) fn refusal(judge: &Judge, value: &Value, exact: bool, length: usize) -> ArgumentFault {
    let schema = &judge.document;
    let mistakes = judge.mistakes(value, exact, if length > MAX_SEARCHED { 1 } else { usize::MAX });
    let told: Vec<Told> = mistakes.iter().take(MAX_TOLD).map(|mistake| tell(mistake, schema)).collect();
    let join = |part: fn(&Told) -> &str| {
        let mut lines: Vec<&str> = told.iter().map(part).filter(|line| !line.is_empty()).collect();
        lines.dedup();
        lines.join("\n")
    };
    let mut message = join(|told| &told.message);
    if mistakes.len() > MAX_TOLD {
        message.push_str(&format!("\nand {} more", mistakes.len() - MAX_TOLD));
    }
    let Some(first) = mistakes.first() else { return unsaid() };
    let (keyword, schema_path) = recorded(first, schema);
    ArgumentFault { code: ArgumentCode::Schema, message, help: join(|told| &told.help), keyword, schema_path }
}

/// The same for a result, of which nothing is told.
pub(super) fn result(judge: &Judge, value: &Value) -> ResultFault {
    let mistakes = judge.mistakes(value, false, 1);
    let (keyword, schema_path) = mistakes.first().map(|first| recorded(first, &judge.document)).unwrap_or_default();
    ResultFault { keyword, schema_path }
}

/// Arguments that are JSON and no object.
pub(super) fn not_an_object(value: &Value) -> ArgumentFault {
    let help = match value {
        Value::String(text) if text.trim_start().starts_with('{') => "send the object itself, not a text that holds it",
        Value::Null => "send `{}` when there are no arguments",
        Value::String(_) | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            "send an object with each argument under its name"
        }
    };
    ArgumentFault::new(
        ArgumentCode::NotAnObject,
        format!("the arguments must be an object, not {}", words::article(type_name(value))),
        help,
    )
}

/// Arguments whose defaults would take too much room.
pub(super) fn too_many_defaults() -> ArgumentFault {
    ArgumentFault::new(
        ArgumentCode::TooLarge,
        "the arguments: with their defaults filled in there are too many values",
        "send fewer entries",
    )
}

/// Arguments that are refused by a schema that has no words for it.
fn unsaid() -> ArgumentFault {
    ArgumentFault::new(
        ArgumentCode::Schema,
        "the arguments: they do not follow their schema",
        "send what the schema describes",
    )
}

/// What may be recorded of a mistake: both come from the schema alone.
fn recorded(mistake: &Mistake<'_>, schema: &Value) -> (Option<&'static str>, Option<String>) {
    (Some(mistake.kind.keyword()), Some(recursion::exported(schema, &mistake.schema)))
}

/// One mistake in words.
pub(super) fn tell(mistake: &Mistake<'_>, schema: &Value) -> Told {
    if let Some(inner) = choice::closest(mistake) {
        return tell(inner, schema);
    }
    let place = mistake.place.as_str();
    let (rule, help) = rule(mistake, schema);
    let place = if place.is_empty() { "the arguments".to_owned() } else { format!("`{}`", suggest::place(place)) };
    Told { message: format!("{place}: {rule}"), help }
}

/// The rule that a mistake is about, and what would be right.
fn rule(mistake: &Mistake<'_>, schema: &Value) -> (String, String) {
    let instance: &Value = &mistake.value;
    let node = around(mistake, schema);
    let named = |keyword: &str| node.and_then(|node| node.get(keyword));
    match &mistake.kind {
        Kind::Type => wrong_type(instance, named("type")),
        Kind::Inexact => (
            "must be an integer that is written in digits".to_owned(),
            "send it without fraction and exponent; above 9007199254740992 those are not exact".to_owned(),
        ),
        Kind::AdditionalProperties(unexpected) | Kind::UnevaluatedProperties(unexpected) => {
            unknown(unexpected, node.map(words::properties).unwrap_or_default())
        }
        Kind::Required(name) => {
            let name = name.as_ref();
            let described = node.and_then(|node| node.get("properties")?.get(name)).map(words::expected);
            (
                format!("`{name}` is missing"),
                format!("add `{name}`{}", described.map(|kind| format!(": {kind}")).unwrap_or_default()),
            )
        }
        Kind::Enum(options) => one_of(instance, options.as_array().map(Vec::as_slice).unwrap_or_default()),
        Kind::Constant(value) => one_of(instance, core::slice::from_ref(value.as_ref())),
        Kind::Minimum | Kind::Maximum | Kind::ExclusiveMinimum | Kind::ExclusiveMaximum => {
            let range = words::range(node, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum");
            (format!("{} is outside the range", shown(&instance.to_string())), format!("send a number {range}"))
        }
        Kind::MinLength | Kind::MaxLength => {
            let length = instance.as_str().map_or(0, |text| text.chars().count());
            let range = words::range(node, "minLength", "maxLength", "", "");
            (format!("the text has {length} characters"), format!("send a number of characters {range}"))
        }
        Kind::MinItems | Kind::MaxItems => {
            let length = instance.as_array().map_or(0, Vec::len);
            let range = words::range(node, "minItems", "maxItems", "", "");
            (format!("the list has {length} items"), format!("send a number of items {range}"))
        }
        Kind::MinProperties | Kind::MaxProperties => {
            let length = instance.as_object().map_or(0, Map::len);
            let range = words::range(node, "minProperties", "maxProperties", "", "");
            (format!("the object has {length} entries"), format!("send a number of entries {range}"))
        }
        Kind::Pattern(pattern) => {
            ("the text does not have its form".to_owned(), format!("send a text that matches `{pattern}`"))
        }
        Kind::Format(format) => (format!("the text is no {format}"), words::example(format)),
        Kind::UniqueItems => ("an item stands in the list twice".to_owned(), "send each item once".to_owned()),
        Kind::MultipleOf(multiple_of) => (
            format!("{} is not a multiple of {multiple_of}", shown(&instance.to_string())),
            format!("send a multiple of {multiple_of}"),
        ),
        Kind::NoItems(_) | Kind::Nothing => ("nothing is accepted there".to_owned(), "leave it out".to_owned()),
        Kind::Not(schema) => (
            "the value is one of those that are not accepted".to_owned(),
            match schema.get("const") {
                Some(value) => format!("send a value other than {}", shown(&value.to_string())),
                None => "send another value".to_owned(),
            },
        ),
        Kind::OneOfSeveral => (
            "the value fits more than one of the alternatives".to_owned(),
            "send the properties of one alternative only".to_owned(),
        ),
        Kind::AnyOf(branches) | Kind::OneOfNone(branches) => choice::alternatives(instance, branches, node),
        Kind::PropertyNames(inner) => {
            let (rule, help) = rule(inner, schema);
            (format!("a key is not accepted: {rule}"), help)
        }
        Kind::Other(keyword) => (format!("the rule `{keyword}` is broken"), "send a value that keeps it".to_owned()),
    }
}

/// The schema that holds the keyword a mistake is about.
fn around<'s>(mistake: &Mistake<'_>, schema: &'s Value) -> Option<&'s Value> {
    let path = recursion::exported(schema, &mistake.schema);
    schema.pointer(path.rsplit_once('/')?.0)
}

fn wrong_type(instance: &Value, expected: Option<&Value>) -> (String, String) {
    let names: Vec<&str> = match expected {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let wanted: Vec<String> = names.iter().map(|name| words::article(name)).collect();
    let wanted = words::either(&wanted);
    let rule = format!("must be {wanted}, not {}", words::article(type_name(instance)));
    let takes = |name: &str| names.contains(&name);
    let help = match instance {
        Value::String(text) => match serde_json::from_str::<Value>(text.trim()) {
            Ok(Value::Number(number)) if takes("number") || (takes("integer") && !number.is_f64()) => {
                format!("send {} without quotes", shown(text.trim()))
            }
            Ok(Value::Bool(_)) if takes("boolean") => format!("send {} without quotes", shown(text.trim())),
            Ok(Value::Null) if takes("null") => "send null without quotes".to_owned(),
            Ok(Value::Array(_)) if takes("array") => "send the list itself, not a text that holds it".to_owned(),
            Ok(Value::Object(_)) if takes("object") => "send the object itself, not a text that holds it".to_owned(),
            _ => format!("send {wanted}"),
        },
        Value::Number(_) | Value::Bool(_) if takes("string") => {
            format!("send \"{}\" in quotes", shown(&instance.to_string()))
        }
        Value::Number(number) if takes("integer") && number.is_f64() => "send a number without a fraction".to_owned(),
        Value::Null => format!("send {wanted}, or leave it out where it is optional"),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) if takes("array") => {
            format!("send a list, as in [{}]", shown(&instance.to_string()))
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => format!("send {wanted}"),
    };
    (rule, help)
}

fn unknown(unexpected: &[String], allowed: Vec<&str>) -> (String, String) {
    let names: Vec<String> = unexpected.iter().take(MAX_TOLD).map(|name| format!("`{}`", shown(name))).collect();
    let guesses: Vec<String> = unexpected
        .iter()
        .take(MAX_TOLD)
        .filter_map(|name| Some(format!("`{}` for `{}`", nearest(name, allowed.iter().copied())?, shown(name))))
        .collect();
    let mut help = if guesses.is_empty() { String::new() } else { format!("perhaps {}; ", guesses.join(", ")) };
    help.push_str(&if allowed.is_empty() {
        "leave it out: nothing is accepted there".to_owned()
    } else {
        format!("accepted are {}", words::listed(allowed.iter().map(|name| format!("`{name}`"))))
    });
    let verb = if names.len() == 1 { "is not" } else { "are not" };
    (format!("{} {verb} accepted", names.join(", ")), help)
}

/// A value that is none of those listed.
pub(super) fn one_of(instance: &Value, allowed: &[Value]) -> (String, String) {
    let texts: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
    let guess = instance.as_str().and_then(|written| nearest(written, texts));
    let mut help = guess.map(|guess| format!("perhaps \"{guess}\"; ")).unwrap_or_default();
    help.push_str(&format!("send {}", words::listed(allowed.iter().map(ToString::to_string))));
    (format!("{} is not one of the accepted values", shown(&instance.to_string())), help)
}

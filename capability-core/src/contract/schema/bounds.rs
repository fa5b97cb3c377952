//! What the generator says by a format of its own, said by bounds that every validator knows.

use core::cmp::Ordering;

use serde_json::{Map, Number, Value};

/// Replaces a number format by the exact bounds of the type it stands for, met with those the author wrote.
///
/// 128-bit integers get what a JSON number carries here, 64 bits: a wider one would go through a double.
pub(super) fn exact(schema: &mut Map<String, Value>) {
    let Some(format) = schema.get("format").and_then(Value::as_str) else { return };
    let limits: (Number, Number) = match format {
        "uint8" => (0.into(), u8::MAX.into()),
        "uint16" => (0.into(), u16::MAX.into()),
        "uint32" => (0.into(), u32::MAX.into()),
        "uint" => (0.into(), usize::MAX.into()),
        "uint64" | "uint128" => (0.into(), u64::MAX.into()),
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int" => (isize::MIN.into(), isize::MAX.into()),
        "int64" => (i64::MIN.into(), i64::MAX.into()),
        "int128" => (i64::MIN.into(), u64::MAX.into()),
        // A larger double would become infinite in a `f32`, which is not what was asked for or approved.
        "float" => match (Number::from_f64(f64::from(f32::MIN)), Number::from_f64(f64::from(f32::MAX))) {
            (Some(least), Some(greatest)) => (least, greatest),
            _ => return,
        },
        _ => return,
    };
    let (least, greatest) = limits;
    meet(schema, "minimum", least, Ordering::Less);
    meet(schema, "maximum", greatest, Ordering::Greater);
    schema.remove("format");
}

/// Writes `limit` under `keyword` unless what stands there is narrower already.
fn meet(schema: &mut Map<String, Value>, keyword: &str, limit: Number, wider: Ordering) {
    let narrower = schema
        .get(keyword)
        .and_then(Value::as_number)
        .is_some_and(|written| compare(written, &limit).is_some_and(|order| order != wider));
    if !narrower {
        schema.insert(keyword.to_owned(), Value::Number(limit));
    }
}

/// Compares two JSON numbers, integers exactly.
pub(super) fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

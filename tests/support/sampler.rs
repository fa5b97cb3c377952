//! Instances of a JSON Schema, and near misses of them.
//!
//! It knows a schema and nothing else, so it can be run over whatever a registry exports. Instances aim at the edges of
//! what the schema accepts and are not always accepted; whoever uses it asks a validator.

use serde_json::{Map, Value, json};

/// A reproducible source of choices.
pub struct Choices(u64);

impl Choices {
    /// The same seed makes the same choices.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.any() % limit.max(1) as u64).unwrap_or(0)
    }

    /// True once in `times`.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub fn of<'t, T>(&mut self, several: &'t [T]) -> Option<&'t T> {
        several.get(self.below(several.len()))
    }
}

/// How deep instances of recursive types go before they end.
const MAX_DEPTH: usize = 6;

/// An instance of `document`.
pub fn instance(document: &Value, choices: &mut Choices) -> Value {
    place(document, document, choices, 0)
}

fn place(document: &Value, schema: &Value, choices: &mut Choices, depth: usize) -> Value {
    let Some(keywords) = schema.as_object() else { return junk(choices) };
    if let Some(target) = keywords.get("$ref").and_then(Value::as_str) {
        let target = document.pointer(target.trim_start_matches('#')).unwrap_or(document);
        return place(document, target, choices, depth + 1);
    }
    if let Some(value) = keywords.get("const") {
        return value.clone();
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        return choices.of(values).cloned().unwrap_or_default();
    }
    let mut parts: Vec<Value> = Vec::new();
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = keywords.get(keyword).and_then(Value::as_array) {
            let ends = branches.iter().find(|branch| branch.get("type") == Some(&json!("null")));
            let branch = ends.filter(|_| depth > MAX_DEPTH).or_else(|| choices.of(branches));
            parts.extend(branch.map(|branch| place(document, branch, choices, depth)));
        }
    }
    for branch in keywords.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        parts.push(place(document, branch, choices, depth));
    }
    let own = match type_of(keywords, choices, depth) {
        Some("object") => object(document, keywords, choices, depth),
        Some("array") => array(document, keywords, choices, depth),
        Some("string") => match parts.first() {
            Some(Value::String(_)) => return parts.swap_remove(0),
            _ => string(keywords, choices),
        },
        Some("integer") => integer(keywords, choices),
        Some("number") => number(keywords, choices),
        Some("boolean") => Value::Bool(choices.one_in(2)),
        Some("null") => Value::Null,
        _ if keywords.contains_key("properties") => object(document, keywords, choices, depth),
        _ if keywords.contains_key("format") => string(keywords, choices),
        _ => return parts.into_iter().next().unwrap_or_else(|| junk(choices)),
    };
    parts.into_iter().fold(own, merged)
}

/// Objects together; of anything else, the first.
fn merged(mut own: Value, other: Value) -> Value {
    if let (Value::Object(own), Value::Object(other)) = (&mut own, other) {
        own.extend(other);
    }
    own
}

fn type_of<'s>(keywords: &'s Map<String, Value>, choices: &mut Choices, depth: usize) -> Option<&'s str> {
    let Some(names) = keywords.get("type")?.as_array() else { return keywords.get("type")?.as_str() };
    if depth > MAX_DEPTH && names.contains(&json!("null")) { Some("null") } else { choices.of(names)?.as_str() }
}

fn object(document: &Value, keywords: &Map<String, Value>, choices: &mut Choices, depth: usize) -> Value {
    let mut object = Map::new();
    let required = |name: &str| {
        keywords.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|one| one == name))
    };
    for (name, schema) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if required(name) || (depth <= MAX_DEPTH && choices.one_in(2)) {
            object.insert(name.clone(), place(document, schema, choices, depth + 1));
        }
    }
    let entries = if depth > MAX_DEPTH { 0 } else { choices.below(4) };
    for (pattern, schema) in keywords.get("patternProperties").and_then(Value::as_object).into_iter().flatten() {
        for _ in 0..entries {
            object.insert(matching(pattern, choices), place(document, schema, choices, depth + 1));
        }
    }
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        if let Some(schema @ Value::Object(_)) = keywords.get(keyword) {
            for _ in 0..entries {
                object.insert(text(choices), place(document, schema, choices, depth + 1));
            }
        }
    }
    Value::Object(object)
}

fn array(document: &Value, keywords: &Map<String, Value>, choices: &mut Choices, depth: usize) -> Value {
    let limit =
        |keyword: &str| keywords.get(keyword).and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
    let prefix = keywords.get("prefixItems").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let least = limit("minItems").unwrap_or(prefix.len());
    let more = if depth > MAX_DEPTH { 0 } else { choices.below(4) };
    let length = (least + more).min(limit("maxItems").unwrap_or(usize::MAX));
    let items = keywords.get("items");
    (0..length)
        .map(|index| match prefix.get(index).or(items) {
            Some(schema) => place(document, schema, choices, depth + 1),
            None => junk(choices),
        })
        .collect()
}

fn string(keywords: &Map<String, Value>, choices: &mut Choices) -> Value {
    if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str) {
        return Value::String(matching(pattern, choices));
    }
    if let Some(format) = keywords.get("format").and_then(Value::as_str) {
        let wrong = choices.one_in(8);
        let examples: &[&str] = match format {
            "ipv4" if wrong => &["1.2.3", "01.2.3.4", "256.1.1.1"],
            "ipv4" => &["192.0.2.1", "0.0.0.0", "255.255.255.255"],
            "ipv6" if wrong => &["fe80::1%eth0", ":::", "1::2::3"],
            "ipv6" => &["2001:db8::1", "::", "::ffff:192.0.2.1"],
            "date-time" => &["2026-02-28T13:45:00Z", "2026-02-28T13:45:00+01:00", "2026-02-30T00:00:00Z"],
            "date" => &["2026-02-28", "2024-02-29", "2025-02-29", "28.2.2026"],
            "time" => &["13:45:00Z", "23:59:60Z", "24:00:00Z"],
            "duration" => &["PT1H30M", "P1D", "1h"],
            "email" => &["name@example.org", "nobody"],
            "uuid" => &["67e55044-10b1-426f-9247-bb680e5fe0c8", "67e55044"],
            "uri" | "iri" => &["https://example.org/a?b#c", "urn:a:b", "/relative"],
            _ => &["", "a"],
        };
        return choices.of(examples).map(|text| json!(text)).unwrap_or_default();
    }
    let limit =
        |keyword: &str| keywords.get(keyword).and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
    let mut characters: Vec<char> = text(choices).chars().collect();
    while characters.len() < limit("minLength").unwrap_or(0) {
        characters.push(*choices.of(&['a', 'é', '☃', '👩', '\u{200d}']).unwrap_or(&'a'));
    }
    characters.truncate(limit("maxLength").unwrap_or(usize::MAX));
    Value::String(characters.into_iter().collect())
}

/// Some text: short, long, empty, quoted, outside the basic plane, looking like something else.
pub fn text(choices: &mut Choices) -> String {
    let texts = [
        "",
        "a",
        "ab",
        "é",
        "ééé",
        "👨‍👩‍👧",
        "1",
        "-1",
        "true",
        "null",
        "[1]",
        "{}",
        "a\"b\\c",
        "line\nbreak\t",
        "\u{1}",
        "\u{7f}",
        "__proto__",
        "$ref",
        "A",
        "B",
        "C",
        "x",
        "value",
        "😀",
        "\u{fffd}",
        "ß",
        "a/b~c",
        "2026-02-28",
        "1.5",
        "01",
    ];
    match choices.below(12) {
        0 => "x".repeat(choices.below(300)),
        1 => format!("k{}", choices.below(1000)),
        _ => choices.of(&texts).map(ToString::to_string).unwrap_or_default(),
    }
}

fn integer(keywords: &Map<String, Value>, choices: &mut Choices) -> Value {
    let limit = |keyword: &str| keywords.get(keyword).and_then(Value::as_number).and_then(serde_json::Number::as_i128);
    let low = limit("minimum").unwrap_or(i128::from(i64::MIN));
    let high = limit("maximum").unwrap_or(i128::from(u64::MAX));
    let exact = 1_i128 << 53;
    let outside = choices.one_in(24);
    let picked = match choices.below(9) {
        0 | 1 if outside => low - 1,
        2 | 3 if outside => high + 1,
        0 => low,
        1 => high,
        2 => low + 1,
        3 => high - 1,
        4 => 0_i128.clamp(low, high.max(low)),
        5 => (-1_i128).clamp(low, high.max(low)),
        6 => {
            let edge = *choices.of(&[exact - 1, exact, exact + 1, -exact, -exact - 1]).unwrap_or(&0);
            if outside { edge } else { edge.clamp(low, high.max(low)) }
        }
        7 => low + i128::from(choices.any()) % (high - low + 1).max(1),
        _ => i128::from(choices.below(100) as u64).clamp(low, high.max(low)),
    };
    match (u64::try_from(picked), i64::try_from(picked)) {
        (Ok(natural), _) if natural < 1 << 52 && choices.one_in(6) => json!(natural as f64),
        (Ok(natural), _) => json!(natural),
        (Err(_), Ok(negative)) => json!(negative),
        (Err(_), Err(_)) => json!(picked as f64),
    }
}

fn number(keywords: &Map<String, Value>, choices: &mut Choices) -> Value {
    if choices.one_in(3) {
        return integer(keywords, choices);
    }
    let numbers = [
        0.0,
        -0.0,
        0.1,
        -1.5,
        30.0,
        1e-320,
        5e-324,
        1e17,
        1e300,
        -1e300,
        f64::MAX,
        f64::MIN,
        3.4e38,
        3.5e38,
        1.0 / 3.0,
        9_007_199_254_740_992.0,
        9_007_199_254_740_994.0,
        2.5e-7,
        123_456.789,
    ];
    match choices.below(4) {
        0 => json!(f64::from_bits(choices.any())),
        _ => choices.of(&numbers).map(|number| json!(number)).unwrap_or_default(),
    }
}

/// Any small JSON value.
pub fn junk(choices: &mut Choices) -> Value {
    match choices.below(12) {
        0 => Value::Null,
        1 => json!(choices.one_in(2)),
        2 => json!(choices.any()),
        3 => json!(1.5),
        4 => json!([]),
        5 => json!({}),
        6 => json!([1, "a", null]),
        7 => json!({ "a": 1 }),
        8 => integer(&Map::new(), choices),
        9 => number(&Map::new(), choices),
        _ => Value::String(text(choices)),
    }
}

/// A near miss: `value` with one or two places changed.
pub fn mutated(mut value: Value, choices: &mut Choices) -> Value {
    for _ in 0..=choices.below(2) {
        let mut places = 0;
        count(&value, &mut places);
        let mut chosen = choices.below(places);
        change(&mut value, &mut chosen, choices);
    }
    value
}

fn count(value: &Value, places: &mut usize) {
    *places += 1;
    match value {
        Value::Array(items) => items.iter().for_each(|item| count(item, places)),
        Value::Object(object) => object.values().for_each(|value| count(value, places)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn change(value: &mut Value, chosen: &mut usize, choices: &mut Choices) -> bool {
    if *chosen == 0 {
        *value = changed(value.take(), choices);
        return true;
    }
    *chosen -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| change(item, chosen, choices)),
        Value::Object(object) => object.values_mut().any(|value| change(value, chosen, choices)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn changed(value: Value, choices: &mut Choices) -> Value {
    match (choices.below(5), value) {
        (0, _) => junk(choices),
        (1, value) => json!([value]),
        (2, value @ (Value::Number(_) | Value::Bool(_) | Value::Null)) => Value::String(value.to_string()),
        (3, Value::Object(mut object)) => {
            let name = object.keys().nth(choices.below(object.len())).cloned();
            name.map(|name| object.remove(&name));
            Value::Object(object)
        }
        (_, Value::Object(mut object)) => {
            object.insert(text(choices), junk(choices));
            Value::Object(object)
        }
        (_, Value::Array(mut items)) => {
            if choices.one_in(2) {
                items.push(junk(choices));
            } else {
                items.pop();
            }
            Value::Array(items)
        }
        (_, Value::Number(number)) => match number.as_f64() {
            Some(double) => {
                json!(*choices.of(&[double + 1.0, double - 1.0, -double, double * 2.0, double + 0.5]).unwrap_or(&0.0))
            }
            None => Value::Null,
        },
        (_, Value::String(text)) => Value::String(if choices.one_in(2) { text + "x" } else { text.to_uppercase() }),
        (_, Value::Bool(value)) => json!(!value),
        (_, Value::Null) => junk(choices),
    }
}

/// A text that `pattern` matches: literals, classes, groups, alternatives and counted repetition, which is what patterns
/// of capabilities are made of.
pub fn matching(pattern: &str, choices: &mut Choices) -> String {
    let mut rest: Vec<char> = pattern.chars().rev().collect();
    alternatives(&mut rest, choices)
}

fn alternatives(rest: &mut Vec<char>, choices: &mut Choices) -> String {
    let mut all = vec![String::new()];
    while let Some(next) = rest.pop() {
        let mut pick: Vec<String> = match next {
            ')' => break,
            '|' => {
                all.push(String::new());
                continue;
            }
            '^' | '$' => continue,
            '(' => {
                if rest.ends_with(&[':', '?']) {
                    rest.truncate(rest.len() - 2);
                }
                vec![alternatives(rest, choices)]
            }
            '[' => class(rest),
            '\\' => match rest.pop() {
                Some('d') => ('0'..='9').map(String::from).collect(),
                Some('w') => ('a'..='z').chain(['_', '7']).map(String::from).collect(),
                Some(other) => vec![other.to_string()],
                None => Vec::new(),
            },
            '.' => vec!["x".to_owned()],
            plain => vec![plain.to_string()],
        };
        let times = repetition(rest, choices);
        pick.retain(|text| !text.is_empty());
        if let Some(last) = all.last_mut() {
            for _ in 0..times {
                last.push_str(choices.of(&pick).map_or("", String::as_str));
            }
        }
    }
    choices.of(&all).cloned().unwrap_or_default()
}

fn class(rest: &mut Vec<char>) -> Vec<String> {
    let mut members = Vec::new();
    while let Some(first) = rest.pop() {
        match first {
            ']' => break,
            '\\' => members.extend(rest.pop().map(String::from)),
            first if rest.last() == Some(&'-') && rest.len() > 1 && rest.get(rest.len() - 2) != Some(&']') => {
                rest.pop();
                members.extend((first..=rest.pop().unwrap_or(first)).map(String::from));
            }
            first => members.push(first.to_string()),
        }
    }
    members
}

fn repetition(rest: &mut Vec<char>, choices: &mut Choices) -> usize {
    match rest.last() {
        Some('?') => {
            rest.pop();
            choices.below(2)
        }
        Some('*') => {
            rest.pop();
            choices.below(4)
        }
        Some('+') => {
            rest.pop();
            1 + choices.below(4)
        }
        Some('{') => {
            rest.pop();
            let mut counts = String::new();
            while let Some(next) = rest.pop().filter(|next| *next != '}') {
                counts.push(next);
            }
            let (least, most) = counts.split_once(',').unwrap_or((&counts, &counts));
            let least: usize = least.parse().unwrap_or(0);
            let most: usize = most.parse().unwrap_or(least + 4);
            least + choices.below(most.saturating_sub(least) + 1)
        }
        _ => 1,
    }
}

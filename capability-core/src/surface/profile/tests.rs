use serde_json::{Value, json};

use super::{Profile, RenderedTool};
use crate::surface::shown;

fn rendered(profile: Profile, exported: &Value) -> RenderedTool {
    profile.tool("a-tool", "Does it.", exported, &shown(exported))
}

fn parameters(profile: Profile, exported: &Value) -> (Value, Vec<String>) {
    let RenderedTool { tool, losses, .. } = rendered(profile, exported);
    let key = match profile {
        Profile::Mcp => "inputSchema",
        Profile::Anthropic => "input_schema",
        Profile::OpenAi | Profile::Gemini => "parameters",
    };
    let told = losses.iter().map(|loss| format!("{} {}", loss.construct, loss.path)).collect();
    (tool.unwrap()[key].clone(), told)
}

fn closed(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "additionalProperties": false, "properties": properties, "required": required })
}

/// Every place of a schema in the dialect of Gemini.
fn places<'s>(schema: &'s Value, all: &mut Vec<&'s Value>) {
    all.push(schema);
    let below = ["items"].iter().filter_map(|key| schema.get(*key));
    let listed = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let named = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|named| named.values());
    for place in below.chain(listed).chain(named) {
        places(place, all);
    }
}

#[test]
fn a_tool_without_arguments_is_a_closed_object_everywhere() {
    let none = json!({ "type": "object", "additionalProperties": false, "properties": {} });
    for profile in [Profile::Mcp, Profile::Anthropic] {
        assert_eq!(parameters(profile, &none), (none.clone(), Vec::new()));
    }
    let (strict, losses) = parameters(Profile::OpenAi, &none);
    assert_eq!((strict, losses.len()), (closed(&json!({}), &[]), 0));
    assert_eq!(rendered(Profile::OpenAi, &none).tool.unwrap()["strict"], true);
    let (gemini, losses) = parameters(Profile::Gemini, &none);
    assert_eq!((gemini, losses.len()), (json!({ "type": "object", "properties": {} }), 1));
}

#[test]
fn strict_requires_everything_and_says_where_it_cannot() {
    // The length is said as a pattern; what may be left out may not be null, so it is told.
    let foreign =
        closed(&json!({ "city": { "type": "string", "minLength": 1 }, "unit": { "type": "string" } }), &["city"]);
    let tool = rendered(Profile::OpenAi, &foreign);
    assert_eq!(tool.tool.as_ref().unwrap()["strict"], false);
    assert_eq!(tool.tool.unwrap()["parameters"], foreign);
    let [loss] = tool.losses.as_slice() else { panic!("{:?}", tool.losses) };
    assert!(loss.path == "/properties/unit" && loss.why.starts_with("not strict-able: "), "{loss}");

    let ours = closed(
        &json!({
            "city": { "type": "string", "minLength": 1, "maxLength": 9 },
            "unit": { "anyOf": [{ "type": "string", "oneOf": [
                { "const": "c", "type": "string", "description": "Celsius." }, { "const": "f", "type": "string" },
            ]}, { "type": "null" }]},
            "days": { "type": "integer", "minimum": 1, "maximum": 7, "default": 1, "description": "How many." },
        }),
        &["city"],
    );
    let (strict, losses) = parameters(Profile::OpenAi, &ours);
    assert_eq!(losses, [] as [String; 0]);
    assert_eq!(
        strict,
        closed(
            &json!({
                "city": { "type": "string", "pattern": r"^[\s\S]{1,9}$" },
                "unit": { "anyOf": [
                    { "type": "string", "enum": ["c", "f"], "description": "`c`: Celsius." }, { "type": "null" },
                ]},
                "days": { "type": "integer", "minimum": 1, "maximum": 7, "description": "How many. Default: 1." },
            }),
            &["city", "days", "unit"],
        )
    );
}

#[test]
fn what_is_not_strict_able_is_named_by_place() {
    for (property, construct, path) in [
        (json!({ "type": "string", "maxLength": 4096 }), "maxLength", "/properties/a"),
        (json!({ "type": "string", "format": "uri" }), "format", "/properties/a"),
        (
            json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            "additionalProperties",
            "/properties/a",
        ),
        (
            json!({ "type": "object", "additionalProperties": false,
                 "patternProperties": { "^a$": { "type": "string" } } }),
            "patternProperties",
            "/properties/a",
        ),
        (
            json!({ "type": "array", "prefixItems": [{ "type": "string" }], "items": false }),
            "prefixItems",
            "/properties/a",
        ),
        (
            json!({ "type": "array", "uniqueItems": true, "items": { "type": "string" } }),
            "uniqueItems",
            "/properties/a",
        ),
        (json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }] }), "oneOf", "/properties/a"),
        (json!({ "not": { "type": "string" } }), "not", "/properties/a"),
        (
            json!({ "type": "array", "items": { "type": "object", "properties": {} } }),
            "additionalProperties",
            "/properties/a/items",
        ),
        (json!({ "made up": 1 }), "unknown keyword", "/properties/a"),
        (json!(true), "boolean schema", "/properties/a"),
    ] {
        let tool = rendered(Profile::OpenAi, &closed(&json!({ "a": property }), &["a"]));
        let found = tool.losses.iter().any(|loss| (loss.construct, loss.path.as_str()) == (construct, path));
        assert!(found, "{property} {:?}", tool.losses);
        assert_eq!(tool.tool.unwrap()["strict"], false);
        assert!(tool.losses.iter().all(|loss| loss.why.starts_with("not strict-able: ")));
    }
    // Alternatives that no value fits two of are as good as one of them.
    let tagged = json!({ "oneOf": [
        closed(&json!({ "kind": { "const": "a", "type": "string" } }), &["kind"]),
        closed(&json!({ "kind": { "const": "b", "type": "string" } }), &["kind"]),
    ]});
    assert_eq!(rendered(Profile::OpenAi, &closed(&json!({ "a": tagged }), &["a"])).losses, []);
    // A type that holds itself is no trouble there.
    let recursive = closed(
        &json!({ "v": { "type": "integer" }, "next": { "anyOf": [{ "$ref": "#" }, { "type": "null" }] } }),
        &["v"],
    );
    assert_eq!(rendered(Profile::OpenAi, &recursive).losses, []);
    // Its root is one object.
    let union = json!({ "type": "object", "oneOf": [closed(&json!({}), &[])] });
    assert!(rendered(Profile::OpenAi, &union).losses.iter().any(|loss| loss.path.is_empty()));
}

#[test]
fn gemini_gets_one_type_a_place_and_no_references() {
    let exported = json!({
        "type": "object", "additionalProperties": false, "required": ["people"],
        "$defs": { "P": { "type": "object", "additionalProperties": false, "properties": { "name": { "type": "string" } } } },
        "properties": {
            "people": { "type": "array", "items": { "$ref": "#/$defs/P" } },
            "level": { "description": "How.", "type": "string", "oneOf": [
                { "const": "a", "type": "string", "description": "first" },
                { "const": "b", "type": "string", "description": "second" },
            ]},
            "maybe": { "type": ["integer", "null"], "default": 3 },
            "either": { "description": "Which.", "anyOf": [{ "type": "string" }, { "type": "integer" }] },
            "map": { "type": "object", "additionalProperties": false, "patternProperties": { "^[0-9]+$": { "type": "string" } } },
            "pair": { "type": "array", "prefixItems": [{ "type": "integer" }, { "type": "string" }], "items": false, "minItems": 2 },
            "bytes": { "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": 255 } },
            "one": { "const": 1 },
            "when": { "type": "string", "format": "date" },
        },
    });
    let (gemini, losses) = parameters(Profile::Gemini, &exported);
    let mut all = Vec::new();
    places(&gemini, &mut all);
    for place in &all {
        let object = place.as_object().unwrap();
        assert!(object.contains_key("type") || object.contains_key("anyOf"), "{place}");
        assert!(object.get("type").is_none_or(Value::is_string), "{place}");
        assert!(!object.contains_key("anyOf") || object.len() == 1, "{place}");
        for keyword in ["$ref", "oneOf", "const", "additionalProperties", "patternProperties", "prefixItems", "default"]
        {
            assert!(!object.contains_key(keyword), "{keyword}: {place}");
        }
    }
    assert_eq!(gemini["properties"]["people"]["items"]["properties"]["name"]["type"], "string");
    let level = json!({ "type": "string", "enum": ["a", "b"], "description": "How. `a`: first `b`: second" });
    assert_eq!(gemini["properties"]["level"], level);
    assert_eq!(
        gemini["properties"]["maybe"],
        json!({ "type": "integer", "nullable": true, "description": "Default: 3." })
    );
    assert_eq!(gemini["properties"]["either"]["anyOf"][1], json!({ "type": "integer", "description": "Which." }));
    for lost in [
        "patternProperties /properties/map",
        "prefixItems /properties/pair",
        "enum /properties/one",
        "format /properties/when",
    ] {
        assert!(losses.iter().any(|loss| loss == lost), "{lost}: {losses:?}");
    }
    assert!(!losses.iter().any(|loss| loss.contains("bytes") || loss.contains("level")), "{losses:?}");
}

#[test]
fn what_holds_itself_ends_somewhere() {
    let own = json!({ "type": "object", "properties": { "v": { "type": "integer" }, "next": { "anyOf": [{ "$ref": "#" }, { "type": "null" }] } } });
    let node = json!({ "type": "object", "properties": { "child": { "$ref": "#/$defs/N" } } });
    let by_name = json!({
        "type": "object", "properties": { "child": { "$ref": "#/$defs/N" } }, "$defs": { "N": node },
    });
    let mutual = json!({
        "type": "object", "properties": { "a": { "$ref": "#/$defs/A" } },
        "$defs": { "A": { "type": "object", "properties": { "b": { "$ref": "#/$defs/B" } } },
                   "B": { "type": "object", "properties": { "a": { "$ref": "#/$defs/A" } } } },
    });
    for document in [own, by_name, mutual] {
        let (gemini, losses) = parameters(Profile::Gemini, &document);
        let mut all = Vec::new();
        places(&gemini, &mut all);
        assert!(all.len() < 12 && losses.iter().any(|loss| loss.starts_with("$ref ")), "{gemini} {losses:?}");
    }
}

#[test]
fn hostile_documents_cost_little() {
    // Ten references to ten references, and so on: written out it would be ten thousand million places.
    let mut defs = serde_json::Map::new();
    for level in 0..10 {
        let target = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        let all: serde_json::Map<String, Value> = (0..10).map(|at| (format!("p{at}"), target.clone())).collect();
        defs.insert(format!("d{level}"), json!({ "type": "object", "properties": all }));
    }
    defs.insert("d10".to_owned(), json!({ "type": "string" }));
    let bomb = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": defs });
    let tool = rendered(Profile::Gemini, &bomb);
    assert!(tool.tool.is_none() && tool.losses[0].construct == "$ref", "{:?}", tool.losses);

    let mut deep = json!({ "type": "string" });
    for _ in 0..10_000 {
        let mut outer = serde_json::Map::new();
        outer.insert("items".to_owned(), deep);
        deep = Value::Object(outer);
    }
    for profile in Profile::ALL {
        let tool = profile.tool("a-tool", "Does it.", &deep, &json!({}));
        assert!(tool.tool.is_none() && tool.losses[0].construct == "depth", "{:?}", tool.losses);
    }
    // Taken apart level by level: dropped as it is, it would need as many stack frames.
    while let Some(inner) = deep.get_mut("items") {
        deep = inner.take();
    }
}

#[test]
fn anthropic_gets_a_plain_root() {
    let union = json!({
        "type": "object", "oneOf": [
            closed(&json!({ "kind": { "const": "a", "type": "string" }, "x": { "type": "integer" } }), &["kind", "x"]),
            closed(&json!({ "kind": { "const": "b", "type": "string" }, "y": { "type": "integer" } }), &["kind"]),
        ],
    });
    let (schema, losses) = parameters(Profile::Anthropic, &union);
    assert_eq!(losses, ["oneOf "]);
    assert_eq!(schema["required"], json!(["kind"]));
    assert_eq!(schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["kind", "x", "y"]);
    assert_eq!(schema["properties"]["kind"]["anyOf"].as_array().unwrap().len(), 2);
    assert!(schema.get("oneOf").is_none() && schema["additionalProperties"] == false);
    // Deeper down they stay.
    let inner = closed(&json!({ "a": union }), &["a"]);
    assert_eq!(parameters(Profile::Anthropic, &inner), (shown(&inner).into_owned(), Vec::new()));
    // A name that makes the provider refuse every tool takes its own out.
    let named = closed(&json!({ "a b": { "type": "string" } }), &[]);
    let tool = rendered(Profile::Anthropic, &named);
    assert!(tool.tool.is_none() && tool.losses[0].path == "/properties/a b");
}

#[test]
fn a_name_is_as_long_as_the_provider_takes() {
    let none = closed(&json!({}), &[]);
    for (length, taken) in [(64, Profile::ALL.as_slice()), (65, &[Profile::Mcp]), (128, &[Profile::Mcp]), (129, &[])] {
        for profile in Profile::ALL {
            let tool = profile.tool(&"a".repeat(length), "Does it.", &none, &none);
            assert_eq!(tool.tool.is_some(), taken.contains(&profile), "{profile} {length}");
        }
    }
}

#[test]
fn a_profile_is_known_by_its_word() {
    for profile in Profile::ALL {
        assert_eq!(profile.as_str().parse(), Ok(profile));
    }
    assert!("OpenAI".parse::<Profile>().unwrap_err().to_string().contains("help: "));
}

//! The argument object is closed, described, and has no title; a function without arguments has an empty one.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::__private::CAPABILITIES;
use capability_core::capability;
use capability_core::contract::Schemas;
use capability_core::handle::Context;

/// Where to look.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Place {
    /// The city.
    city: String,
}

#[capability(name = "schema.named", version = 1, side_effect = read_only, network = local)]
async fn named(
    context: &Context,
    /// What to look for
    /// exactly.
    #[schemars(length(min = 1, max = 500))]
    query: String,
    limit: Option<u8>,
    /// Where.
    #[serde(rename = "where")]
    place: Option<Place>,
    #[serde(default)] verbose: bool,
) -> Result<u32, String> {
    let _ = (context, limit, place, verbose);
    u32::try_from(query.len()).map_err(|error| error.to_string())
}

#[capability(name = "schema.none", version = 1, side_effect = read_only, network = local)]
async fn none(context: &Context) {
    let _ = context;
}

#[capability(name = "schema.whole", version = 1, side_effect = read_only, network = local)]
fn whole(#[args] place: Place) -> String {
    place.city
}

#[capability(name = "schema.locked", version = 1, side_effect = read_only, network = local, locked)]
fn locked(limit: u8) -> u8;

fn main() {
    let schemas = |name: &str| {
        let entry = CAPABILITIES.iter().find(|entry| entry.name().as_str() == name).expect(name);
        Schemas::of(entry).expect(name)
    };
    let arguments = |name: &str| schemas(name).arguments().to_string();
    let named: serde_json::Value = schemas("schema.named").arguments().clone();
    assert_eq!(named["required"], serde_json::json!(["query"]));
    assert_eq!(named["additionalProperties"], false);
    assert_eq!(named["properties"]["query"]["description"], "What to look for exactly.");
    assert_eq!(named["properties"]["query"]["maxLength"], 500);
    assert_eq!(named["properties"]["limit"]["maximum"], 255);
    assert!(named["properties"]["where"].is_object() && named["properties"]["place"].is_null());
    assert!(named["title"].is_null() && named["properties"]["context"].is_null());
    assert!(arguments("schema.none").contains(r#""properties":{}"#), "{}", arguments("schema.none"));
    assert!(arguments("schema.none").contains(r#""additionalProperties":false"#));
    assert!(arguments("schema.whole").contains(r#""required":["city"]"#));
    assert!(arguments("schema.locked").contains(r#""required":["limit"]"#));
    assert_eq!(schemas("schema.named").result()["maximum"], u32::MAX);
    assert_eq!(schemas("schema.none").result()["type"], "null");
}

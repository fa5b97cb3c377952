//! The OpenAPI document, made from the very table that the routes are made from.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::api::{OPERATIONS, Operation};
use super::guard::CSRF_HEADER;
use super::refused::Refused;

/// The document: OpenAPI 3.1, whose schemas are JSON Schema 2020-12.
pub fn document() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let refused = generator.subschema_for::<Refused>();
    let mut paths = Map::new();
    for operation in &OPERATIONS {
        let mut described = json!({
            "summary": operation.summary,
            "operationId": id(operation),
            "parameters": parameters(operation, &mut generator),
            "responses": {
                "200": { "description": "Done", "content": content(&(operation.gives)(&mut generator)) },
                "default": { "description": "Not done", "content": content(&refused) },
            },
        });
        if let (Some(takes), Some(described)) = (operation.takes, described.as_object_mut()) {
            let body = json!({ "required": true, "content": content(&takes(&mut generator)) });
            described.insert("requestBody".to_owned(), body);
        }
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        if let Some(path) = path.as_object_mut() {
            path.insert(operation.method.to_owned(), described);
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Approval centre",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "For an operator's own programs. Whatever proposes calls has no credential for it.",
        },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "The token that `capability operator login --token-file FILE` wrote" },
                "session": { "type": "apiKey", "in": "cookie", "name": "capability_PORT", "description": format!("A session of the pages; what changes something then carries `{CSRF_HEADER}`") },
            },
        },
        "security": [{ "token": [] }, { "session": [] }],
    })
}

fn content(schema: &schemars::Schema) -> Value {
    json!({ "application/json": { "schema": schema } })
}

/// `get_api_approvals_id`.
fn id(operation: &Operation) -> String {
    let path = operation.path.trim_start_matches('/').trim_end_matches(".json");
    let words = path.split('/').map(|part| part.trim_matches(|c| c == '{' || c == '}'));
    words.fold(operation.method.to_owned(), |id, word| id + "_" + word)
}

fn parameters(operation: &Operation, generator: &mut schemars::SchemaGenerator) -> Vec<Value> {
    let named = operation.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters: Vec<_> = named
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    if let Some(asks) = operation.asks {
        let schema = asks(generator);
        let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
        let asked = name.and_then(|name| generator.definitions().get(name)).and_then(|schema| schema.get("properties"));
        for (name, schema) in asked.and_then(Value::as_object).into_iter().flatten() {
            parameters.push(json!({ "name": name, "in": "query", "required": false, "schema": schema }));
        }
    }
    parameters
}

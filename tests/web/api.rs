//! The interface for programs: the same rules, and a document that says what there is.

use std::thread::sleep;

use serde_json::{Value, json};

use crate::centre::{ARMED, Centre};

const LOOKUP: &[&str] = &["house.lookup", r#"{"host":"time.example"}"#];

#[test]
fn a_program_of_an_operator_reads_and_answers() {
    let centre = Centre::new();
    let program = centre.program();
    let id = centre.home.pending(&[&["--reason", "because"], LOOKUP].concat());
    let queue = program.get("/api/approvals").is(200).json();
    let first = &queue["waiting"][0];
    assert_eq!((&first["id"], &first["status"], &first["risk"]), (&json!(id), &json!("pending"), &json!("medium")));
    assert_eq!(first["target"], json!({ "kind": "host", "text": "time.example" }));
    let path = format!("/api/approvals/{id}");
    let card = program.get(&path).is(200).json();
    assert_eq!(card["arguments"], r#"{"host":"time.example"}"#);
    assert_eq!((&card["claimed_reason"], &card["because"]), (&json!("because"), &json!(["floor_required"])));
    let approve = |stamp: &Value| program.post_json(&format!("{path}/approve"), &json!({ "stamp": stamp }));
    approve(&card["stamp"]).refused(409, "too_soon");
    approve(&json!("1.00")).refused(409, "not_as_shown");
    sleep(ARMED);
    let answer = approve(&card["stamp"]).is(200).json();
    assert_eq!((&answer["status"], &answer["approval"]), (&json!("approved"), &json!(id)));
    assert!(answer["receipt"]["seq"].is_u64());
    approve(&card["stamp"]).refused(409, "already_answered");
    assert_eq!(program.get("/api/approvals").json()["answered"][0]["id"], json!(id));
    assert_eq!(centre.home.json(&["resume", &id]).1["outcome"], "executed");
    let operator = &centre.home.records_of("approval")[0]["operator"];
    assert_eq!(operator, "operator@api");
}

#[test]
fn a_token_that_ended_is_none() {
    let centre = Centre::new();
    let program = centre.program();
    program.get("/api/approvals").is(200);
    centre.home.operate(&["operator", "logout"]).exits(0);
    program.get("/api/approvals").refused(401, "no_session");
}

#[test]
fn what_is_sent_in_another_shape_is_refused_and_not_repeated() {
    let centre = Centre::new();
    let program = centre.program();
    let id = centre.home.pending(LOOKUP);
    for (path, body) in [
        (format!("/api/approvals/{id}/approve"), json!({})),
        (format!("/api/approvals/{id}/approve"), json!({ "stamp": 7 })),
        (format!("/api/approvals/{id}/approve"), json!({ "stamp": "", "canary-7f3a": true })),
        (format!("/api/approvals/{id}/deny"), json!({ "note": ["canary-7f3a"] })),
        (format!("/api/approvals/{id}/deny"), json!("canary-7f3a")),
        ("/api/optins/house".to_owned(), json!({ "on": "canary-7f3a" })),
    ] {
        let answer = program.post_json(&path, &body).refused(400, "malformed");
        assert!(!answer.body.contains("canary"), "{answer:#?}");
        let answer = program.send("POST", &path, "text/plain", &body.to_string()).refused(400, "malformed");
        assert!(!answer.body.contains("canary"), "{answer:#?}");
    }
    for path in ["/api/audit?canary-7f3a=1", "/api/approvals/canary-7f3a", "/api/canary-7f3a"] {
        let answer = program.get(path);
        assert!(matches!(answer.status, 400 | 404) && !answer.body.contains("canary"), "{answer:#?}");
    }
    program.send("DELETE", &format!("/api/approvals/{id}"), "", "").refused(405, "no_such_method");
}

/// Every operation of the document is answered, and says no to whoever is nobody.
#[test]
fn the_document_describes_what_is_served() {
    let centre = Centre::new();
    let document = centre.program().get("/api/openapi.json").is(200).json();
    assert_eq!(document["openapi"], "3.1.0");
    let id = centre.home.pending(LOOKUP);
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() >= 9, "{paths:?}");
    for (path, operations) in paths {
        let address = path.replace("{id}", &id).replace("{family}", "house");
        for (method, operation) in operations.as_object().unwrap() {
            assert!(operation["summary"].is_string() && operation["responses"]["200"].is_object(), "{path}");
            let method = method.to_uppercase();
            let nobody = centre.anybody().send(&method, &address, "application/json", "{}");
            // Whoever says nothing of where it comes from changes nothing either.
            assert!(matches!(nobody.status, 401 | 403), "{method} {path}: {nobody:#?}");
            let known = centre.program().send(&method, &address, "application/json", "{}");
            assert!(matches!(known.status, 200 | 400 | 409), "{method} {path}: {known:#?}");
            let named: Vec<_> =
                operation["parameters"].as_array().unwrap().iter().filter(|one| one["in"] == "path").collect();
            assert_eq!(named.len(), path.matches('{').count(), "{path}");
        }
    }
    // Every reference leads somewhere, and what is described follows its schema where it is looked at closely.
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(document.pointer(reference).is_some(), "{reference}");
    }
    let asked = &document["paths"]["/api/audit"]["get"]["parameters"];
    assert_eq!(asked.as_array().unwrap().len(), 4, "{asked}");
}

#[test]
fn the_log_is_read_and_its_chain_told() {
    let centre = Centre::new();
    let program = centre.program();
    centre.home.pending(LOOKUP);
    let outcomes = program.get("/api/audit?event=outcome&capability=house.lookup").is(200).json();
    assert_eq!(outcomes.as_array().unwrap().len(), 1);
    assert_eq!(outcomes[0]["outcome"], "pending");
    assert_eq!(program.get("/api/audit?event=outcome&subject=nobody").json(), json!([]));
    assert_eq!(program.get("/api/audit/chain").is(200).json()["holds"], true);
    let operator = centre.logged_in();
    let page = operator.get("/audit?event=outcome").is(200).body;
    assert!(page.contains("The chain holds.") && page.contains("house.lookup@1"));
    assert!(!page.contains("data-event=\"configuration\""));
    operator.get("/audit?event=").is(200);
    operator.get("/audit?page=7").refused(400, "malformed");
}

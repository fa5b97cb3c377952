//! A yes to a call with other arguments.

use axum::extract::State;
use axum::response::Response;
use capability_core::approval::ApprovalStatus;
use maud::html;
use serde::Deserialize;
use serde_json::Value;

use super::answers::consent;
use super::{Here, Page, on_to};
use crate::display::text::is_hidden;
use crate::web::answer::{self, Consent};
use crate::web::forms::{Named, Sent};
use crate::web::guard::Who;
use crate::web::refused::Refused;
use crate::web::shown;

/// `GET /approvals/{id}/edit`.
pub async fn page(State(web): Here, who: Who, Named(id): Named) -> Result<Response, Refused> {
    let detail = answer::detail(&web, &who, id).await?;
    let Some(pending) = detail.content.as_ref().filter(|_| detail.summary.status == ApprovalStatus::Pending) else {
        return Ok(on_to(&format!("/approvals/{id}")));
    };
    let arguments = String::from_utf8_lossy(&pending.arguments);
    let body = html! {
        article.card #edit-card data-approval=(id) {
            h1 { "Other arguments for " span.capability { (pending.capability) "@" (pending.version) } }
            @if let Some((kind, target)) = &pending.target { p.target { (shown::target(*kind, target)) } }
            p { "The call with these arguments is a new one: it is checked from the start, approved once, and comes in place of the one that waits." }
            form #edit-form.yes method="post" action={ "/approvals/" (id) "/edit" } data-arm=(answer::ARM.as_millis()) {
                (consent(&web, &who, &detail, pending, "typed"))
                label for="arguments-text" { "Arguments: a JSON object" }
                textarea #arguments-text name="arguments" spellcheck="false" autocomplete="off" dir="ltr" required { (laid_out(&arguments)) }
                button.approve #approve-edited type="submit" { "Approve this instead, once" }
            }
            p { a href={ "/approvals/" (id) } { "Back to the call as it was asked for" } }
        }
    };
    Ok(Page { title: "Other arguments", place: "/approvals", body }.show(&web, &who))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    stamp: String,
    typed: Option<String>,
    arguments: String,
    #[serde(rename = "csrf")]
    _csrf: String,
}

/// `POST /approvals/{id}/edit`.
pub async fn edit(State(web): Here, who: Who, Named(id): Named, Sent(edit): Sent<Edit>) -> Result<Response, Refused> {
    let Edit { stamp, typed, arguments, .. } = edit;
    let edited = answer::edit(&web, &who, id, &Consent { stamp, typed }, arguments).await?;
    match edited.successor {
        Some(successor) => Ok(on_to(&format!("/approvals/{successor}"))),
        None => {
            let told = |key: &str| edited.outcome.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let end = if edited.superseded { "; the call that waited has ended" } else { "" };
            let message = format!("the call with these arguments is refused: {}{end}", told("message"));
            Err(Refused::conflict("edit_refused", message, told("help")))
        }
    }
}

/// The same JSON text with line breaks between its parts, and with everything that hides escaped. Numbers stay to the last
/// digit as they are: nothing is read and written again.
fn laid_out(json: &str) -> String {
    let (mut out, mut depth, mut inside, mut escaped) = (String::with_capacity(json.len() * 2), 0_usize, false, false);
    let mut rest = json.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(core::iter::repeat_n("  ", depth));
    };
    while let Some(c) = rest.next() {
        if inside {
            if is_hidden(c) {
                out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
            } else {
                out.push(c);
            }
            inside = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => {
                inside = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                if !matches!(rest.peek(), Some('}' | ']')) {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                if !out.ends_with(['{', '[']) {
                    depth = depth.saturating_sub(1);
                    line(&mut out, depth);
                }
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::laid_out;

    #[test]
    fn arguments_are_laid_out_and_nothing_in_them_hides() {
        let json = "{\"a\":[1,{\"b\\\"]\":\"x\u{202e}\\\\\"}],\"n\":9007199254740993,\"e\":{},\"l\":[]}";
        let wanted = "{\n  \"a\": [\n    1,\n    {\n      \"b\\\"]\": \"x\\u202e\\\\\"\n    }\n  ],\n  \"n\": 9007199254740993,\n  \"e\": {},\n  \"l\": []\n}";
        assert_eq!(laid_out(json), wanted);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_the_same_value(value in value()) {
            let text = laid_out(&value.to_string());
            prop_assert!(!text.chars().any(|c| c != '\n' && super::is_hidden(c)), "{text:?}");
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
    }
}

//! How the person at a client is asked.
//!
//! A client says for its person whatever it likes, so what it says is no answer by itself: it makes us look at how things
//! stand. It counts where an operator bound that client to a person, and then the host takes it, not this module.

use core::time::Duration;

use rmcp::model::{
    ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequests, InputRequiredResult, InputResponses,
};
use rmcp::service::{Peer, RoleServer};
use serde_json::Value;

use super::result::command;
use crate::protocol::{Said, ToolWaits};

/// What the one question of a call is called.
const KEY: &str = "confirmation";
/// The field of a form that the person ticks.
const FIELD: &str = "approve";

/// How a client can ask its person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By a form.
    Form,
    /// By opening a page.
    Page,
}

/// What came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The form, filled in as it asks for, with a yes.
    Yes,
    /// The person is said not to have agreed. That is no denial: a client is nobody's voice for that either.
    No,
    /// Anything else, a page that was opened included.
    Nothing,
}

impl Answer {
    /// What the host is told of it.
    pub const fn said(self) -> Said {
        match self {
            Self::Yes => Said::Yes,
            Self::No | Self::Nothing => Said::Nothing,
        }
    }
}

/// How this question can be put to that client, if at all: by what it declared, and nothing else.
pub fn way(capabilities: Option<&ClientCapabilities>, waits: &ToolWaits) -> Option<Way> {
    let declared = capabilities?.elicitation.as_ref()?;
    // A client of before there were two ways declares neither and has the form.
    let form = declared.form.is_some() || declared.url.is_none();
    match (form, declared.url.is_some() && waits.link.is_some()) {
        // An answer at the client is given in the form that shows what would run.
        (true, _) if waits.answers => Some(Way::Form),
        (_, true) => Some(Way::Page),
        (true, false) => Some(Way::Form),
        (false, false) => None,
    }
}

fn params(way: Way, waits: &ToolWaits) -> Option<ElicitRequestParams> {
    let command = command(waits.approval);
    let place = match &waits.link {
        Some(link) => format!("{link} or {command}"),
        None => command,
    };
    let capability = match &waits.end.capability {
        Some((name, version)) => format!("{name}@{version}"),
        None => "a call".to_owned(),
    };
    Some(match way {
        Way::Page => ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message: format!("{capability} waits for an operator's answer. Answer there, and then go on here."),
            url: waits.link.clone()?,
            elicitation_id: waits.approval.to_string(),
        },
        Way::Form => {
            let (message, title) = if waits.answers {
                (format!("{}\nThe same can be answered at {place}.", waits.question), "Run exactly this, once")
            } else {
                let told = format!("{capability} waits for an operator's answer at {place}. Answer there first.");
                (told, "It is answered there")
            };
            let requested_schema =
                ElicitationSchema::builder().required_bool_with(FIELD, |field| field.title(title)).build().ok()?;
            ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
        }
    })
}

/// Asks a client of before 2026, for so long. Whatever goes wrong is no answer.
pub async fn ask(peer: &Peer<RoleServer>, way: Way, waits: &ToolWaits, patience: Duration) -> Answer {
    let Some(params) = params(way, waits) else { return Answer::Nothing };
    match peer.create_elicitation_with_timeout(params, Some(patience)).await {
        Ok(result) => answer(&result),
        Err(_) => Answer::Nothing,
    }
}

/// The question as an answer to the call, for a client of 2026 or later.
pub fn required(way: Way, waits: &ToolWaits) -> Option<InputRequiredResult> {
    let request = InputRequest::Elicitation(ElicitRequest::new(params(way, waits)?));
    let requests = InputRequests::from([(KEY.to_owned(), request)]);
    Some(InputRequiredResult::new(Some(requests), Some(waits.state.clone())))
}

/// What such a client brings along, where it brings anything to this question; whatever else it brings is passed over.
pub fn brought(responses: Option<&InputResponses>) -> Option<Answer> {
    let result = responses?.get(KEY)?;
    let result = serde_json::from_value::<ElicitResult>(result.clone()).ok();
    Some(result.as_ref().map_or(Answer::Nothing, answer))
}

fn answer(result: &ElicitResult) -> Answer {
    let form = result.content.as_ref().and_then(Value::as_object).filter(|form| form.len() == 1);
    match (&result.action, form.and_then(|form| form.get(FIELD))) {
        (ElicitationAction::Accept, Some(Value::Bool(true))) => Answer::Yes,
        (ElicitationAction::Accept, Some(Value::Bool(false))) => Answer::No,
        (ElicitationAction::Accept, _) => Answer::Nothing,
        _ => Answer::No,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};
    use rmcp::model::InputResponses;
    use serde_json::{Value, json};

    use super::{Answer, brought};

    fn told(result: Value) -> Answer {
        brought(Some(&InputResponses::from([("confirmation".to_owned(), result)]))).unwrap()
    }

    #[test]
    fn only_the_form_as_it_is_asked_for_is_a_yes() {
        assert_eq!(told(json!({ "action": "accept", "content": { "approve": true } })), Answer::Yes);
        for no in [
            json!({ "action": "accept", "content": { "approve": false } }),
            json!({ "action": "decline", "content": { "approve": true } }),
            json!({ "action": "cancel" }),
        ] {
            assert_eq!(told(no.clone()), Answer::No, "{no}");
        }
        for nothing in [
            json!({ "action": "accept" }),
            json!({ "action": "accept", "content": null }),
            json!({ "action": "accept", "content": {} }),
            json!({ "action": "accept", "content": true }),
            json!({ "action": "accept", "content": { "approve": "true" } }),
            json!({ "action": "accept", "content": { "approve": 1 } }),
            json!({ "action": "accept", "content": { "approve": true, "more": 1 } }),
            json!({ "action": "yes", "content": { "approve": true } }),
            json!({ "content": { "approve": true } }),
            json!("accept"),
            json!(null),
        ] {
            assert_eq!(told(nothing.clone()), Answer::Nothing, "{nothing}");
        }
        assert_eq!(brought(None), None);
        let other =
            InputResponses::from([("other".to_owned(), json!({ "action": "accept", "content": { "approve": true } }))]);
        assert_eq!(brought(Some(&other)), None);
    }

    proptest! {
        #[test]
        fn no_other_content_is_a_yes(key in ".{0,9}", text in any::<String>(), yes in any::<bool>()) {
            let expected = if key == "approve" && yes { Answer::Yes } else if key == "approve" { Answer::No } else { Answer::Nothing };
            prop_assert_eq!(told(json!({ "action": "accept", "content": { key.clone(): yes } })), expected);
            prop_assert_eq!(told(json!({ "action": "accept", "content": { key: text } })), Answer::Nothing);
        }
    }
}

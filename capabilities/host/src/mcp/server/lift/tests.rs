use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest};
use serde_json::{Value, json};

use super::{Arguments, lift, read};

fn call(arguments: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"a-b","arguments":{arguments}}}}}"#)
}

fn lifted(message: &str) -> Option<Arguments> {
    lift(message.as_bytes()).ok().unwrap().arguments
}

fn error(message: &[u8]) -> Value {
    let refused = match lift(message) {
        Err(refused) => refused,
        Ok(lifted) => read(&lifted.message).err().unwrap(),
    };
    let value = serde_json::to_value(refused).unwrap();
    json!([value.get("id"), value["error"]["code"]])
}

#[test]
fn arguments_come_through_byte_for_byte() {
    let deep = format!("{}1{}", r#"{"a":"#.repeat(5000), "}".repeat(5000));
    for arguments in [
        "{}",
        r#"{ "n":1, "n":2 }"#,
        "[1]",
        "null",
        "\"text\"",
        r#"{"n":18446744073709551616,"f":1e400,"g":1.0000000000000001,"z":-0}"#,
        r#"{"\u0061":"\ud83d\ude00"}"#,
        &deep,
    ] {
        assert_eq!(lifted(&call(arguments)), Some(Arguments(arguments.to_owned())));
        let message = lift(call(arguments).as_bytes()).ok().unwrap().message;
        let message = read(&message).ok().unwrap();
        let ClientJsonRpcMessage::Request(request) = message else { panic!("no request") };
        let ClientRequest::CallToolRequest(request) = request.request else { panic!("no call") };
        assert_eq!((request.params.name.as_ref(), request.params.arguments), ("a-b", None));
    }
    let none = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a-b"}}"#;
    assert_eq!(lifted(none), Some(Arguments("{}".to_owned())));
    assert_eq!(lifted(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#), None);
}

#[test]
fn what_cannot_be_read_is_answered_and_with_its_id_where_it_has_one() {
    for (message, answer) in [
        ("", json!([null, -32700])),
        ("{", json!([null, -32700])),
        ("[]", json!([null, -32600])),
        ("[1]", json!([null, -32600])),
        ("1", json!([null, -32600])),
        (r#"{"id":1,"id":2,"method":"ping"}"#, json!([null, -32600])),
        (r#"[3,"tools/call",{"name":"a-b"}]"#, json!([null, -32600])),
        (r#"{"jsonrpc":"2.0","id":3,"method":"tools/call"}"#, json!([3, -32602])),
        (r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":[null,"a-b",{}]}"#, json!([3, -32602])),
        (r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":[]}"#, json!(["x", -32602])),
        (r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":1}}"#, json!([3, -32602])),
        (r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","name":"b"}}"#, json!([3, -32602])),
        (r#"{"jsonrpc":"2.0","id":3}"#, json!([3, -32600])),
        (r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":1}}"#, json!([3, -32602])),
        (r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"a","cursor":"b"}}"#, json!([3, -32602])),
        (r#"{"jsonrpc":"2.0","id":3,"method":"prompts/list","params":["a"]}"#, json!([3, -32602])),
    ] {
        assert_eq!(error(message.as_bytes()), answer, "{message}");
    }
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":4,"method":"ping","params":{}1{}}}"#, "[".repeat(300), "]".repeat(300));
    assert_eq!(error(deep.as_bytes()), json!([4, -32600]));
    assert_eq!(error(b"{\"id\":\"\xff\"}"), json!([null, -32700]));
}

fn noise() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte]),
        proptest::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "null",
            "1",
            "\"id\"",
            "\"method\"",
            "\"tools/call\"",
            "\"params\"",
            "\"name\"",
            "\"arguments\"",
            "\"jsonrpc\":\"2.0\"",
            "\"\\u0000\"",
            "1e999",
        ])
        .prop_map(|word| word.as_bytes().to_vec()),
    ];
    proptest::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

proptest! {
    /// Whatever comes is read or answered. A call that is read has its arguments beside it, and no other place has any.
    #[test]
    fn any_bytes_are_read_or_answered(bytes in noise()) {
        if let Ok(lifted) = lift(&bytes)
            && let Ok(ClientJsonRpcMessage::Request(request)) = read(&lifted.message)
            && let ClientRequest::CallToolRequest(call) = request.request
        {
            prop_assert!(lifted.arguments.is_some() && call.params.arguments.is_none());
        }
    }

    /// No part of the arguments is left in what the library reads.
    #[test]
    fn arguments_are_in_one_place_only(text in "[a-z]{12}") {
        let arguments = json!({ "secret": text }).to_string();
        let lifted = lift(call(&arguments).as_bytes()).ok().unwrap();
        prop_assert!(!String::from_utf8(lifted.message).unwrap().contains(&text));
        prop_assert_eq!(lifted.arguments, Some(Arguments(arguments)));
    }
}

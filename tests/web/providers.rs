//! Servers whose tools can be called, as an operator meets them: on the pages, on a card, and on the command line.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::centre::Centre;
use crate::home::{Home, until};

const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/providers/lab.py");

fn tools(file: &Path, description: &str) {
    let schema = json!({ "type": "object", "properties": { "x": { "type": "integer" } } });
    let claims = json!({ "readOnlyHint": true, "openWorldHint": false });
    let torn = json!({ "readOnlyHint": true, "destructiveHint": true });
    let tools = json!([
        { "name": "alpha", "description": description, "inputSchema": schema, "annotations": claims },
        { "name": "odd", "description": "", "inputSchema": { "type": "string" } },
        { "name": "torn", "description": "", "inputSchema": { "type": "object" }, "annotations": torn },
    ]);
    // In one step: the server looks at it all the time.
    fs::write(file.with_extension("new"), tools.to_string()).unwrap();
    fs::rename(file.with_extension("new"), file).unwrap();
}

#[test]
fn what_changed_is_shown_and_accepted_as_it_was_shown() {
    let home = Home::with_operator();
    let file = home.top().join("tools.json");
    tools(&file, "reads <i>one</i> thing");
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("python/bin/python");
    let config = format!(
        "[mcp.servers.lab]\ncommand = [{python:?}, {LAB:?}, \"from_file\", {file:?}]\nstart = \"with_host\"\ndiscovery_s = 50\n"
    );
    let centre = Centre::of(home, &config);
    let operator = centre.logged_in();
    let is = |state: &str, unusable: &str| {
        let page = operator.get("/providers").is(200).body;
        (page.contains(&format!("data-server=\"lab\" data-state=\"{state}\"")) && page.contains(unusable)).then_some(())
    };
    until("its connection", || is("ready", "3 tools"));
    centre.home.run(&["providers", "list"]).exits(0).says(&["lab", "with the host", "2 of 3", "ready"]);
    centre.home.run(&["providers", "tools", "lab"]).exits(0).says(&[
        "alpha",
        "accepted",
        "mutating + external",
        "it only reads",
        "not taken: a schema of it cannot be enforced",
        "it only reads, it may destroy, which contradicts itself",
    ]);
    assert!(operator.get("/providers/lab").body.contains("not taken: a schema of it cannot be enforced"));

    // A call of it: asked for, and shown for what it is.
    let call = r#"{"server":"lab","tool":"alpha","arguments":{"x":1}}"#;
    centre.home.run(&["invoke", "mcp.call", call]).exits(4);
    centre.home.operate(&["optin", "set", "mcp", "on"]).exits(0);
    let (exit, pending) = centre.home.json(&["invoke", "mcp.call", call]);
    let id = pending["approval"]["id"].as_str().unwrap().to_owned();
    let card = operator.card(&id);
    for words in [
        "A tool of somebody else",
        "data-server=\"lab\"",
        "it only reads",
        "nobody has classified it",
        "&lt;i&gt;one",
        "id=\"carrier\"><strong>mcp `lab`",
    ] {
        assert!(exit == 3 && card.body.contains(words), "{words}: {}", card.body);
    }
    centre
        .home
        .operate(&["approvals", "show", &id])
        .exits(0)
        .says(&["a tool of somebody else's: alpha of server lab", "nobody has checked"]);

    // It becomes another one, with words that would be more than words.
    tools(&file, "now <script>alert(1)</script> \u{202e}siht");
    until("the change", || is("ready", "2 out of use"));
    centre
        .home
        .run(&["invoke", "mcp.call", call])
        .exits(4)
        .says(&["tool_quarantined", "policy_blocked: mode, permission"]);
    assert_eq!(centre.home.json(&["invoke", "mcp.call", call]).1["diagnostic"]["kind"], "policy_blocked");
    let page = operator.get("/providers/lab").is(200);
    assert!(page.body.contains("data-changed=\"alpha\"") && !page.body.contains("<script>alert"), "{}", page.body);
    assert!(!page.body.contains('\u{202e}'), "{}", page.body);
    let definition = page.field("definition").unwrap().to_owned();
    centre.home.operate(&["providers", "diff", "lab"]).exits(0).says(&["description", "\\u{202E}", &definition]);
    let (path, other) = ("/providers/lab/accept", format!("sha256:{}", "0".repeat(64)));
    for (tool, definition) in [("alpha", other.as_str()), ("beta", &definition), ("alpha", "x")] {
        assert!(
            operator.post(path, &[("tool", tool), ("definition", definition)]).status >= 400,
            "{tool} {definition}"
        );
    }
    assert!(centre.browser().post(path, &[("tool", "alpha"), ("definition", &definition)]).status >= 400);
    assert!(operator.get("/providers/lab").body.contains("data-changed"));
    operator.post(path, &[("tool", "alpha"), ("definition", &definition)]).is(303);
    assert!(!operator.get("/providers/lab").body.contains("data-changed"));
    assert!(operator.get("/providers/nobody").status >= 400);

    // The same on the command line, which accepts what it has shown.
    tools(&file, "once more");
    until("the next change", || is("ready", "2 out of use"));
    centre.home.run(&["providers", "accept", "lab"]).exits(4);
    centre.home.operate(&["providers", "accept", "lab", "alpha"]).exits(0).says(&["once more", "accepted: 1"]);
    centre.home.operate(&["providers", "accept", "lab"]).exits(4).says(&["nothing waits"]);
    assert_eq!(centre.home.json(&["invoke", "mcp.call", call]).0, 3);
    centre.home.run(&["describe", "mcp.call"]).exits(0).says(&["`lab`"]);

    // What is again what was accepted has been something else, and says so.
    tools(&file, "in between");
    until("the change", || is("ready", "2 out of use"));
    tools(&file, "once more");
    let words = "another one in between, and is what was accepted again";
    until("the way back", || operator.get("/providers/lab").body.contains(words).then_some(()));
    centre.home.operate(&["providers", "accept", "lab", "alpha"]).exits(0).says(&[words, "accepted: 1"]);
}

#[test]
fn a_token_is_read_from_standard_input_and_never_shown() {
    let home = Home::with_operator();
    home.configure("[mcp.servers.web]\nurl = \"http://127.0.0.1:9/mcp\"\n");
    let token = home.token().to_str().unwrap().to_owned();
    let operate =
        |words: &[&str], input: &str| home.run_with(&[words, &["--operator-token-file", &token]].concat(), input);
    let set = ["providers", "credential", "set", "web"];
    home.run_with(&set, "token-of-the-web").exits(4);
    for unfit in ["two words", "7-short"] {
        operate(&set, unfit).exits(4).says(&["no token"]);
    }
    operate(&["providers", "credential", "set", "nobody"], "token-of-the-web")
        .exits(4)
        .says(&["no server is configured"]);
    let ran = operate(&set, "token-of-the-web").exits(0);
    assert!(!ran.out.contains("token-of-the-web") && !ran.err.contains("token-of-the-web"), "{ran:?}");
    operate(&["providers", "credential", "remove", "web"], "").exits(0);
    // Nothing listens there: it is told, and remembered in words of ours.
    home.operate(&["optin", "set", "mcp", "on"]).exits(0);
    let (exit, pending) = home.json(&["providers", "connect", "web"]);
    let id = pending["approval"]["id"].as_str().unwrap().to_owned();
    home.operate(&["approvals", "approve", &id]).exits(0);
    let resumed = home.run(&["resume", &id]);
    assert!(exit == 3 && resumed.exit == 5, "{resumed:?}");
}

/// Neither where a server is nor what it is sent along is in what the host says or records when it cannot be reached.
#[test]
fn the_address_and_the_headers_of_a_server_that_is_not_there_are_in_no_log() {
    let home = Home::talkative();
    home.setup();
    home.login();
    home.configure(
        "[mcp.servers.web]\nurl = \"http://127.0.0.1:9/canary-path\"\nheaders = { X-Key = \"canary-key\" }\ndiscovery_s = 5\n",
    );
    home.operate(&["optin", "set", "mcp", "on"]).exits(0);
    let id = home.pending(&["mcp.connect", r#"{"server":"web"}"#]);
    home.operate(&["approvals", "approve", &id]).exits(0);
    let ran = home.run(&["resume", &id]).exits(5);
    assert!(!ran.err.is_empty(), "it says something");
    assert!(!ran.out.contains("canary") && !ran.err.contains("canary"), "{ran:#?}");
    let log = fs::read_to_string(home.log()).unwrap();
    assert!(log.contains("mcp.connect") && !log.contains("canary"), "{log}");
    // With a query there could be a secret in it: that is no address here at all.
    home.configure("[mcp.servers.web]\nurl = \"http://127.0.0.1:9/mcp?token=canary\"\n");
    home.run(&["list"]).exits(6).says(&["no plain address"]);
}

//! What runs on in a host, and the operator who stops it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::home::{Home, until};

const SECRET: &str = "sesame-opens-the-door";

/// A home with a workspace, an agent that sleeps, and a secret that the host knows.
fn home() -> Home {
    let home = Home::with_operator();
    let (workspace, secrets) = (home.top().join("work"), home.data().join("secrets"));
    fs::create_dir(&workspace).unwrap();
    fs::create_dir_all(&secrets).unwrap();
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(secrets.join("door"), SECRET).unwrap();
    fs::set_permissions(secrets.join("door"), fs::Permissions::from_mode(0o600)).unwrap();
    home.configure(&format!(
        "[workspace]\nroot = {workspace:?}\n\
         [agents.critic]\nsubject = \"agent:critic\"\ncommand = [\"sleep\", \"600\"]\ntimeout = \"10m\"\n\
         [subjects.\"agent:critic\"]\ncapabilities = []\n"
    ));
    home.operate(&["optin", "set", "agent", "on"]).exits(0);
    home
}

/// Asks, an operator says yes, and it runs: its result.
fn ran(home: &Home, name: &str, arguments: &Value) -> Value {
    let id = home.pending(&[name, &arguments.to_string()]);
    home.operate(&["approvals", "approve", &id]).exits(0);
    let (exit, outcome) = home.json(&["resume", &id]);
    assert_eq!(exit, 0, "{outcome}");
    outcome["result"].clone()
}

#[test]
fn an_operator_sees_what_runs_on_and_stops_it_on_record() {
    let home = home();
    // Where no host stays there is nothing, and that is said.
    home.operate(&["running", "list"]).exits(0).says(&["nothing runs"]);
    let _serving = home.serve();
    let command = json!({ "argv": ["sh", "-c", "sleep 600", "--", SECRET], "background": true, "timeout": 900 });
    let process = ran(&home, "terminal.exec", &command)["process"].as_str().unwrap().to_owned();
    let agent =
        ran(&home, "agent.spawn", &json!({ "agent": "critic", "task": "wait" }))["run"].as_str().unwrap().to_owned();

    home.run(&["running", "list"]).exits(4).says(&["operator credential"]);
    home.run(&["running", "stop", &process]).exits(4).says(&["operator credential"]);
    let (exit, listed) = home.operate_json(&["running", "list"]);
    let all = listed.as_array().unwrap();
    assert_eq!((exit, all.len()), (0, 2), "{listed}");
    let of = |id: &str| all.iter().find(|shown| shown["id"] == id).unwrap_or_else(|| panic!("{listed}"));
    let (first, second) = (of(&process), of(&agent));
    assert_eq!((&first["kind"], &first["subject"]), (&json!("process"), &json!("local")), "{first}");
    assert!(first["what"].as_str().unwrap().starts_with("sh -c sleep 600"), "{first}");
    assert_eq!(
        (&second["kind"], &second["what"], &second["subject"], &second["acts_for"]),
        (&json!("agent"), &json!("critic"), &json!("agent:critic"), &json!("local"))
    );
    let time = |shown: &Value, key: &str| shown[key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    for (shown, seconds) in [(first, 900), (second, 600)] {
        assert_eq!((time(shown, "ends_at") - time(shown, "since")).as_secs(), seconds);
    }
    let told = home.operate(&["running", "list"]).exits(0).says(&[
        &process,
        "background process of `local`",
        "agent of `agent:critic`, acting for `local`",
        "until",
    ]);
    assert!(!told.out.contains(SECRET) && !listed.to_string().contains(SECRET), "{told:?}");

    for unknown in ["0".repeat(32).as_str(), "critic", ""] {
        home.operate(&["running", "stop", unknown]).exits(4).says(&["nothing runs under that id", "running list"]);
    }
    assert!(home.records_of("configuration").iter().all(|record| record["setting"] != "stopped"));
    for (id, kind, subject, event) in
        [(&process, "process", "local", "process_ended"), (&agent, "agent", "agent:critic", "agent_turn")]
    {
        let (exit, told) = home.operate_json(&["running", "stop", id]);
        assert_eq!((exit, told), (0, json!({ "stopped": id, "kind": kind })));
        let stopped = home.records_of("configuration").pop().unwrap();
        assert_eq!(
            (&stopped["setting"], &stopped["kind"], &stopped["subject"], &stopped["operator"]),
            (&json!("stopped"), &json!(kind), &json!(subject), &json!("operator"))
        );
        let ended = until("its end", || home.records_of(event).pop());
        assert_eq!(ended["invocation"], stopped["invocation"], "the call that began it");
        assert_eq!(
            ended[if kind == "agent" { "ended" } else { "why" }],
            if kind == "agent" { "stopped" } else { "cancelled" }
        );
        home.operate(&["running", "stop", id]).exits(4);
    }
    home.operate(&["running", "list"]).exits(0).says(&["nothing runs"]);
    let log = fs::read_to_string(home.log()).unwrap();
    assert!(!log.contains(&process) && !log.contains(SECRET), "{log}");
    // Whoever started them is told.
    let told = home.json(&["invoke", "terminal.list"]).1;
    assert_eq!(told["result"]["processes"][0]["state"], "cancelled", "{told}");
    let told = home.json(&["invoke", "agent.status"]).1;
    assert_eq!(told["result"]["runs"][0]["ended"], "stopped", "{told}");
}

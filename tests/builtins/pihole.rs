//! `pihole.status` and `pihole.summary`.

use capability_core::{Code, Stage};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::household::{Household, folder, private};
use crate::servers::pihole::{Pihole, State};
use crate::servers::{Server, Then, answer};

const PASSWORD: &str = "canarysesame";

/// A host whose Pi-hole is at `url`, with this password in its file.
async fn household(url: &str, password: &str) -> Household {
    let top = folder();
    let config = config(&top, url, password);
    Household::open(top, &config).await
}

fn config(top: &TempDir, url: &str, password: &str) -> String {
    let file = top.path().join("pihole-password");
    private(&file, password);
    format!(
        "[endpoints.pihole]\nurl = \"{url}\"\nreach = \"device\"\nauth = \"pihole\"\npassword_file = \"{}\"\n",
        file.display()
    )
}

async fn of(pihole: &Pihole) -> Household {
    household(&pihole.server().url(""), PASSWORD).await
}

fn without_time(mut result: Value) -> Value {
    let time = result.as_object_mut().unwrap().remove("checked_at").unwrap();
    assert!(time.as_str().unwrap().starts_with("20"), "{time}");
    result
}

async fn status(household: &Household) -> Value {
    without_time(household.called("pihole.status", &json!({})).await)
}

async fn summary(household: &Household, period: &str) -> Value {
    without_time(household.called("pihole.summary", &json!({ "period": period })).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn blocking_is_told_and_one_session_serves_all_calls() {
    let pihole = Pihole::start(PASSWORD);
    let household = of(&pihole).await;
    for (word, known) in [
        ("enabled", json!(true)),
        ("disabled", json!(false)),
        ("failed", json!(null)),
        ("unknown", json!(null)),
        ("resting", json!(null)),
    ] {
        pihole.change(|state| state.blocking = word);
        assert_eq!(status(&household).await, json!({ "reachable": true, "blocking_enabled": known }), "{word}");
    }
    let asked = pihole.asked();
    assert_eq!(asked.iter().filter(|asked| *asked == "POST /api/auth").count(), 1, "{asked:?}");
    assert!(
        asked.iter().all(|asked| ["POST /api/auth", "GET /api/dns/blocking"].contains(&asked.as_str())),
        "{asked:?}"
    );
    assert_eq!(pihole.sessions(), 1);
    household.remembers_nothing_of(&[PASSWORD, "c2Vzc2lvbi", "127.0.0.1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_are_told_for_each_period() {
    let pihole = Pihole::start(PASSWORD);
    let household = of(&pihole).await;
    for period in ["today", "last_24h"] {
        let told = json!({
            "period": period, "queries_total": 5120, "queries_blocked": 768, "blocked_percentage": 15.0,
            "blocklist_size": 143_210, "unique_clients": 11,
        });
        assert_eq!(summary(&household, period).await, told);
    }
    let seen = pihole.server().seen();
    let periods: Vec<_> = seen.iter().filter(|sent| sent.path == "/api/stats/database/summary").collect();
    let number = |at: usize, name: &str| periods[at].asked(name).unwrap().parse::<i64>().unwrap();
    // A day begins at a whole minute, wherever the machine is, and has at most 25 hours.
    assert_eq!(number(0, "from") % 60, 0);
    assert!((0..=90_000).contains(&(number(0, "until") - number(0, "from"))));
    assert_eq!(number(1, "until") - number(1, "from"), 86_400);
    let outcome = household.ask("pihole.summary", &json!({ "period": "forever" })).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Validate, Some(Code::SchemaViolation)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_privacy_level_hides_is_null() {
    let pihole = Pihole::start(PASSWORD);
    let household = of(&pihole).await;
    for (level, total, clients) in [
        (0, json!(5120), json!(11)),
        (1, json!(5120), json!(11)),
        (2, json!(5120), json!(null)),
        (3, json!(null), json!(null)),
        (9, json!(null), json!(null)),
    ] {
        pihole.change(|state| state.privacy_level = level);
        let told = summary(&household, "today").await;
        assert_eq!((&told["queries_total"], &told["unique_clients"]), (&total, &clients), "{level}");
        assert_eq!(told["blocked_percentage"].is_null(), total.is_null(), "{level}");
        assert_eq!(told["blocklist_size"], 143_210);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pihole_that_is_not_there_is_an_answer() {
    let gone = Server::always("").url("");
    let household = household(&gone, PASSWORD).await;
    assert_eq!(status(&household).await, json!({ "reachable": false, "blocking_enabled": null }));
    household.failed("pihole.summary", &json!({ "period": "today" })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_password_is_an_error_and_not_a_silence() {
    let pihole = Pihole::start("another");
    let household = of(&pihole).await;
    let told = household.failed("pihole.status", &json!({})).await;
    assert!(told.contains("credential"), "{told}");
    household.remembers_nothing_of(&[PASSWORD, "another"]);
    // Each call tries once: trying on and on would lock people out of their own Pi-hole.
    assert_eq!(pihole.asked(), ["POST /api/auth"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_session_is_made_anew_once() {
    let pihole = Pihole::start(PASSWORD);
    let household = of(&pihole).await;
    status(&household).await;
    pihole.forget_sessions();
    assert_eq!(status(&household).await["reachable"], true);
    pihole.change(|state| state.password = Some("changed".to_owned()));
    pihole.forget_sessions();
    household.failed("pihole.status", &json!({})).await;
    let signed_in = pihole.asked().iter().filter(|asked| *asked == "POST /api/auth").count();
    assert_eq!(signed_in, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pihole_without_a_password_and_one_with_an_app_password_are_read_alike() {
    let pihole = Pihole::start("the main one");
    pihole.change(|state| state.app_password = Some(PASSWORD.to_owned()));
    let household = of(&pihole).await;
    assert_eq!(status(&household).await["blocking_enabled"], true);
    pihole.forget_sessions();
    pihole.change(|state| state.password = None);
    assert_eq!(status(&household).await["blocking_enabled"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_house_is_told_as_such() {
    let pihole = Pihole::start(PASSWORD);
    pihole.change(|state| state.max_sessions = 0);
    let household = of(&pihole).await;
    let told = household.failed("pihole.status", &json!({})).await;
    assert!(told.contains("no session left"), "{told}");
}

/// Only an endpoint that the operator placed on the device is bound to a capability that never leaves it.
#[tokio::test(flavor = "multi_thread")]
async fn a_pihole_elsewhere_is_not_bound() {
    let pihole = Pihole::start(PASSWORD);
    let top = folder();
    let config = config(&top, &pihole.server().url(""), PASSWORD).replace("reach = \"device\"", "reach = \"external\"");
    let household = Household::open(top, &config).await;
    let unconfigured = Household::open(folder(), "").await;
    for household in [&household, &unconfigured] {
        let outcome = household.ask("pihole.status", &json!({})).await;
        assert_eq!(outcome.code(), Some(Code::MissingRuntimeBinding), "{outcome:?}");
    }
    assert_eq!(pihole.asked(), [""; 0]);
}

/// What a newer or a hostile Pi-hole adds about clients and domains has no way into a result.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_unasked_is_told_to_nobody() {
    let pihole = Pihole::start(PASSWORD);
    let household = of(&pihole).await;
    pihole.change(|state: &mut State| {
        state.twist = Some(|_, _, body| {
            if let Value::Object(fields) = body {
                fields.insert("clients".to_owned(), json!([{ "name": "canarytablet", "ip": "192.0.2.9", "count": 3 }]));
                fields.insert("top_domains".to_owned(), json!({ "canarydomain.example": 7 }));
                fields.insert("queries_by_client".to_owned(), json!([["canarytablet", 4]]));
                if let Some(Value::Object(gravity)) = fields.get_mut("gravity") {
                    gravity.insert("lists".to_owned(), json!(["canarydomain.example"]));
                }
            }
        });
    });
    let told = [status(&household).await, summary(&household, "today").await];
    let fields: Vec<_> =
        told.iter().map(|told| told.as_object().unwrap().keys().cloned().collect::<Vec<_>>()).collect();
    assert_eq!(fields[0], ["blocking_enabled", "reachable"]);
    assert_eq!(
        fields[1],
        ["blocked_percentage", "blocklist_size", "period", "queries_blocked", "queries_total", "unique_clients"]
    );
    assert!(!json!(told).to_string().contains("canary"), "{told:?}");
    household.remembers_nothing_of(&["canary", "192.0.2.9"]);
}

/// Every kind of nonsense is a failure in our own words, or a null: nothing that the service wrote comes through.
#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_a_failure_in_our_words() {
    let twists: [(&str, crate::servers::pihole::Twist); 8] = [
        ("another shape", |_, _, body| *body = json!(["canary"])),
        ("another type", |_, _, body| {
            *body = json!({ "blocking": ["canary"], "sum_queries": "canary", "gravity": "canary" })
        }),
        ("no JSON", |_, _, body| *body = json!("{\"canary")),
        ("a status", |_, status, _| *status = "500 canary".to_owned()),
        ("a redirect", |_, status, body| {
            *status = "302 Found\r\nlocation: http://canary.example/".to_owned();
            *body = Value::Null;
        }),
        ("a word twice", |_, _, body| {
            *body = json!(r#"{"blocking":"enabled","blocking":"canary","sum_queries":1,"sum_queries":2}"#)
        }),
        ("deep", |_, _, body| {
            let deep = "[".repeat(100_000) + &"]".repeat(100_000);
            *body = json!(format!("{{\"blocking\":{deep},\"sum_queries\":{deep},\"canary\":{deep}}}"));
        }),
        ("more blocked than asked", |path, _, body| {
            *body = if path.contains("database") {
                json!({ "sum_queries": 1, "sum_blocked": 2, "total_clients": 1 })
            } else {
                json!(["canary"])
            }
        }),
    ];
    for (what, twist) in twists {
        let pihole = Pihole::start(PASSWORD);
        let household = of(&pihole).await;
        status(&household).await;
        pihole.change(|state| state.twist = Some(twist));
        for (name, arguments) in [("pihole.status", json!({})), ("pihole.summary", json!({ "period": "today" }))] {
            let told = household.failed(name, &arguments).await;
            assert!(!told.contains("canary"), "{what}: {told}");
        }
        household.remembers_nothing_of(&["canary"]);
    }
}

/// A server that never ends or never begins takes no more than the call has.
#[tokio::test(flavor = "multi_thread")]
async fn an_endless_answer_is_cut_and_silence_is_an_answer() {
    let sign_in = |path: &str| {
        let session = json!({ "session": { "valid": true, "totp": false, "sid": "abc=", "csrf": "def=", "validity": 1800, "message": "" }, "took": 0.1 });
        (path == "/api/auth").then(|| answer("200 OK", &[("content-type", "application/json")], session.to_string()))
    };
    let endless = Server::start(move |sent, out| {
        if let Some(session) = sign_in(&sent.path) {
            return out.write_all(&session).map(|()| Then::Keep);
        }
        out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"blocking\":\"")?;
        loop {
            out.write_all(&[b'a'; 4096])?;
        }
    });
    let household_of_endless = household(&endless.url(""), PASSWORD).await;
    let told = household_of_endless.failed("pihole.status", &json!({})).await;
    assert!(told.contains("cap"), "{told}");
    let silent = Server::start(|_, _| {
        std::thread::sleep(std::time::Duration::from_secs(20));
        Ok(Then::Close)
    });
    let household = household(&silent.url(""), PASSWORD).await;
    assert_eq!(status(&household).await, json!({ "reachable": false, "blocking_enabled": null }));
}

/// The health of the machine tells whether its Pi-hole answers, and nobody logs in for that.
#[tokio::test(flavor = "multi_thread")]
async fn the_health_of_the_machine_tells_whether_its_pi_hole_answers() {
    async fn told(household: &Household) -> Vec<Value> {
        let health = household.called("system.health", &json!({})).await;
        health["checks"]["services"].as_array().unwrap().clone()
    }
    let check = |status: &str, summary: &str| {
        vec![json!({ "name": "pihole", "check": { "status": status, "summary": summary } })]
    };
    let pihole = Pihole::start(PASSWORD);
    let household = of(&pihole).await;
    assert_eq!(told(&household).await, check("healthy", "it answers"));
    // With the wrong password in its file, too: whether that is right is not asked.
    let wrong = crate::pihole::household(&pihole.server().url(""), "canarybarley").await;
    assert_eq!(told(&wrong).await, check("healthy", "it answers"));
    assert!(pihole.asked().iter().all(|asked| asked == "GET /api/auth"), "{:?}", pihole.asked());
    assert_eq!(pihole.sessions(), 0);
    // Something else in its place, nothing at all, and silence.
    let other = Server::start(|_, out| {
        out.write_all(&answer("404 Not Found", &[], ""))?;
        Ok(Then::Close)
    });
    let silent = Server::start(|_, _| Ok(Then::Keep));
    for url in [other.url(""), "http://127.0.0.1:9".to_owned(), silent.url("")] {
        let household = crate::pihole::household(&url, PASSWORD).await;
        assert_eq!(told(&household).await, check("degraded", "it does not answer"), "{url}");
    }
    // One that is elsewhere is none of this machine's.
    let top = folder();
    let config = config(&top, &pihole.server().url(""), PASSWORD).replace("reach = \"device\"\n", "");
    let elsewhere = Household::open(top, &config).await;
    assert_eq!(told(&elsewhere).await, Vec::<Value>::new());
}

//! Coming in and going out.

use std::thread::scope;

use crate::centre::{Centre, cookie};
use crate::home::{Home, PASSWORD};

#[test]
fn a_link_logs_one_browser_in_once() {
    let centre = Centre::new();
    // Looking at it is not using it.
    for _ in 0..3 {
        let page = centre.anybody().get(&format!("/login?link={}", centre.link)).is(200);
        assert_eq!(page.field("link"), Some(centre.link.as_str()));
    }
    let operator = centre.enter(&[("link", &centre.link)]);
    operator.get("/").is(200);
    centre.browser().post("/login", &[("link", &centre.link)]).refused(403, "no_such_link");
    for forged in ["", "x", &"0".repeat(64)] {
        let answer = centre.browser().post("/login", &[("link", forged)]);
        assert!(matches!(answer.status, 403 | 429), "{answer:#?}");
    }
}

#[test]
fn of_two_browsers_with_one_link_one_is_let_in() {
    let centre = Centre::new();
    let statuses: Vec<_> = scope(|scope| {
        let enter = || centre.browser().post("/login", &[("link", &centre.link)]).status;
        let both = [scope.spawn(enter), scope.spawn(enter)];
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(statuses == [303, 403] || statuses == [403, 303], "{statuses:?}");
}

#[test]
fn a_later_link_needs_the_credential() {
    let centre = Centre::new();
    centre.home.run(&["web", "link"]).exits(4).says(&["operator credential"]);
    let (exit, said) = centre.home.operate_json(&["web", "link"]);
    assert_eq!(exit, 0);
    let link = said["link"].as_str().unwrap().split_once("link=").unwrap().1;
    assert!(link.len() == 64 && link != centre.link);
    centre.enter(&[("link", link)]).get("/").is(200);
    centre.home.operate(&["web", "link"]).exits(0).says(&[&format!("http://{}/login?link=", centre.address)]);
}

#[test]
fn links_without_pages_are_refused() {
    let home = Home::with_operator();
    home.operate(&["web", "link"])
        .exits(4)
        .says(&["no host serves the approval centre", "capability serve".trim_start_matches("capability ")]);
}

/// The session that a browser brings along is never the one it gets.
#[test]
fn a_login_makes_a_session_of_its_own() {
    let centre = Centre::new();
    let port = centre.address.split_once(':').unwrap().1;
    let planted = format!("capability_{port}={}", "ab".repeat(32));
    let fixed = centre.browser().with("Cookie", &planted);
    let answer = fixed.post("/login", &[("password", PASSWORD)]).is(303);
    assert_ne!(cookie(&answer), planted);
    fixed.get("/").is(303);
    let set = answer.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains("Domain"), "{set}");
    // A second login ends the first session.
    let first = centre.browser().with("Cookie", &cookie(&answer));
    first.get("/").is(200);
    let second = first.post("/login", &[("password", PASSWORD)]).is(303);
    assert_ne!(cookie(&second), cookie(&answer));
    first.get("/").is(303);
}

#[test]
fn a_session_ends_with_logout_with_the_password_and_with_the_host() {
    let centre = Centre::new();
    let [out, changed, everywhere] = [(); 3].map(|()| centre.logged_in());
    let answer = out.post("/logout", &[]).is(303);
    assert!(answer.header("set-cookie").unwrap().contains("Max-Age=0"));
    out.get("/").is(303);
    out.get("/api/approvals").is(401);
    changed.get("/").is(200);
    centre
        .home
        .run_with(&["operator", "setup", "--password-stdin"], &format!("{PASSWORD}\nfive other plain words"))
        .exits(0);
    changed.get("/").is(303);
    everywhere.get("/").is(303);
    let again = centre.enter(&[("password", "five other plain words")]);
    centre
        .home
        .run_with(
            &["operator", "login", "--password-stdin", "--token-file", centre.home.token().to_str().unwrap()],
            "five other plain words",
        )
        .exits(0);
    centre.home.operate(&["operator", "logout"]).exits(0);
    again.get("/").is(303);
}

#[test]
fn logging_in_is_slow_for_whoever_guesses() {
    let centre = Centre::new();
    let guess = || centre.browser().post("/login", &[("password", "wrong but long enough")]);
    let statuses: Vec<_> = (0..12).map(|_| guess().status).collect();
    assert_eq!(statuses[0], 403);
    assert_eq!(statuses[11], 429, "{statuses:?}");
    let answer = guess().refused(429, "too_many_tries");
    assert!(answer.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    // The right one waits its turn, too.
    centre.browser().post("/login", &[("password", PASSWORD)]).refused(429, "too_many_tries");
    assert!(centre.home.records_of("configuration").iter().all(|record| record["operator"] != "operator@page"));
}

#[test]
fn a_login_is_on_record_and_says_by_which_way() {
    let centre = Centre::new();
    centre.logged_in();
    let records = centre.home.records_of("configuration");
    let last = records.last().unwrap();
    assert_eq!((&last["setting"], &last["operator"]), (&"operator_session".into(), &"operator@page".into()));
}

/// Without a password there is the link, and no form that could not work.
#[test]
fn a_host_without_a_password_is_reached_by_its_link() {
    let centre = Centre::of(Home::new(), "");
    let page = centre.anybody().get("/login").is(200);
    assert!(!page.body.contains("type=\"password\""));
    centre.browser().post("/login", &[("password", PASSWORD)]).refused(403, "not_admitted");
    let operator = centre.enter(&[("link", &centre.link)]);
    // A password that is set makes whoever came before prove it.
    centre.home.setup();
    operator.get("/").is(303);
}

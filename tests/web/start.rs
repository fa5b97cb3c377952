//! Where the pages are, and when they are not.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;

use crate::centre::Centre;
use crate::home::{Home, ended, signal};

#[test]
fn the_self_check_says_where_the_pages_are() {
    let centre = Centre::new();
    centre.home.run(&["doctor"]).says(&["approval centre", &centre.address, "for this machine alone"]);
    let home = Home::new();
    home.run(&["doctor"]).says(&["approval centre", "not served by this host", "127.0.0.1:8722"]);
}

/// The lines that `serve` writes before it waits, and everything that it wrote by its end.
fn told(home: &Home, words: &[&str], lines: usize) -> (Vec<String>, crate::home::Ran) {
    let mut child = home.start(&[&["serve"], words].concat());
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let told = (0..lines).map(|_| {
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        line
    });
    let told = told.collect();
    signal(&child, "TERM");
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    let mut ran = ended(child).exits(0);
    ran.out = rest;
    (told, ran)
}

#[test]
fn a_person_is_told_the_address_and_a_link() {
    let home = Home::new();
    home.configure("[web]\nlisten = \"127.0.0.1:0\"\n");
    let (told, ran) = told(&home, &[], 3);
    assert!(told[0].starts_with("serving command lines at "), "{told:?}");
    assert!(told[1].starts_with("approval centre at http://127.0.0.1:"), "{told:?}");
    assert!(told[2].starts_with("log one browser in, once, within ten minutes: http://127.0.0.1:"), "{told:?}");
    assert!(ran.out.is_empty() && ran.err.is_empty(), "{ran:?}");
}

#[test]
fn pages_that_nobody_wants_are_left_out() {
    let home = Home::new();
    home.configure("[web]\nlisten = \"127.0.0.1:0\"\n");
    let (told, ran) = told(&home, &["--no-web"], 1);
    assert!(told[0].starts_with("serving command lines at ") && ran.out.is_empty(), "{told:?} {ran:?}");
}

/// Other machines reach nothing that has no password.
#[test]
fn an_address_that_others_reach_needs_a_password() {
    let home = Home::new();
    home.configure("[web]\nlisten = \"0.0.0.0:0\"\n");
    home.run(&["serve"]).exits(4).says(&["no password is set", "operator setup"]);
    home.setup();
    let centre = Centre::serving(home, |_| {});
    assert!(centre.address.starts_with("localhost:"));
    let mut browser = centre.browser();
    browser.get("/login").is(200);
    // The name of the machine is not known to it before it is told.
    browser.host = browser.host.replace("localhost", "192.168.1.5");
    browser.get("/login").refused(421, "foreign_host");
    centre.home.run(&["doctor"]).says(&["open to other machines, without encryption"]);
}

#[test]
fn an_address_that_is_taken_is_said_and_not_passed_over() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let home = Home::new();
    home.configure(&format!("[web]\nlisten = \"{}\"\n", taken.local_addr().unwrap()));
    home.run(&["serve"]).exits(6).says(&["cannot listen at", "--no-web"]);
    // Nothing is left behind that would keep the next one out.
    home.serve().end("TERM").exits(0);
}

#[test]
fn a_name_that_the_operator_wrote_is_one_of_ours() {
    let home = Home::with_operator();
    home.configure("[web]\nlisten = \"127.0.0.1:0\"\nhosts = [\"capability.home\"]\n");
    let centre = Centre::serving(home, |_| {});
    let mut proxied = centre.anybody().with("Origin", "https://capability.home");
    proxied.host = "capability.home".to_owned();
    proxied.get("/login").is(200);
    let entered = proxied.post("/login", &[("password", crate::home::PASSWORD)]).is(303);
    let set = entered.header("set-cookie").unwrap();
    assert!(set.starts_with("__Host-capability_") && set.ends_with("; Secure"), "{set}");
    proxied.with("Cookie", &crate::centre::cookie(&entered)).get("/").is(200);
    proxied.with("Origin", "https://capability.home.evil").post("/login", &[]).refused(403, "foreign_origin");
}

//! The approval centre as a browser meets it: what each guard turns away, and what an answer needs.

#[expect(dead_code, reason = "the tests of the command line need more of it")]
#[path = "../cli/home.rs"]
mod home;
#[expect(dead_code, reason = "the tests of the command line need more of it")]
#[path = "../cli/project.rs"]
mod project;

mod answers;
mod api;
mod canary;
mod centre;
mod client;
mod guards;
mod limits;
mod live;
mod login;
mod start;

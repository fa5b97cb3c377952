//! Channels as a sender meets them: what is let in, what is refused and what the log says of it, and what a message that was
//! let in may do.

#[cfg(test)]
#[expect(dead_code, reason = "the tests of the pages need more of it")]
#[path = "../web/client.rs"]
mod client;
#[cfg(test)]
#[expect(dead_code, reason = "the tests of the command line need more of it")]
#[path = "../cli/home.rs"]
mod home;
#[cfg(test)]
#[expect(dead_code, reason = "the tests of the command line need more of it")]
#[path = "../cli/project.rs"]
mod project;

#[cfg(test)]
mod answering;
#[cfg(test)]
mod authority;
#[cfg(test)]
mod entering;
#[cfg(test)]
mod inbox;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod load;
#[cfg(test)]
mod mail;
#[cfg(test)]
mod refusing;
#[cfg(test)]
mod signed;

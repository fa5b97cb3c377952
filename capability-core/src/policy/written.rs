//! Selectors in words, as they would be written in a rule.

use core::fmt::{Display, Formatter, Result};

use super::pattern::{Pattern, Token};
use super::selector::Selector;
use super::targets::{PlacePattern, TargetPattern, TextPattern};
use super::window::{Days, Window};

/// Tokens with something between them. One or more tokens, which a host may begin with, is `**` there.
fn joined(f: &mut Formatter<'_>, tokens: &[Token], between: &str) -> Result {
    for (at, token) in tokens.iter().enumerate() {
        if at > 0 {
            f.write_str(between)?;
        }
        f.write_str(match token {
            Token::Literal(literal) => literal,
            Token::One => "*",
            Token::Many => "**",
        })?;
    }
    Ok(())
}

struct Host<'a>(&'a Pattern);

impl Display for Host<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0.tokens() {
            [Token::One, rest @ ..] if matches!(rest, [Token::Many, ..]) => joined(f, rest, "."),
            tokens => joined(f, tokens, "."),
        }
    }
}

struct Path<'a>(&'a Pattern);

impl Display for Path<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        joined(f, self.0.tokens(), "/")
    }
}

struct Argv<'a>(&'a Pattern);

impl Display for Argv<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (at, token) in self.0.tokens().iter().enumerate() {
            f.write_str(if at > 0 { ", " } else { "" })?;
            match token {
                Token::Literal(literal) => write!(f, "{literal:?}")?,
                Token::One => f.write_str("\"*\"")?,
                Token::Many => f.write_str("\"**\"")?,
            }
        }
        Ok(())
    }
}

impl Display for TextPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (at, piece) in self.pieces().enumerate() {
            f.write_str(if at > 0 { "*" } else { "" })?;
            f.write_str(piece)?;
        }
        Ok(())
    }
}

impl Display for TargetPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Place(PlacePattern { host, port, path }) => {
                write!(f, "{{ host = \"{}\"", Host(host))?;
                if let Some(port) = port {
                    write!(f, ", port = {port}")?;
                }
                if let Some(path) = path {
                    write!(f, ", path = \"/{}\"", Path(path))?;
                }
                f.write_str(" }")
            }
            Self::Path(path) => write!(f, "{{ path = \"{}\" }}", Path(path)),
            Self::Argv(argv) => write!(f, "{{ argv = [{}] }}", Argv(argv)),
            Self::Text(text) => write!(f, "{{ text = {:?} }}", text.to_string()),
        }
    }
}

impl Display for Days {
    /// The days one by one, in quotes.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut between = "";
        for name in self.names() {
            write!(f, "{between}\"{name}\"")?;
            between = ", ";
        }
        Ok(())
    }
}

impl Display for Window {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("{ ")?;
        if self.days() != Days::ALL {
            write!(f, "days = [{}], ", self.days())?;
        }
        let time = |minutes: u16| format!("{:02}:{:02}", minutes / 60, minutes % 60);
        write!(
            f,
            "from = \"{}\", to = \"{}\", tz = \"{}\" }}",
            time(self.from()),
            time(self.to()),
            self.zone().as_str()
        )
    }
}

impl Display for Selector {
    /// `key = value` for each part that says something, with commas between; nothing for one that is about everything.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.subject.as_ref().map(|subject| format!("subject = \"{subject}\"")));
        if self.capability != super::CapabilityPattern::Any {
            parts.push(format!("capability = \"{}\"", self.capability));
        }
        parts.extend(self.action.map(|action| format!("action = \"{}\"", action.as_str())));
        parts.extend(self.origin.map(|origin| format!("origin = \"{}\"", origin.as_str())));
        parts.extend(self.target.as_ref().map(|target| format!("target = {target}")));
        parts.extend(self.when.as_ref().map(|when| format!("when = {when}")));
        f.write_str(&parts.join(", "))
    }
}

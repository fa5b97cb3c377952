//! HTML as a person without style sheets would read it.
//!
//! A tokenizer is all it takes: no tree is built, so no depth of nesting costs more than its length.

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use super::Shown;
use super::writer::Writer;

/// The text of an HTML document or fragment: without scripts and styles, with references resolved, with paragraphs and
/// lines where elements make them. `budget` is how many bytes it may take as the inside of a JSON string.
#[must_use]
pub fn of_html(html: &str, budget: usize) -> Shown {
    let mut page = Page { writer: Writer::new(budget), skipped: None, preformatted: 0 };
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| page.event(event));
    // Scripts and the like are read as what they are, so that `"<p>"` within one starts no paragraph.
    emitter.naively_switch_states(true);
    // The one token that is ever given out says that there is no room for more.
    let _full = Tokenizer::new_with_emitter(html, emitter).next();
    page.writer.finish()
}

/// The page has as much text as there is room for.
struct Full;

struct Page {
    writer: Writer,
    /// The element whose inside is left out, and how many of its name are open.
    skipped: Option<(Skipped, usize)>,
    /// How many elements are open in which white space counts.
    preformatted: usize,
}

/// Elements whose inside is not for reading.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skipped {
    Script,
    Style,
    Template,
    Iframe,
    NoScript,
    NoEmbed,
    NoFrames,
    Svg,
    Math,
}

impl Skipped {
    const fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"script" => Self::Script,
            b"style" => Self::Style,
            b"template" => Self::Template,
            b"iframe" => Self::Iframe,
            b"noscript" => Self::NoScript,
            b"noembed" => Self::NoEmbed,
            b"noframes" | b"noframe" => Self::NoFrames,
            b"svg" => Self::Svg,
            b"math" => Self::Math,
            _ => return None,
        })
    }
}

impl Page {
    fn event(&mut self, event: CallbackEvent<'_>) -> Option<Full> {
        match event {
            CallbackEvent::OpenStartTag { name } => self.open(name),
            CallbackEvent::CloseStartTag { self_closing: true } => self.close_at_once(),
            CallbackEvent::EndTag { name } => self.close(name),
            CallbackEvent::String { value } => return self.text(value),
            CallbackEvent::CloseStartTag { self_closing: false }
            | CallbackEvent::AttributeName { .. }
            | CallbackEvent::AttributeValue { .. }
            | CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
        None
    }

    fn open(&mut self, name: &[u8]) {
        let skips = Skipped::of(name);
        match (&mut self.skipped, skips) {
            (Some((open, depth)), Some(another)) if *open == another => *depth += 1,
            (Some(_), _) => {}
            (None, Some(skips)) => self.skipped = Some((skips, 1)),
            (None, None) => {
                self.gap(name);
                match name {
                    b"pre" | b"textarea" | b"listing" => self.preformatted += 1,
                    b"li" => self.bullet(),
                    _ => {}
                }
            }
        }
    }

    /// `<svg/>` has no inside; elements of HTML itself have one whatever the slash says.
    fn close_at_once(&mut self) {
        if let Some((Skipped::Svg | Skipped::Math, 1)) = self.skipped {
            self.skipped = None;
        }
    }

    fn close(&mut self, name: &[u8]) {
        match (&mut self.skipped, Skipped::of(name)) {
            (Some((open, depth)), Some(another)) if *open == another => {
                *depth -= 1;
                if *depth == 0 {
                    self.skipped = None;
                }
            }
            (Some(_), _) => {}
            (None, _) => {
                self.gap(name);
                if matches!(name, b"pre" | b"textarea" | b"listing") {
                    self.preformatted = self.preformatted.saturating_sub(1);
                }
            }
        }
    }

    /// What an element's start and its end put between the text before and after.
    fn gap(&mut self, name: &[u8]) {
        match name {
            b"p" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"ul" | b"ol" | b"dl" | b"table" | b"pre"
            | b"blockquote" | b"section" | b"article" | b"header" | b"footer" | b"nav" | b"aside" | b"main"
            | b"form" | b"fieldset" | b"figure" | b"hr" | b"title" | b"body" | b"details" | b"listing"
            | b"plaintext" | b"xmp" => {
                self.writer.paragraph();
            }
            b"br" | b"div" | b"li" | b"tr" | b"dt" | b"dd" | b"option" | b"figcaption" | b"summary" | b"address"
            | b"caption" | b"legend" | b"textarea" | b"menu" => self.writer.line(),
            b"td" | b"th" | b"select" | b"button" | b"input" | b"img" => self.writer.space(),
            _ => {}
        }
    }

    fn bullet(&mut self) {
        // No room for it is found out at the next character.
        let _ = self.writer.put('-');
        self.writer.space();
    }

    fn text(&mut self, value: &[u8]) -> Option<Full> {
        if self.skipped.is_some() {
            return None;
        }
        // The input was text, and the tokenizer cuts it only between characters; nothing is lost.
        for c in String::from_utf8_lossy(value).chars() {
            let put = match c {
                '\n' | '\t' if self.preformatted > 0 => self.writer.put(c),
                ' ' if self.preformatted > 0 => self.writer.put(c),
                '\r' => true,
                // A no-break space joins for the eye what it is between, and is a space to a reader of text.
                ' ' | '\n' | '\t' | '\u{c}' | '\u{a0}' => {
                    self.writer.space();
                    true
                }
                c => self.writer.put(c),
            };
            if !put {
                return Some(Full);
            }
        }
        None
    }
}

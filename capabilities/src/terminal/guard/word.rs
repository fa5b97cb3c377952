//! A script's words: quotes taken away, and whatever runs inside them found.

use super::MAX_COMMANDS;
use super::never;
use super::script::{End, List, MAX_DEPTH, Script, Simple, Unread};

/// One word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// Without its quotes; what is computed stands in it as it is written.
    pub text: String,
    /// Whether a shell takes it as it stands: nothing in it is computed, and it is no pattern of file names.
    pub literal: bool,
    /// Whether any of it is quoted.
    pub quoted: bool,
    /// Whether it sets a variable where a command's name could stand.
    pub assigns: bool,
}

impl Word {
    /// A word that a shell computes.
    pub(super) fn computed(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Exactly this word, without quotes.
    pub(super) fn is_bare(&self, text: &str) -> bool {
        !self.quoted && self.text == text
    }

    /// Whether, in front of `<` or `>`, it says which descriptor is meant.
    pub(super) fn names_descriptor(&self) -> bool {
        let braced = self.text.starts_with('{') && self.text.ends_with('}');
        !self.quoted && (braced || self.text.bytes().all(|b| b.is_ascii_digit()))
    }
}

/// Whether a name, with a subscript or `+` if need be, can stand before the `=` of an assignment.
fn is_assignable(text: &str) -> bool {
    let text = text.strip_suffix('+').unwrap_or(text);
    let name = text.split_once('[').map_or(text, |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// A text that is read from its beginning to its end.
pub(super) struct Reader<'a, 's> {
    chars: &'a [char],
    at: usize,
    script: &'s mut Script,
    depth: usize,
    /// The scope that commands are found in.
    scope: usize,
    /// A here-document was begun in this line: its text comes after the next line break, wherever that stands.
    awaiting: bool,
}

impl<'a, 's> Reader<'a, 's> {
    pub(super) const fn new(chars: &'a [char], script: &'s mut Script, depth: usize, scope: usize) -> Self {
        Self { chars, at: 0, script, depth, scope, awaiting: false }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at.saturating_add(ahead)).copied()
    }

    pub(super) const fn skip(&mut self, many: usize) {
        self.at = self.at.saturating_add(many);
    }

    /// Takes this character, if it is next.
    pub(super) fn take(&mut self, c: char) -> bool {
        let taken = self.peek() == Some(c);
        self.at += usize::from(taken);
        taken
    }

    /// Takes this word, if it is next and whole.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let length = word.chars().count();
        let here = word.chars().enumerate().all(|(at, c)| self.peek_at(at) == Some(c));
        let whole = self.peek_at(length).is_none_or(|c| " \t\n;&|()<>".contains(c));
        if here && whole {
            self.skip(length);
        }
        here && whole
    }

    fn next(&mut self) -> Result<char, Unread> {
        let c = self.peek().ok_or(Unread::Unbalanced)?;
        self.skip(1);
        Ok(c)
    }

    pub(super) fn blanks(&mut self) {
        loop {
            match (self.peek(), self.peek_at(1)) {
                (Some(' ' | '\t'), _) => self.skip(1),
                (Some('\\'), Some('\n')) => self.skip(2),
                _ => return,
            }
        }
    }

    /// Blanks, line breaks and comments.
    pub(super) fn breaks(&mut self) {
        loop {
            self.blanks();
            match self.peek() {
                Some('\n') => self.skip(1),
                Some('#') => self.comment(),
                _ => return,
            }
        }
    }

    /// Whether a here-document's text is still to come.
    pub(super) const fn awaits(&mut self, awaiting: bool) {
        self.awaiting = awaiting;
    }

    pub(super) fn comment(&mut self) {
        self.elaborate();
        while self.peek().is_some_and(|c| c != '\n') {
            self.skip(1);
        }
    }

    pub(super) const fn elaborate(&mut self) {
        self.script.elaborate = true;
    }

    pub(super) const fn wanders(&mut self) {
        self.script.wanders = true;
    }

    /// A scope begins here. What follows `()` is a function's.
    pub(super) fn enter(&mut self) {
        self.blanks();
        self.script.wanders |= self.peek() == Some(')');
        self.scope = self.script.within(self.scope);
    }

    /// It ends.
    pub(super) fn leave(&mut self) {
        self.scope = self.script.around(self.scope);
    }

    /// Puts a command down, and gives its number.
    pub(super) fn found(&mut self, command: Simple) -> Result<usize, Unread> {
        let number = self.script.commands.len();
        if number >= MAX_COMMANDS {
            return Err(Unread::TooMany);
        }
        self.script.commands.push(Simple { scope: self.scope, ..command });
        Ok(number)
    }

    /// A command is fed a text.
    pub(super) fn feed(&mut self, command: usize, text: String) {
        if let Some(command) = self.script.commands.get_mut(command) {
            command.fed.push(text);
        }
    }

    /// The commands up to the bracket that closes the one before.
    pub(super) fn nested(&mut self) -> Result<(), Unread> {
        self.elaborate();
        if self.awaiting {
            return Err(Unread::Ambiguous);
        }
        if self.depth >= MAX_DEPTH {
            return Err(Unread::TooDeep);
        }
        self.depth += 1;
        self.enter();
        List::new(self).until(End::Bracket)?;
        self.leave();
        self.depth -= 1;
        Ok(())
    }

    /// Another text that a shell would read as a script.
    fn inner(&mut self, text: &str) -> Result<(), Unread> {
        if self.depth >= MAX_DEPTH {
            return Err(Unread::TooDeep);
        }
        let chars: Vec<char> = text.chars().collect();
        self.script.bomb |= never::is_fork_bomb(text);
        let scope = self.script.within(self.scope);
        let mut reader = Reader::new(&chars, self.script, self.depth + 1, scope);
        List::new(&mut reader).until(End::Text)
    }

    /// The word that begins here; none where none does.
    pub(super) fn word(&mut self) -> Result<Option<Word>, Unread> {
        let begin = self.at;
        let mut word = Word { literal: true, ..Word::default() };
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\\' => {
                    self.skip(1);
                    let escaped = self.next()?;
                    if escaped != '\n' {
                        word.quoted = true;
                        word.text.push(escaped);
                    }
                    continue;
                }
                '\'' => {
                    self.skip(1);
                    word.quoted = true;
                    loop {
                        match self.next()? {
                            '\'' => break,
                            quoted => word.text.push(quoted),
                        }
                    }
                    continue;
                }
                '"' => {
                    self.skip(1);
                    self.double(&mut word)?;
                    continue;
                }
                '$' => {
                    self.dollar(&mut word, false)?;
                    continue;
                }
                '`' => {
                    self.skip(1);
                    self.backtick(&mut word, false)?;
                    continue;
                }
                '=' if !word.quoted && word.text.len() < 256 && is_assignable(&word.text) => word.assigns = true,
                '*' | '?' | '[' | '{' | '}' => word.literal = false,
                // A home directory: at the beginning, and in what looks like an assignment.
                '~' if word.text.is_empty() || word.text.ends_with(['=', ':']) => word.literal = false,
                _ => {}
            }
            word.text.push(c);
            self.skip(1);
        }
        if self.awaiting && self.chars.get(begin..self.at).unwrap_or_default().contains(&'\n') {
            return Err(Unread::Ambiguous);
        }
        Ok((self.at > begin).then_some(word))
    }

    /// From behind `"` to its end.
    fn double(&mut self, word: &mut Word) -> Result<(), Unread> {
        word.quoted = true;
        loop {
            match self.peek().ok_or(Unread::Unbalanced)? {
                '"' => {
                    self.skip(1);
                    return Ok(());
                }
                '\\' => {
                    self.skip(1);
                    match self.next()? {
                        '\n' => {}
                        escaped @ ('$' | '`' | '"' | '\\') => word.text.push(escaped),
                        other => word.text.extend(['\\', other]),
                    }
                }
                '$' => self.dollar(word, true)?,
                '`' => {
                    self.skip(1);
                    self.backtick(word, true)?;
                }
                other => {
                    self.skip(1);
                    word.text.push(other);
                }
            }
        }
    }

    /// From behind a backtick to the next: its text is a script once its own escapes are gone.
    fn backtick(&mut self, word: &mut Word, in_quotes: bool) -> Result<(), Unread> {
        word.literal = false;
        word.text.push_str("`…`");
        let mut text = String::new();
        loop {
            match self.next()? {
                '`' => break,
                '\\' => match self.next()? {
                    escaped @ ('`' | '\\' | '$') => text.push(escaped),
                    '"' if in_quotes => text.push('"'),
                    other => text.extend(['\\', other]),
                },
                other => text.push(other),
            }
        }
        self.elaborate();
        self.inner(&text)
    }

    /// What `$` begins.
    fn dollar(&mut self, word: &mut Word, in_quotes: bool) -> Result<(), Unread> {
        self.elaborate();
        let begin = self.at;
        match self.peek_at(1) {
            Some('\'') if !in_quotes => {
                self.skip(2);
                word.quoted = true;
                return self.ansi(word);
            }
            Some('"') if !in_quotes => {
                self.skip(2);
                return self.double(word);
            }
            Some('(') => {
                if self.peek_at(2) != Some('(') || !self.arithmetic(1)? {
                    self.skip(2);
                    self.nested()?;
                }
            }
            Some('{') => {
                self.skip(2);
                self.braces(in_quotes)?;
            }
            Some('[') => return Err(Unread::Ambiguous),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                self.skip(2);
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.skip(1);
                }
            }
            Some('@' | '*' | '#' | '?' | '$' | '!' | '-' | '0'..='9') => self.skip(2),
            _ => {
                self.skip(1);
                word.text.push('$');
                return Ok(());
            }
        }
        word.literal = false;
        word.text.extend(self.chars.get(begin..self.at).unwrap_or_default());
        Ok(())
    }

    /// From behind `$'` to its end, with the escapes resolved that could spell a name.
    fn ansi(&mut self, word: &mut Word) -> Result<(), Unread> {
        loop {
            match self.next()? {
                '\'' => return Ok(()),
                '\\' => match self.next()? {
                    'x' => self.number(word, 16, 2)?,
                    'u' => self.number(word, 16, 4)?,
                    'U' => self.number(word, 16, 8)?,
                    '0'..='7' => {
                        self.at -= 1;
                        self.number(word, 8, 3)?;
                    }
                    'n' => word.text.push('\n'),
                    't' => word.text.push('\t'),
                    'r' => word.text.push('\r'),
                    'c' => return Err(Unread::Ambiguous),
                    'a' | 'b' | 'e' | 'E' | 'f' | 'v' => word.text.push('\u{1b}'),
                    other => word.text.push(other),
                },
                other => word.text.push(other),
            }
        }
    }

    fn number(&mut self, word: &mut Word, radix: u32, most: usize) -> Result<(), Unread> {
        let mut value = 0_u32;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value.saturating_mul(radix).saturating_add(digit);
            self.skip(1);
        }
        match char::from_u32(value) {
            // A NUL ends what a shell takes, whatever follows.
            None | Some('\0') => Err(Unread::Ambiguous),
            Some(c) => {
                word.text.push(c);
                Ok(())
            }
        }
    }

    /// From behind `${` to its end.
    fn braces(&mut self, in_quotes: bool) -> Result<(), Unread> {
        if self.depth >= MAX_DEPTH {
            return Err(Unread::TooDeep);
        }
        self.depth += 1;
        let mut aside = Word::default();
        loop {
            match self.peek().ok_or(Unread::Unbalanced)? {
                '}' => {
                    self.skip(1);
                    self.depth -= 1;
                    return Ok(());
                }
                '\\' => self.skip(2),
                '"' => {
                    self.skip(1);
                    self.double(&mut aside)?;
                }
                // Whether this quotes depends on what stands around it.
                '\'' if in_quotes => return Err(Unread::Ambiguous),
                '\'' => {
                    self.skip(1);
                    while self.next()? != '\'' {}
                }
                '$' => self.dollar(&mut aside, in_quotes)?,
                '`' => {
                    self.skip(1);
                    self.backtick(&mut aside, in_quotes)?;
                }
                _ => self.skip(1),
            }
        }
    }

    /// From `((`, which stands `ahead` characters from here, to `))`: no command but in substitutions. False, with nothing
    /// taken, when it is none.
    pub(super) fn arithmetic(&mut self, ahead: usize) -> Result<bool, Unread> {
        let begin = self.at.saturating_add(ahead).saturating_add(2);
        let (mut open, mut at) = (0_usize, begin);
        let end = loop {
            match self.chars.get(at) {
                Some('(') => open += 1,
                Some(')') => match open.checked_sub(1) {
                    Some(left) => open = left,
                    None => break at,
                },
                Some('"' | '\'' | '`' | '\\' | '\n') | None => return Ok(false),
                Some(_) => {}
            }
            at += 1;
        };
        if self.chars.get(end + 1) != Some(&')') {
            return Ok(false);
        }
        let text: String = self.chars.get(begin..end).unwrap_or_default().iter().collect();
        self.at = end + 2;
        self.substitutions(&text)?;
        Ok(true)
    }

    /// What runs inside a text that is not a script itself.
    pub(super) fn substitutions(&mut self, text: &str) -> Result<(), Unread> {
        if self.depth >= MAX_DEPTH {
            return Err(Unread::TooDeep);
        }
        let chars: Vec<char> = text.chars().collect();
        let mut reader = Reader::new(&chars, self.script, self.depth + 1, self.scope);
        let mut aside = Word::default();
        while let Some(c) = reader.peek() {
            match c {
                '\\' => reader.skip(2),
                '$' => reader.dollar(&mut aside, true)?,
                '`' => {
                    reader.skip(1);
                    reader.backtick(&mut aside, false)?;
                }
                _ => reader.skip(1),
            }
        }
        Ok(())
    }

    /// The text of a here-document, up to the line that ends it.
    pub(super) fn document(&mut self, delimiter: &str, tabs: bool) -> Result<String, Unread> {
        let mut text = String::new();
        while self.peek().is_some() {
            let rest = self.chars.get(self.at..).unwrap_or_default();
            let line: String = rest.iter().take_while(|c| **c != '\n').collect();
            self.skip(line.chars().count() + 1);
            let line = if tabs { line.trim_start_matches('\t') } else { &line };
            if line == delimiter {
                return Ok(text);
            }
            text.push_str(line);
            text.push('\n');
        }
        Err(Unread::Unbalanced)
    }
}

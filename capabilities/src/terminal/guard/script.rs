//! A script, read for every command that it would run.
//!
//! This is no interpreter: it finds what stands where a command can stand, in whatever construct, and takes rather too much for a
//! command than too little. What it cannot follow to its end is not read at all, and what is not read does not run. Whether a
//! script is [`plain`](Script::plain) is the other question: only then is nothing in it but words, quotes and separators, so that
//! its words are exactly those that a shell would see.

use super::never;
use super::word::{Reader, Word};

/// The deepest nesting that is followed.
pub const MAX_DEPTH: usize = 24;

/// Why a script is not read. Nothing of it runs then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// A quote, bracket, substitution or here-document does not end, or ends what never began.
    Unbalanced,
    /// Nested above [`MAX_DEPTH`].
    TooDeep,
    /// More commands than anybody looks through.
    TooMany,
    /// A construct that two shells read in two ways.
    Ambiguous,
}

impl Unread {
    /// What is wrong, and what to write instead.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unbalanced => "the script has a quote, bracket or here-document that does not end; close each",
            Self::TooDeep => "the script is nested too deeply to be followed; run its parts one by one",
            Self::TooMany => "the script has more commands than anybody looks through; run its parts one by one",
            Self::Ambiguous => "the script has a construct that can be read in two ways; write it plainly",
        }
    }
}

/// What a redirection does with what it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// It is read.
    In,
    /// It is written, or both.
    Out,
}

/// A command as it stands in a script, before anybody asked what it runs in turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simple {
    /// Its words, without assignments and redirections.
    pub words: Vec<Word>,
    /// What it reads from and writes to.
    pub redirects: Vec<(Direction, Word)>,
    /// Whether the environment is changed for it.
    pub assigned: bool,
    /// Texts that it is fed: here-documents and here-strings.
    pub fed: Vec<String>,
    /// Which of the script's scopes it stands in: a `cd` is one for the commands of its own scope, and of those inside.
    pub scope: usize,
}

/// A script's commands, in no particular order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// Every command, wherever it stands.
    pub commands: Vec<Simple>,
    /// Whether there is something besides words, quotes and the separators `;`, `|`, `&&`, `||` and line breaks.
    pub elaborate: bool,
    /// Whether a function in it calls itself twice at once.
    pub bomb: bool,
    /// Whether commands may run in another order than they stand in, or more than once: there is a function or a loop.
    pub wanders: bool,
    /// The scope around each scope but the outermost, which is 0.
    scopes: Vec<usize>,
}

impl Script {
    /// Reads one.
    ///
    /// # Errors
    /// [`Unread`] when it cannot be followed to its end.
    pub fn read(text: &str) -> Result<Self, Unread> {
        let mut script = Self::default();
        script.add(text, 0)?;
        Ok(script)
    }

    /// Whether its words are exactly those that a shell would see.
    #[must_use]
    pub const fn plain(&self) -> bool {
        !self.elaborate
    }

    /// A command whose words no shell reads.
    pub(super) fn of_words(words: Vec<Word>) -> Self {
        Self { commands: vec![Simple { words, ..Simple::default() }], ..Self::default() }
    }

    /// The scope around one.
    pub(super) fn around(&self, scope: usize) -> usize {
        scope.checked_sub(1).and_then(|at| self.scopes.get(at)).copied().unwrap_or_default()
    }

    /// A new scope in another one.
    pub(super) fn within(&mut self, scope: usize) -> usize {
        self.scopes.push(scope);
        self.scopes.len()
    }

    pub(super) fn add(&mut self, text: &str, depth: usize) -> Result<(), Unread> {
        self.bomb |= never::is_fork_bomb(text);
        let chars: Vec<char> = text.chars().collect();
        let mut reader = Reader::new(&chars, self, depth, 0);
        List::new(&mut reader).until(End::Text)
    }
}

/// What a list of commands ends at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The end of the text.
    Text,
    /// A closing bracket, which is taken.
    Bracket,
}

/// A here-document whose text is still to come.
struct Here {
    delimiter: String,
    tabs: bool,
    quoted: bool,
    /// Of which command.
    command: usize,
}

/// Where in a `case` a list is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Pattern,
    Body,
}

/// What the words that follow are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Words {
    /// A command's.
    Command,
    /// Of the head of a `for`: they are no command.
    Head,
    /// The first is a function's name.
    Name,
}

/// Commands one after the other.
pub(super) struct List<'r, 'a, 's> {
    reader: &'r mut Reader<'a, 's>,
    current: Simple,
    heres: Vec<(String, bool, bool)>,
    pending: Vec<Here>,
    words: Words,
    brackets: usize,
    cases: Vec<Case>,
}

impl<'r, 'a, 's> List<'r, 'a, 's> {
    pub(super) fn new(reader: &'r mut Reader<'a, 's>) -> Self {
        Self {
            reader,
            current: Simple::default(),
            heres: Vec::new(),
            pending: Vec::new(),
            words: Words::Command,
            brackets: 0,
            cases: Vec::new(),
        }
    }

    /// Reads up to the end.
    pub(super) fn until(mut self, end: End) -> Result<(), Unread> {
        loop {
            if self.cases.last() == Some(&Case::Pattern) {
                self.pattern()?;
                continue;
            }
            let Some(c) = self.reader.peek() else {
                self.finish()?;
                let balanced = self.brackets == 0 && self.cases.is_empty() && self.pending.is_empty();
                return if end == End::Text && balanced { Ok(()) } else { Err(Unread::Unbalanced) };
            };
            match c {
                ' ' | '\t' => self.reader.skip(1),
                '\\' if self.reader.peek_at(1) == Some('\n') => self.reader.skip(2),
                '\n' => {
                    self.reader.skip(1);
                    self.finish()?;
                    self.documents()?;
                }
                '#' => self.reader.comment(),
                ';' => self.semicolon()?,
                '&' => self.ampersand()?,
                '|' => {
                    self.finish()?;
                    self.reader.skip(1);
                    if !self.reader.take('|') && self.reader.take('&') {
                        self.reader.elaborate();
                    }
                }
                '(' => {
                    self.finish()?;
                    self.reader.elaborate();
                    if self.reader.peek_at(1) != Some('(') || !self.reader.arithmetic(0)? {
                        self.reader.skip(1);
                        self.reader.enter();
                        self.brackets += 1;
                        if self.brackets > MAX_DEPTH {
                            return Err(Unread::TooDeep);
                        }
                    }
                }
                ')' => {
                    self.finish()?;
                    self.reader.skip(1);
                    self.reader.elaborate();
                    match self.brackets.checked_sub(1) {
                        Some(left) => {
                            self.brackets = left;
                            self.reader.leave();
                        }
                        None if end == End::Bracket && self.cases.is_empty() && self.pending.is_empty() => {
                            return Ok(());
                        }
                        None => return Err(Unread::Unbalanced),
                    }
                }
                '<' | '>' => self.redirect()?,
                _ => self.word()?,
            }
        }
    }

    /// `;` and its relatives.
    fn semicolon(&mut self) -> Result<(), Unread> {
        self.finish()?;
        self.reader.skip(1);
        let next_case = self.reader.take(';') | self.reader.take('&');
        if next_case {
            self.reader.elaborate();
            if let Some(case) = self.cases.last_mut() {
                *case = Case::Pattern;
            }
        }
        Ok(())
    }

    /// `&`, `&&` and `&>`.
    fn ampersand(&mut self) -> Result<(), Unread> {
        if self.reader.peek_at(1) == Some('>') {
            self.reader.skip(1);
            return self.redirect();
        }
        self.finish()?;
        self.reader.skip(1);
        if !self.reader.take('&') {
            self.reader.elaborate();
        }
        Ok(())
    }

    /// A redirection, or a substitution that looks like one.
    fn redirect(&mut self) -> Result<(), Unread> {
        self.reader.elaborate();
        let out = self.reader.take('>');
        if !out {
            self.reader.skip(1);
        }
        if self.reader.take('(') {
            self.reader.nested()?;
            self.current.words.push(Word::computed("<()"));
            return Ok(());
        }
        if !out && self.reader.take('<') {
            if self.reader.take('<') {
                let text = self.operand()?;
                self.current.fed.push(text.text);
                return Ok(());
            }
            let tabs = self.reader.take('-');
            let delimiter = self.operand()?;
            if !delimiter.literal {
                return Err(Unread::Ambiguous);
            }
            self.reader.awaits(true);
            self.heres.push((delimiter.text, tabs, delimiter.quoted));
            return Ok(());
        }
        let both = !out && self.reader.take('>');
        let _ = self.reader.take('>') || self.reader.take('|') || self.reader.take('&');
        let named = self.operand()?;
        self.current.redirects.push((if out || both { Direction::Out } else { Direction::In }, named));
        Ok(())
    }

    /// The word that an operator needs.
    fn operand(&mut self) -> Result<Word, Unread> {
        self.reader.blanks();
        self.reader.word()?.ok_or(Unread::Unbalanced)
    }

    fn word(&mut self) -> Result<(), Unread> {
        let Some(word) = self.reader.word()? else { return Err(Unread::Ambiguous) };
        if matches!(self.reader.peek(), Some('<' | '>')) && word.names_descriptor() {
            self.reader.elaborate();
            return Ok(());
        }
        match self.words {
            Words::Name => {
                self.words = Words::Command;
                return Ok(());
            }
            Words::Head if word.is_bare("do") => return self.finish(),
            Words::Head => return Ok(()),
            Words::Command => {}
        }
        if self.current.words.is_empty() {
            if word.assigns {
                self.reader.elaborate();
                self.current.assigned = true;
                return Ok(());
            }
            if !word.quoted && self.keyword(&word.text)? {
                self.reader.elaborate();
                return Ok(());
            }
        }
        if !word.literal {
            self.reader.elaborate();
        }
        self.current.words.push(word);
        Ok(())
    }

    /// Takes a word of the shell's own language.
    fn keyword(&mut self, word: &str) -> Result<bool, Unread> {
        match word {
            "if" | "then" | "elif" | "else" | "fi" | "done" | "{" | "}" | "!" => {}
            "while" | "until" | "do" => self.reader.wanders(),
            "time" => {
                self.reader.blanks();
                while self.reader.take_word("-p") || self.reader.take_word("--") {
                    self.reader.blanks();
                }
            }
            "for" | "select" => {
                self.reader.wanders();
                self.words = Words::Head;
            }
            "function" => {
                self.reader.wanders();
                self.words = Words::Name;
            }
            "coproc" => return Err(Unread::Ambiguous),
            "case" => {
                self.operand()?;
                self.reader.breaks();
                if !self.operand()?.is_bare("in") {
                    return Err(Unread::Ambiguous);
                }
                if self.cases.len() >= MAX_DEPTH {
                    return Err(Unread::TooDeep);
                }
                self.cases.push(Case::Pattern);
            }
            "esac" => {
                self.finish()?;
                self.cases.pop().ok_or(Unread::Unbalanced)?;
            }
            "[[" => self.condition()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The patterns of one branch of a `case`, or the end of it.
    fn pattern(&mut self) -> Result<(), Unread> {
        self.reader.breaks();
        if self.reader.take_word("esac") {
            self.cases.pop();
            return Ok(());
        }
        let _ = self.reader.take('(');
        loop {
            self.reader.breaks();
            if self.reader.take(')') {
                break;
            }
            if !self.reader.take('|') && self.reader.word()?.is_none() {
                return Err(Unread::Unbalanced);
            }
        }
        if let Some(case) = self.cases.last_mut() {
            *case = Case::Body;
        }
        Ok(())
    }

    /// From `[[` to `]]`: no command but in substitutions.
    fn condition(&mut self) -> Result<(), Unread> {
        loop {
            self.reader.breaks();
            match self.reader.peek() {
                None => return Err(Unread::Unbalanced),
                Some('<' | '>' | '(' | ')' | '&' | '|' | ';') => self.reader.skip(1),
                Some(_) => {
                    if self.reader.word()?.ok_or(Unread::Ambiguous)?.is_bare("]]") {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// The texts of the here-documents that were begun in the line before.
    fn documents(&mut self) -> Result<(), Unread> {
        self.reader.awaits(false);
        for here in core::mem::take(&mut self.pending) {
            let text = self.reader.document(&here.delimiter, here.tabs)?;
            if !here.quoted {
                self.reader.substitutions(&text)?;
            }
            self.reader.feed(here.command, text);
        }
        Ok(())
    }

    /// The current command is complete.
    fn finish(&mut self) -> Result<(), Unread> {
        self.words = Words::Command;
        let current = core::mem::take(&mut self.current);
        let heres = core::mem::take(&mut self.heres);
        let nothing = current.words.is_empty() && current.redirects.is_empty() && !current.assigned;
        if nothing && heres.is_empty() && current.fed.is_empty() {
            return Ok(());
        }
        let command = self.reader.found(current)?;
        self.pending.extend(heres.into_iter().map(|(delimiter, tabs, quoted)| Here {
            delimiter,
            tabs,
            quoted,
            command,
        }));
        Ok(())
    }
}

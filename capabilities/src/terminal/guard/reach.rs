//! Every command that a command runs: through wrappers, shells and options that name another one.

use std::collections::BTreeSet;

use super::MAX_COMMANDS;
use super::script::{MAX_DEPTH, Script, Unread};
use super::tables::{WRAPPERS, Wrapper};
use super::word::Word;

/// Everything that is run, each command once.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// Each as its words.
    pub(super) commands: Vec<Vec<Word>>,
    /// What scripts inside commands hold besides.
    pub(super) inside: Vec<super::script::Simple>,
    /// Whether something is run whose name nobody can read.
    pub(super) unknown: bool,
    /// Whether a script inside one has a function that calls itself twice at once.
    pub(super) bomb: bool,
    /// Whether a script inside one runs commands in another order than they stand in.
    pub(super) wanders: bool,
    seen: BTreeSet<Vec<String>>,
}

/// The last part of a program's path.
pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}

fn wrapper_of(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

impl Reached {
    /// Takes in a command and whatever it runs.
    ///
    /// # Errors
    /// [`Unread`] when a script inside it cannot be followed to its end.
    pub(super) fn add(&mut self, words: &[Word], fed: &[String], depth: usize) -> Result<(), Unread> {
        let Some((program, rest)) = words.split_first() else { return Ok(()) };
        if !self.seen.insert(words.iter().map(|word| word.text.clone()).collect()) {
            return Ok(());
        }
        if depth > MAX_DEPTH {
            return Err(Unread::TooDeep);
        }
        if self.commands.len() >= MAX_COMMANDS {
            return Err(Unread::TooMany);
        }
        self.commands.push(words.to_vec());
        if !program.literal {
            self.unknown = true;
            return Ok(());
        }
        let name = base(&program.text);
        if name != program.text {
            let plain = Word { text: name.to_owned(), ..program.clone() };
            let renamed: Vec<Word> = core::iter::once(plain).chain(rest.iter().cloned()).collect();
            return self.add(&renamed, fed, depth);
        }
        match name {
            "find" | "fd" | "fdfind" => self.find(rest, depth)?,
            "git" => self.git(rest, depth)?,
            "source" | "." => self.unknown |= rest.first().is_some_and(|file| !file.literal || is_input(&file.text)),
            _ => {
                if let Some(wrapper) = wrapper_of(name) {
                    self.wrapped(wrapper, rest, fed, depth)?;
                }
            }
        }
        Ok(())
    }

    /// A text that a shell reads.
    fn script(&mut self, text: &str, depth: usize) -> Result<(), Unread> {
        if depth > MAX_DEPTH {
            return Err(Unread::TooDeep);
        }
        let mut script = Script::default();
        script.add(text, depth)?;
        self.bomb |= script.bomb;
        self.wanders |= script.wanders;
        for simple in script.commands {
            self.add(&simple.words, &simple.fed, depth + 1)?;
            self.inside.push(simple);
        }
        Ok(())
    }

    fn joined(&mut self, words: &[Word], depth: usize) -> Result<(), Unread> {
        let text: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        self.unknown |= words.iter().any(|word| !word.literal && !word.text.is_empty());
        self.script(&text.join(" "), depth + 1)
    }

    fn wrapped(&mut self, wrapper: &Wrapper, rest: &[Word], fed: &[String], depth: usize) -> Result<(), Unread> {
        if wrapper.name == "xargs" {
            return self.xargs(wrapper, rest, fed, depth);
        }
        // What nobody can see before is a command whose name is only known when it runs.
        self.unknown |= fed.is_empty() && reads_commands(wrapper, rest);
        if wrapper.shell {
            for text in fed {
                self.script(text, depth + 1)?;
            }
            // Which word is the script depends on options; each is read as one, but for what can be nothing else than an option:
            // behind `--` a script may begin with a dash.
            for word in rest.iter().filter(|word| !is_option(&word.text)) {
                self.unknown |= !word.literal;
                self.script(&word.text, depth + 1)?;
            }
        }
        match command_of(wrapper, rest) {
            Some(command) if wrapper.shell => self.joined(command, depth),
            Some(command) => self.add(command, fed, depth + 1),
            // An option that is not known may take a word along or not: every word could be the command's first.
            None => self.any_suffix(rest, fed, depth),
        }
    }

    /// What `xargs` runs, with words of its input in it or behind it.
    fn xargs(&mut self, wrapper: &Wrapper, rest: &[Word], fed: &[String], depth: usize) -> Result<(), Unread> {
        let mut marks: Vec<&str> = vec!["{}"];
        for (at, word) in rest.iter().enumerate() {
            let mark = ["--replace=", "-I", "-i", "-J"].iter().find_map(|option| word.text.strip_prefix(option));
            match mark {
                Some("") => marks.extend(rest.get(at + 1).map(|word| word.text.as_str())),
                Some(mark) => marks.push(mark),
                None => {}
            }
        }
        let marked: Vec<Word> = rest.iter().map(|word| with_input(word, &marks)).collect();
        let Some(command) = command_of(wrapper, &marked) else { return self.any_suffix(&marked, fed, depth) };
        self.add(command, fed, depth + 1)?;
        // Whatever runs its last words runs words of the input.
        let runs_more = command.first().is_some_and(|program| wrapper_of(base(&program.text)).is_some());
        if runs_more {
            let more: Vec<Word> = command.iter().cloned().chain([Word::computed("…")]).collect();
            self.add(&more, fed, depth + 1)?;
        }
        Ok(())
    }

    /// Every word could be a command's first.
    fn any_suffix(&mut self, rest: &[Word], fed: &[String], depth: usize) -> Result<(), Unread> {
        for at in 0..rest.len() {
            let suffix = rest.get(at..).unwrap_or_default();
            self.add(suffix, fed, depth + 1)?;
            if let Some(word) = suffix.first() {
                let text = word.text.split_once('=').map_or(word.text.as_str(), |(_, value)| value);
                if text.contains([' ', '\t', '\n', ';']) {
                    self.script(text, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    /// What `-exec` and its relatives run.
    fn find(&mut self, rest: &[Word], depth: usize) -> Result<(), Unread> {
        for (at, word) in rest.iter().enumerate() {
            if matches!(
                word.text.as_str(),
                "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
            ) {
                let command = rest.get(at + 1..).unwrap_or_default();
                let end = command.iter().position(|word| matches!(word.text.as_str(), ";" | "+"));
                // A file that is found is no word that anybody reads before.
                let command = command.iter().take(end.unwrap_or(command.len()));
                let command: Vec<Word> = command.map(|word| with_input(word, &["{}"])).collect();
                self.add(&command, &[], depth + 1)?;
            }
        }
        Ok(())
    }

    /// What subcommands of `git` and aliases in its options run.
    fn git(&mut self, rest: &[Word], depth: usize) -> Result<(), Unread> {
        for (at, word) in rest.iter().enumerate() {
            let after = rest.get(at + 1..).unwrap_or_default();
            match word.text.as_str() {
                "foreach" | "run" => self.joined(after, depth)?,
                "--exec" | "-x" => self.joined(after.get(..1).unwrap_or_default(), depth)?,
                text => {
                    let script = text.split_once("=!").or_else(|| {
                        let (option, value) = text.split_once('=')?;
                        (option.starts_with("--") && option.ends_with("exec")).then_some((option, value))
                    });
                    if let Some((_, script)) = script {
                        self.script(script, depth + 1)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A word as one that is computed, when something is put into it.
fn with_input(word: &Word, marks: &[&str]) -> Word {
    let computed = marks.iter().any(|mark| !mark.is_empty() && word.text.contains(mark));
    Word { literal: word.literal && !computed, ..word.clone() }
}

/// Whether a word is an option, or a command that nobody has: one without a character that means something to a shell.
fn is_option(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=+.,:/@%".contains(&byte);
    word.strip_prefix('-').is_some_and(|rest| rest.bytes().all(plain))
}

/// Whether a file's name is one of standard input's.
fn is_input(file: &str) -> bool {
    matches!(file, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "/proc/thread-self/fd/0")
}

/// Whether a shell reads what it runs from its standard input: it is given no script, or told to.
fn reads_commands(wrapper: &Wrapper, rest: &[Word]) -> bool {
    const OTHERS: &[&str] = &["parallel", "runuser", "script", "sg", "ssh", "su"];
    if !wrapper.shell || matches!(wrapper.name, "eval" | "trap" | "watch") {
        return false;
    }
    if OTHERS.contains(&wrapper.name) {
        return command_of(wrapper, rest).is_none_or(<[Word]>::is_empty);
    }
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if is_input(text) {
            return true;
        }
        let Some(letters) = text.strip_prefix(['-', '+']) else { return false };
        if letters == "-" {
            return words.next().is_none_or(|file| is_input(&file.text));
        }
        if let Some(long) = letters.strip_prefix('-') {
            if matches!(long, "rcfile" | "init-file") {
                words.next();
            }
        } else if letters.contains('c') {
            return false;
        } else if letters.contains('s') {
            return true;
        } else if letters.ends_with(['o', 'O']) {
            words.next();
        }
    }
    true
}

/// The command that a wrapper was given; none when one of its options is not known.
fn command_of<'a>(wrapper: &Wrapper, rest: &'a [Word]) -> Option<&'a [Word]> {
    let listed = |list: &str, option: &str| list.split(' ').any(|known| known == option);
    let mut at = 0;
    loop {
        let word = rest.get(at)?;
        let text = word.text.as_str();
        if !word.literal {
            return None;
        }
        if text == "--" {
            at += 1;
            break;
        }
        let assigns = matches!(wrapper.name, "env" | "sudo" | "doas") && text.contains('=') && !text.starts_with('-');
        if assigns || listed(wrapper.flags, text) {
            at += 1;
        } else if listed(wrapper.values, text) {
            at += 2;
        } else if text.starts_with('-') && text.len() > 1 {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let attached =
                text.get(..2).is_some_and(|option| !text.starts_with("--") && listed(wrapper.values, option));
            if attached || (!value.is_empty() && listed(wrapper.values, name)) {
                at += 1;
            } else {
                return None;
            }
        } else {
            break;
        }
    }
    // Assignments may stand behind `--` too.
    while wrapper.name == "env" && rest.get(at).is_some_and(|word| word.text.contains('=')) {
        at += 1;
    }
    rest.get(at + wrapper.before..)
}

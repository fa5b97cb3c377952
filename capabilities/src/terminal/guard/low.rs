//! Whether a command is one that only looks: its name, each of its options and each of its operands are known.

use super::Why;
use super::paths::Place;
use super::site::Site;
use super::tables::{FIND, LOW, Low, Operands};
use super::word::Word;

/// Why a command is not known to only look; nothing when it is.
pub(super) fn check(words: &[Word], site: &Site<'_>) -> Result<(), Why> {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    if words.iter().any(|word| !word.literal) {
        return Err(Why::Computed);
    }
    let (name, rest) = texts.split_first().ok_or(Why::UnknownCommand)?;
    if name.contains('/') {
        return Err(Why::RunsFile);
    }
    match *name {
        "find" => find(rest, site),
        "git" => git(rest, site),
        name => known(name, rest, site),
    }
}

fn row(name: &str) -> Option<&'static Low> {
    LOW.iter().find(|row| row.name == name)
}

fn known(name: &str, rest: &[&str], site: &Site<'_>) -> Result<(), Why> {
    let row = row(name).ok_or(Why::UnknownCommand)?;
    let (operands, with) = options(row, rest, site)?;
    self::operands(row, &operands, &with, site)
}

fn git(rest: &[&str], site: &Site<'_>) -> Result<(), Why> {
    let rest = match rest.split_first() {
        Some((&"--no-pager", rest)) => rest,
        _ => rest,
    };
    let (subcommand, rest) = rest.split_first().ok_or(Why::UnknownCommand)?;
    if subcommand.starts_with('-') {
        return Err(Why::UnknownOption);
    }
    known(&format!("git {subcommand}"), rest, site)
}

fn listed(list: &str, option: &str) -> bool {
    list.split(' ').any(|known| known == option)
}

/// What is left once every option is known: the operands, and the options that stand.
fn options<'a>(row: &Low, rest: &[&'a str], site: &Site<'_>) -> Result<(Vec<&'a str>, Vec<&'a str>), Why> {
    let (mut operands, mut with) = (Vec::new(), Vec::new());
    let mut words = rest.iter().copied();
    while let Some(word) = words.next() {
        if word == "--" {
            operands.extend(words);
            break;
        }
        if !word.starts_with('-') || word == "-" {
            operands.push(word);
            continue;
        }
        with.push(word);
        if listed(row.flags, word) {
            continue;
        }
        let value = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") && listed(row.values, name) => value,
            _ if listed(row.values, word) => words.next().ok_or(Why::UnknownOption)?,
            _ if word.starts_with("--") => return Err(Why::UnknownOption),
            _ => match cluster(row, word)? {
                Cluster::Flags => continue,
                Cluster::Value(value) => value,
                Cluster::NextIsValue => words.next().ok_or(Why::UnknownOption)?,
            },
        };
        // No value that is known here is a file: what looks like one is looked at.
        if value.contains('/') {
            file(value, site)?;
        }
    }
    Ok((operands, with))
}

enum Cluster<'a> {
    Flags,
    Value(&'a str),
    NextIsValue,
}

/// Letters that stand together: flags, and at most one with a value at their end. `-5` is a count where there are counts.
fn cluster<'a>(row: &Low, word: &'a str) -> Result<Cluster<'a>, Why> {
    let letters = word.strip_prefix('-').unwrap_or_default();
    if !letters.is_empty() && letters.bytes().all(|b| b.is_ascii_digit()) && listed(row.values, "-n") {
        return Ok(Cluster::Flags);
    }
    for (at, letter) in letters.char_indices() {
        let option = format!("-{letter}");
        if listed(row.flags, &option) {
            continue;
        }
        if !listed(row.values, &option) {
            return Err(Why::UnknownOption);
        }
        let value = letters.get(at + letter.len_utf8()..).unwrap_or_default();
        return Ok(if value.is_empty() { Cluster::NextIsValue } else { Cluster::Value(value) });
    }
    Ok(Cluster::Flags)
}

fn operands(row: &Low, operands: &[&str], with: &[&str], site: &Site<'_>) -> Result<(), Why> {
    let files = |files: &[&str]| files.iter().try_for_each(|path| file(path, site));
    match row.operands {
        Operands::None if operands.is_empty() => Ok(()),
        Operands::None => Err(Why::UnknownOption),
        Operands::Texts => Ok(()),
        Operands::Files | Operands::Revisions => files(operands),
        Operands::OneFile if operands.len() <= 1 => files(operands),
        Operands::OneFile => Err(Why::Writes),
        Operands::PatternAndFiles => {
            let given = with.iter().any(|option| option.starts_with("-e") || option.starts_with("--regexp"));
            files(operands.get(usize::from(!given)..).unwrap_or_default())
        }
        Operands::LinesAndFiles => match operands.split_first() {
            Some((lines, rest)) if prints_lines(lines) && with.iter().any(|option| is_quiet(option)) => files(rest),
            _ => Err(Why::UnknownOption),
        },
        Operands::Format if operands.iter().all(|format| format.starts_with('+')) => Ok(()),
        Operands::Format => Err(Why::UnknownOption),
        Operands::NamesWith(option) if operands.is_empty() || with.contains(&option) => Ok(()),
        Operands::NamesWith(_) => Err(Why::Writes),
        Operands::Word(word) if operands == [word] => Ok(()),
        Operands::Word(_) => Err(Why::UnknownOption),
    }
}

fn is_quiet(option: &str) -> bool {
    matches!(option, "--quiet" | "--silent") || (!option.starts_with("--") && option.contains('n'))
}

/// `5p`, `1,5p`, `3,$p`: lines by number, printed.
fn prints_lines(script: &str) -> bool {
    let number = |text: &str| text == "$" || (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
    script.strip_suffix('p').is_some_and(|lines| lines.splitn(2, ',').all(number))
}

/// A file that is read.
fn file(path: &str, site: &Site<'_>) -> Result<(), Why> {
    if site.is_sensitive(path) {
        return Err(Why::Sensitive);
    }
    // `REVISION:path` names a path in the repository, whatever it looks like.
    let named = path.rsplit_once(':').map_or(path, |(_, named)| named);
    match site.place(path, true).max(site.place(named, true)) {
        Place::Inside | Place::Nothing => Ok(()),
        Place::Unknown => Err(Why::Computed),
        Place::Outside => Err(Why::ReadsOutside),
    }
}

fn find(rest: &[&str], site: &Site<'_>) -> Result<(), Why> {
    let expression = rest.iter().position(|word| word.starts_with('-') || matches!(*word, "(" | "!"));
    let (folders, mut tests) = rest.split_at(expression.unwrap_or(rest.len()));
    folders.iter().try_for_each(|folder| file(folder, site))?;
    while let Some((test, left)) = tests.split_first() {
        let (_, valued) = FIND.iter().find(|(known, _)| known == test).ok_or(Why::UnknownOption)?;
        tests = left.get(usize::from(*valued)..).ok_or(Why::UnknownOption)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{LOW, listed};

    /// No option is listed twice, and none takes a value that is listed as taking none.
    #[test]
    fn the_table_is_in_order() {
        assert!(LOW.is_sorted_by(|a, b| a.name < b.name), "by name");
        for row in LOW {
            for option in row.values.split_whitespace() {
                assert!(!listed(row.flags, option), "{}: {option}", row.name);
            }
            for option in row.flags.split_whitespace().chain(row.values.split_whitespace()) {
                assert!(option.starts_with('-'), "{}: {option}", row.name);
            }
        }
    }
}

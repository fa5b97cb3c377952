//! Characters that pass for others, by the tables of Unicode's technical standard 39.

use unicode_script::{Script, UnicodeScript};
use unicode_security::skeleton;

use super::text::Reading;

/// Punctuation that has a meaning in hosts and paths, also where they stand in a sentence.
const DELIMITERS: [char; 8] = ['/', '\\', ':', '.', '@', '?', '#', '&'];

/// Where in the text a character stands that can be taken for another one: offsets in bytes, in order.
pub fn places(text: &str, reading: Reading) -> Vec<usize> {
    if text.is_ascii() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut word = Vec::new();
    for (at, character) in text.char_indices() {
        if is_of_a_word(character) {
            word.push((at, character));
            continue;
        }
        judge(&mut word, reading, &mut found);
        if !character.is_ascii()
            && twin_of(character).is_some_and(|twin| match reading {
                Reading::Name => true,
                // A language's own full stop is no stranger in its sentences.
                Reading::Prose => {
                    DELIMITERS.contains(&twin) && character.script() == Script::Common && !is_wide(character)
                }
            })
        {
            found.push(at);
        }
    }
    judge(&mut word, reading, &mut found);
    found
}

/// A hyphen joins words of different scripts in many languages; in a name it belongs to them.
fn is_of_a_word(character: char) -> bool {
    character.is_alphanumeric() || unicode_general_category::get_general_category(character).abbreviation() == "Mn"
}

fn judge(word: &mut Vec<(usize, char)>, reading: Reading, found: &mut Vec<usize>) {
    let foreign = word.iter().any(|(_, character)| !character.is_ascii());
    if foreign {
        let mixed = word.iter().any(|(_, character)| character.is_ascii_alphabetic());
        // A word of one script that could all be read as ASCII.
        let whole = reading == Reading::Name
            && word.iter().all(|(_, character)| character.is_ascii() || twin_of(*character).is_some());
        for (at, character) in word.iter().filter(|(_, character)| twin_of(*character).is_some()) {
            let stranger = match character.script() {
                // Letters for formulas: the alphabet once more.
                Script::Common => character.is_alphabetic(),
                Script::Latin => mixed && reading == Reading::Name,
                _ => mixed,
            };
            if stranger || whole {
                found.push(*at);
            }
        }
    }
    word.clear();
}

/// The one ASCII character that this other one can be taken for.
fn twin_of(character: char) -> Option<char> {
    if character.is_ascii() {
        return None;
    }
    if is_wide(character) {
        return char::from_u32(u32::from(character) - 0xfee0);
    }
    let mut buffer = [0; 4];
    let mut skeleton = skeleton(character.encode_utf8(&mut buffer));
    match (skeleton.next(), skeleton.next(), skeleton.next()) {
        (Some(twin), None, None) => Some(twin).filter(char::is_ascii),
        // The tables take the one for the other as well.
        (Some('r'), Some('n'), None) => Some('m'),
        _ => None,
    }
}

/// ASCII once more, as wide as the characters of East Asia, in whose sentences it is at home.
const fn is_wide(character: char) -> bool {
    matches!(character, '\u{ff01}'..='\u{ff5e}')
}

/// Whether Unicode has nothing drawn for it.
pub fn is_ignorable(character: char) -> bool {
    skeleton(character.encode_utf8(&mut [0; 4])).next().is_none()
}

//! Small help for wording refusals.

/// How much of a caller's text a refusal repeats.
const MAX_SHOWN: usize = 80;

/// `text`, shortened, and without characters that would change the lines around it.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(MAX_SHOWN)
        .map(|character| if character.is_control() { '\u{fffd}' } else { character })
        .collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// The same for a place in the arguments, whose end matters most.
pub(super) fn place(pointer: &str) -> String {
    let characters = pointer.chars().count();
    let hidden = characters.saturating_sub(4 * MAX_SHOWN);
    let mut place: String = if hidden > 0 { "…".to_owned() } else { String::new() };
    let visible = pointer.chars().skip(hidden);
    place.extend(visible.map(|character| if character.is_control() { '\u{fffd}' } else { character }));
    place
}

/// The one of `allowed` that `written` most looks like, if one does.
#[must_use]
pub fn nearest<'a>(written: &str, allowed: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if written.len() > MAX_SHOWN {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    let reach = written.chars().count() / 3 + 1;
    allowed
        .into_iter()
        .take(256)
        .filter(|candidate| candidate.len() <= MAX_SHOWN)
        .map(|candidate| {
            let distance =
                if plain(candidate) == plain(written) { 0 } else { distance(&plain(written), &plain(candidate)) };
            (distance, candidate)
        })
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= reach)
        .map(|(_, candidate)| candidate)
}

/// How many characters have to change to make one text the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, character) in from.chars().enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        let mut next = vec![left];
        for (other, above) in to.iter().zip(row.iter().skip(1)) {
            let changed = diagonal + usize::from(*other != character);
            left = changed.min(left + 1).min(above + 1);
            next.push(left);
            diagonal = *above;
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest, shown};

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        assert_eq!(nearest("qurey", ["limit", "query"]), Some("query"));
        assert_eq!(nearest("timeRange", ["time_range", "time"]), Some("time_range"));
        assert_eq!(nearest("zebra", ["limit", "query"]), None);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn what_is_shown_is_short_and_stays_on_its_line() {
        assert_eq!(shown("a\nb"), "a\u{fffd}b");
        assert_eq!(shown(&"x".repeat(500)).chars().count(), 81);
    }
}

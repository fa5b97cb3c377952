//! Aligned tables for people.

/// Lays out rows under a heading, columns two spaces apart; the last column is not padded.
pub fn layout<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = heading.map(|cell| cell.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: [&str; N]| {
        let mut text = String::new();
        for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
            text.push_str(cell);
            if at + 1 < N {
                text.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count()) + 2));
            }
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    };
    let mut text = line(heading);
    for row in rows {
        text.push_str(&line(std::array::from_fn(|at| row.get(at).map_or("", String::as_str))));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_align_and_lines_have_no_trailing_space() {
        let rows = [["a.b".to_owned(), "1".into(), "first".into()], ["long.name".into(), "12".into(), String::new()]];
        assert_eq!(
            super::layout(["NAME", "V", "SUMMARY"], &rows),
            "NAME       V   SUMMARY\na.b        1   first\nlong.name  12\n"
        );
    }
}

//! Words that depend on a number.

/// `1 record`, `2 records`.
pub fn counted(count: impl TryInto<u64>, one: &str, many: &str) -> String {
    match count.try_into() {
        Ok(1) => format!("1 {one}"),
        Ok(count) => format!("{count} {many}"),
        Err(_) => many.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_is_not_many() {
        let records = |count: usize| super::counted(count, "record", "records");
        assert_eq!([records(0), records(1), records(2)], ["0 records", "1 record", "2 records"]);
    }
}

//! Words that depend on a number, and on who stands behind somebody.

use capability_core::session::Principal;

/// `1 record`, `2 records`.
pub fn counted(count: impl TryInto<u64>, one: &str, many: &str) -> String {
    match count.try_into() {
        Ok(1) => format!("1 {one}"),
        Ok(count) => format!("{count} {many}"),
        Err(_) => many.to_owned(),
    }
}

/// Behind whoever asks: for whom that one acts, the nearest first. Nothing for whoever asks for itself.
pub fn acting_for(principals: &[Principal]) -> String {
    principals.iter().map(|principal| format!(", acting for {principal}")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_is_not_many() {
        let records = |count: usize| super::counted(count, "record", "records");
        assert_eq!([records(0), records(1), records(2)], ["0 records", "1 record", "2 records"]);
    }
}

async fn search(query: &str) -> String {
    query.to_owned()
}
::core::compile_error! {
    "`confirmation` cannot be written for a `#[capability]`: whether a person must confirm is computed from `side_effect` and `network`\nhelp: remove `confirmation`; to ask even where the table says automatic, write `default = ask`\n\n| side_effect | network  | confirmation |\n|-------------|----------|--------------|\n| read_only   | local    | automatic    |\n| read_only   | external | required     |\n| mutating    | local    | required     |\n| mutating    | external | required     |"
}
::core::compile_error! {
    "`#[validate]` is on a parameter of a `#[capability]`: only `#[args]`, `#[serde(..)]`, `#[schemars(..)]`, `#[cfg(..)]`, docs and lint levels mean something there\nhelp: remove `#[validate]`"
}
::core::compile_error! {
    "`&str` is a borrowed argument of a `#[capability]`: arguments are owned, and only handles are borrowed\nhelp: write `query: String`"
}
::core::compile_error! {
    "`version` is zero: a version is a whole number from 1 to 4294967295, written out\nhelp: write `version = 1`"
}

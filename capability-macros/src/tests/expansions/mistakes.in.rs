#[capability(name = "web.search", version = 0, side_effect = read_only, network = external, confirmation = none)]
async fn search(#[validate] query: &str) -> String {
    query.to_owned()
}

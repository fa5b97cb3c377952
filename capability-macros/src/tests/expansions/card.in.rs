/// Search the web through
/// the household's own instance.
#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn web_search(
    searxng: &Endpoint<Searxng>,
    /// What to look for.
    #[schemars(length(min = 1, max = 500))]
    query: String,
    /// Only results this recent.
    time_range: Option<TimeRange>,
) -> Result<SearchResults, Failure> {
    search(searxng, query, time_range).await
}

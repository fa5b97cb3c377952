#[capability(
    name = "web.fetch",
    version = 2,
    side_effect = mutating,
    network = external,
    title = "Fetch a page",
    bounds(timeout = "10s", max_result = "2 MiB", per_turn = 3),
    target = url(url),
    scope = server,
    preview = previews::fetch,
    check = sensible,
    risk = high,
    default = deny,
    resident,
    idempotent,
    crate = ::facade::cap
)]
#[cfg(feature = "web")]
#[inline]
pub async fn fetch(
    http: &Http,
    url: Url,
    #[cfg(unix)] workspace: &Workspace<Write>,
    #[serde(rename = "host", default = "home")] mut server: Text,
) -> Answer {
    server.clear();
    get(http, url, server).await
}

#[capability(name = "home.state", version = 1, side_effect = read_only, network = local, check = sensible)]
fn state(#[args] query: Query, clock: &Clock) -> State {
    query.state(clock)
}

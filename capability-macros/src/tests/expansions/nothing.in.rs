#[capability(name = "home.ping", version = 1, side_effect = read_only, network = local)]
fn ping() {}

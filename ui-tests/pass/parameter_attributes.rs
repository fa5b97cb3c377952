//! What belongs to the property goes to it, and what belongs to the parameter stays.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::__private::CAPABILITIES;
use capability_core::capability;

#[capability(name = "parameter.attributes", version = 1, side_effect = read_only, network = local, scope = server)]
async fn attributes(
    /// What to look for
    /// exactly.
    #[schemars(length(min = 1, max = 500))]
    query: String,
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    #[serde(default)] verbose: bool,
    #[serde(rename = "host")]
    /// Where.
    server: String,
    #[serde(alias = "since")] after: Option<u64>,
    #[serde(with = "seconds")]
    #[schemars(with = "u64")]
    period: std::time::Duration,
    #[allow(unused_variables)] ignored: Option<u8>,
    mut changed: Vec<u8>,
    r#type: Option<String>,
    #[cfg(all())] present: Option<u8>,
    #[cfg(any())] absent: NotEvenAType,
) -> String {
    changed.push(0);
    let _ = (limit, verbose, after, period, changed, r#type, present);
    query + &server
}

const fn ten() -> u32 {
    10
}

mod seconds {
    use serde::Deserialize;

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<std::time::Duration, D::Error> {
        u64::deserialize(deserializer).map(std::time::Duration::from_secs)
    }
}

fn main() {
    // A rule speaks of properties, so a renamed argument is known by its property.
    assert_eq!(CAPABILITIES[0].scope(), Some("host"));
}

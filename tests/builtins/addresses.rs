//! Two readers of one address: the capability that sends the request, and the host that connects.

use capabilities::http::Address;
use capability_host::broker::Place;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

fn texts() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "http",
        "https",
        "HTTP",
        "ftp",
        ":",
        "//",
        "/",
        "\\",
        "@",
        "?",
        "#",
        "[",
        "]",
        "%",
        "%2e",
        "%00",
        ".",
        "..",
        "-",
        "_",
        "a",
        "A",
        "xn--",
        "0",
        "1",
        "127",
        "255",
        "256",
        "0x7f",
        "0177",
        "2130706433",
        "::1",
        "::ffff:127.0.0.1",
        "fe80::1%eth0",
        "80",
        "443",
        "65535",
        "65536",
        "00080",
        " ",
        "\t",
        "\n",
        "\0",
        "é",
        "。",
        "①",
        "a.example",
        "localhost",
    ]);
    let any = prop::collection::vec(piece, 1..10).prop_map(|pieces| pieces.concat());
    let begun = ("https?://", "[a-z0-9.:@\\[\\]%-]{0,12}", "[/?#]?[a-z]?").prop_map(|(a, b, c)| a + &b + &c);
    prop_oneof![any.clone(), any.prop_map(|rest| format!("http://{rest}")), begun]
}

/// What the capability takes for an address, the host takes for the same place: none is approved as one and asked as another.
#[test]
fn the_capability_and_the_host_read_an_address_alike() {
    let mut runner = TestRunner::deterministic();
    let mut read = 0;
    for _ in 0..40_000 {
        let text = texts().new_tree(&mut runner).unwrap().current();
        let Ok(address) = Address::parse(&text) else { continue };
        read += 1;
        for text in [&text, &address.to_string()] {
            let (_, place, _) = Place::of_url(text).unwrap_or_else(|| panic!("the host reads no place in {text:?}"));
            assert_eq!(place.port, address.port(), "{text:?}");
            assert_eq!(place.host.to_string().trim_matches(['[', ']']), address.host(), "{text:?}");
        }
    }
    assert!(read > 1_000, "{read} addresses say little");
}

//! A name is exact or it is nothing.

use capability_core::{Code, Proposal};

use crate::fixtures::Bench;

#[tokio::test]
async fn no_spelling_near_a_name_is_that_name() {
    let bench = Bench::new();
    let right = "lab.asks";
    let tricks = [
        "lab.asks@1",
        "Lab.asks",
        "LAB.ASKS",
        "lab.Asks",
        "lab.asks ",
        " lab.asks",
        "lab.asks\n",
        "lab.asks\t",
        "lab.asks\0",
        "\0lab.asks",
        "lab.asks\0.x",
        "lab\0.asks",
        "lab..asks",
        "lab.asks.",
        ".lab.asks",
        "lab-asks",
        "lab_asks",
        "lab/asks",
        "lab.ask",
        "lab.asks_",
        "lab.asksx",
        "labasks",
        "lab.*",
        "*",
        "",
        ".",
        "lab",
        "lab.",
        "asks",
        "lab.asks:1",
        "lab.asks:*",
        "lab.asks-v1",
        "lab.asks#1",
        "lab.asks?confirmed=true",
        "lab%2easks",
        "lab\u{2024}asks",
        "lab.аsks",
        "lab.asks\u{200b}",
        "\u{feff}lab.asks",
        "lab.asks\u{0301}",
        "ｌab.asks",
        "../lab.asks",
        "capability_tests::lab.asks",
        "\"lab.asks\"",
        "lab.asks;lab.once",
        "lab.asks,lab.once",
    ];
    for trick in tricks {
        let outcome = bench.executor.invoke(&bench.session, Proposal::new(trick, 1, "{}")).await;
        assert_eq!(outcome.code(), Some(Code::UnknownCapability), "{trick:?}");
        assert_eq!(outcome.message().as_deref(), Some(Code::UnknownCapability.message()), "{trick:?}");
    }
    let long = "a.".repeat(5_000_000);
    for huge in [long.as_str(), &"x".repeat(1 << 20)] {
        let outcome = bench.executor.invoke(&bench.session, Proposal::new(huge, 1, "{}")).await;
        assert_eq!(outcome.code(), Some(Code::UnknownCapability));
    }
    assert!(bench.invoke_raw(right, "{}").await.approval().is_some());
    assert_eq!(bench.world().ran(), 0);
}

#[tokio::test]
async fn no_version_near_a_version_is_that_version() {
    let bench = Bench::new();
    for version in [0, 3, 10, 11, 12, u32::MAX, u32::MAX - 1, 1 << 16 | 1, 1 << 8 | 1] {
        let outcome = bench.executor.invoke(&bench.session, Proposal::new("lab.asks", version, "{}")).await;
        assert_eq!(outcome.code(), Some(Code::UnknownCapability), "{version}");
    }
    for version in [1, 2] {
        let outcome = bench.executor.invoke(&bench.session, Proposal::new("lab.asks", version, "{}")).await;
        assert!(outcome.approval().is_some(), "{version}");
    }
}

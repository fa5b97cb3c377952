//! Units, spaces and separators.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::__private::CAPABILITIES;
use capability_core::capability;

macro_rules! bounded {
    ($($function:ident $name:literal $timeout:literal $size:literal),*) => {$(
        #[capability(name = $name, version = 1, side_effect = read_only, network = local,
            bounds(timeout = $timeout, max_result = $size, per_turn = 1_000))]
        fn $function() {}
    )*};
}
bounded!(a "bounds.a" "250ms" "1 B", b "bounds.b" "10 s" "64KiB", c "bounds.c" "5m" "8 MiB", d "bounds.d" "2 min" "1_000 B");

fn main() {
    let mut bounds: Vec<_> = CAPABILITIES.iter().map(|entry| format!("{} {}", entry.name(), entry.bounds())).collect();
    bounds.sort_unstable();
    assert_eq!(
        bounds,
        [
            "bounds.a 250 ms, 1 B, 1000 per turn",
            "bounds.b 10 s, 64 KiB, 1000 per turn",
            "bounds.c 300 s, 8 MiB, 1000 per turn",
            "bounds.d 120 s, 1000 B, 1000 per turn"
        ]
    );
}

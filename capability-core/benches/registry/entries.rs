//! Registries of ten, a thousand and ten thousand entries, for measuring what their number costs.
//!
//! The entries are written down as the attribute would write them, without bodies: nothing here runs one.

/// Ten entries whose names end in a digit more than `$prefix`.
#[macro_export]
macro_rules! ten {
    ($($prefix:literal)*) => {
        $crate::ten!(@each $($prefix)*; "0");
        $crate::ten!(@each $($prefix)*; "1");
        $crate::ten!(@each $($prefix)*; "2");
        $crate::ten!(@each $($prefix)*; "3");
        $crate::ten!(@each $($prefix)*; "4");
        $crate::ten!(@each $($prefix)*; "5");
        $crate::ten!(@each $($prefix)*; "6");
        $crate::ten!(@each $($prefix)*; "7");
        $crate::ten!(@each $($prefix)*; "8");
        $crate::ten!(@each $($prefix)*; "9");
    };
    (@each $($prefix:literal)*; $digit:literal) => {
        const _: () = {
            use capability_core::__private::{self as p, linkme};
            #[linkme::distributed_slice(p::CAPABILITIES)]
            #[linkme(crate = linkme)]
            static ENTRY: p::Capability = p::Capability::define($crate::registry::entry(concat!("bench.c", $($prefix,)* $digit)));
        };
    };
}

/// A hundred.
#[macro_export]
macro_rules! hundred {
    ($($prefix:literal)*) => {
        $crate::ten!($($prefix)* "0");
        $crate::ten!($($prefix)* "1");
        $crate::ten!($($prefix)* "2");
        $crate::ten!($($prefix)* "3");
        $crate::ten!($($prefix)* "4");
        $crate::ten!($($prefix)* "5");
        $crate::ten!($($prefix)* "6");
        $crate::ten!($($prefix)* "7");
        $crate::ten!($($prefix)* "8");
        $crate::ten!($($prefix)* "9");
    };
}

/// A thousand.
#[macro_export]
macro_rules! thousand {
    ($($prefix:literal)*) => {
        $crate::hundred!($($prefix)* "0");
        $crate::hundred!($($prefix)* "1");
        $crate::hundred!($($prefix)* "2");
        $crate::hundred!($($prefix)* "3");
        $crate::hundred!($($prefix)* "4");
        $crate::hundred!($($prefix)* "5");
        $crate::hundred!($($prefix)* "6");
        $crate::hundred!($($prefix)* "7");
        $crate::hundred!($($prefix)* "8");
        $crate::hundred!($($prefix)* "9");
    };
}

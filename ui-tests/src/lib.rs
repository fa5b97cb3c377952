//! The package of the compile cases: it depends on the public crate as an author's crate does, and holds nothing itself.

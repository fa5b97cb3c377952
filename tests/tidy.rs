//! House rules that a compiler does not hold.

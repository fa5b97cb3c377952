//! A server that misbehaves in every way.

//! Bodies in processes of their own, which the kernel holds to what they were handed.

pub mod sandbox;

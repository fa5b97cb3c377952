//! Bodies in workers: what a caller sees, what the audit says, and what is left of the process.

#[cfg(test)]
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "bodies here do what no author should: raw descriptors, signal masks")]
mod bodies;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod calls;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod lab;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod lifetime;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod misbehaviour;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod soak;

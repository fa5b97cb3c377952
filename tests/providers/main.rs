//! Providers: who executes beside this process, and what they get away with.

#[cfg(test)]
mod mcp_hostile;
#[cfg(test)]
mod mcp_lab;
#[cfg(test)]
mod mcp_real;

//! What makes a policy, and what does not.

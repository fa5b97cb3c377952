//! What a subject keeps from one call to the next.

use core::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::workspace::{Read, WorkspaceAccess, Write};
use super::{BrokerFault, BrokerReply, BrokerRequest, Handle, HandleFamily, HandleKind, OnDevice, Targetless, sealed};
use crate::call::Call;
use crate::time::Timestamp;

/// The longest key, in bytes.
pub const MAX_KEY_BYTES: usize = 64;
/// The longest value, in bytes.
pub const MAX_VALUE_BYTES: usize = 16 * 1024;
/// The most keys of one subject in one scope.
pub const MAX_KEYS: u32 = 256;
/// The most bytes of all values of one subject, both scopes together.
pub const MAX_STATE_BYTES: u64 = 1024 * 1024;

/// Texts under keys, of the subject that the call is made for and of no other.
///
/// `State<Read>` looks one up, and any class may hold it. `State<Write>` puts one in place or takes it away, and is for `mutating`
/// capabilities. What is kept is content: in no record, and erased by an operator's word.
///
/// ```
/// use capability_core::handle::{BrokerFault, Read, State, StateScope};
///
/// async fn count(state: &State<Read>) -> Result<usize, BrokerFault> {
///     let kept = state.get(StateScope::Core, "count").await?;
///     Ok(kept.and_then(|kept| kept.value.parse().ok()).unwrap_or(0))
/// }
/// ```
pub struct State<A>(Call, PhantomData<A>);

impl<A> State<A> {
    /// What is kept under a key, if anything is.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedKey`]; [`BrokerFault::Unavailable`] when the store does not answer.
    pub async fn get(&self, scope: StateScope, key: &str) -> Result<Option<Kept>, BrokerFault> {
        if !is_state_key(key) {
            return Err(BrokerFault::MalformedKey);
        }
        match self.0.ask(BrokerRequest::Kept { scope, key: key.to_owned() }).await? {
            BrokerReply::Kept(kept) => Ok(kept),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl State<Write> {
    /// Puts a text under a key, in place of what was there; nothing takes it away.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedKey`]; [`BrokerFault::CapExceeded`] above [`MAX_VALUE_BYTES`], [`MAX_KEYS`] or [`MAX_STATE_BYTES`];
    /// [`BrokerFault::Unavailable`] when the store does not answer; [`BrokerFault::Unconfirmed`] in a `preview`.
    pub async fn put(&self, scope: StateScope, key: &str, value: Option<String>) -> Result<(), BrokerFault> {
        if !is_state_key(key) {
            return Err(BrokerFault::MalformedKey);
        }
        match self.0.ask(BrokerRequest::Keep { scope, key: key.to_owned(), value }).await? {
            BrokerReply::Done => Ok(()),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

/// How long something is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StateScope {
    /// For the subject, in every session of it.
    Core,
    /// For this session of the subject alone; for a week after it was last put at most.
    Session,
}

impl StateScope {
    /// The word it is stored and shown as.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Session => "session",
        }
    }
}

/// What is kept under a key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The text, as the subject put it: untrusted.
    pub value: String,
    /// When.
    pub at: Timestamp,
}

impl core::fmt::Debug for Kept {
    /// Without what is kept.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Kept({} bytes)", self.value.len())
    }
}

impl<A> core::fmt::Debug for State<A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("State")
    }
}

impl<A> sealed::Sealed for State<A> {}
impl<A: WorkspaceAccess> Handle for State<A> {
    const KIND: HandleKind = HandleKind { may_change: A::MAY_CHANGE, ..HandleKind::new(HandleFamily::State, "") };
    type Reach = OnDevice;
    type Power = A::Power;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone(), PhantomData)
    }
}

/// Whether a text can be a key: `[a-z0-9]` and `._-`, at most [`MAX_KEY_BYTES`].
#[must_use]
pub fn is_state_key(key: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
    (1..=MAX_KEY_BYTES).contains(&key.len()) && key.bytes().all(plain)
}

/// The access of a state is a workspace's: it is read, or read and written.
const _: () = assert!(!<Read as WorkspaceAccess>::MAY_CHANGE && <Write as WorkspaceAccess>::MAY_CHANGE);

#[cfg(test)]
mod tests {
    use super::is_state_key;

    #[test]
    fn a_key_is_plain() {
        for plain in ["a", "0", "last.seen-at_1", &"k".repeat(64)] {
            assert!(is_state_key(plain), "{plain}");
        }
        for other in ["", "A", "a b", "a/b", "é", "a\n", &"k".repeat(65)] {
            assert!(!is_state_key(other), "{other:?}");
        }
    }
}

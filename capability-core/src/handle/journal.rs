//! The subject's own journal.

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Handle, HandleFamily, HandleKind, OnDevice, Reads, Targetless, sealed,
};
use crate::call::Call;

/// The longest entry, in bytes.
pub const MAX_ENTRY_BYTES: usize = 4096;
/// The most entries one turn may append.
pub const MAX_ENTRIES_PER_TURN: u32 = 8;

/// Appends to the journal of the subject the call is made for, and to no other.
///
/// An entry is part of what the call answers, like its result: append-only, capped in size and per turn, and shown to
/// operators as untrusted text. That is why a read-only capability may hold it.
#[derive(Debug)]
pub struct Journal(Call);

impl Journal {
    /// Appends one entry of at most [`MAX_ENTRY_BYTES`] bytes.
    ///
    /// # Errors
    /// [`BrokerFault::CapExceeded`] for an entry above [`MAX_ENTRY_BYTES`] or above [`MAX_ENTRIES_PER_TURN`];
    /// [`BrokerFault::Unavailable`] when the journal cannot be written; [`BrokerFault::Unconfirmed`] in a `preview`.
    pub async fn append(&self, text: impl Into<String>) -> Result<(), BrokerFault> {
        let text = text.into();
        if text.len() > MAX_ENTRY_BYTES {
            return Err(BrokerFault::CapExceeded);
        }
        match self.0.ask(BrokerRequest::Append { text }).await? {
            BrokerReply::Appended => Ok(()),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl sealed::Sealed for Journal {}
impl Handle for Journal {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Journal, "");
    type Reach = OnDevice;
    type Power = Reads;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone())
    }
}

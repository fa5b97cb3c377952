//! The wall clock.

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Handle, HandleFamily, HandleKind, OnDevice, Reads, Targetless, sealed,
};
use crate::call::Call;
use crate::time::Timestamp;

/// The time of day, as the host tells it.
#[derive(Debug)]
pub struct Clock(Call);

impl Clock {
    /// The time now.
    ///
    /// # Errors
    /// [`BrokerFault`] when the host cannot tell.
    pub async fn now(&self) -> Result<Timestamp, BrokerFault> {
        match self.0.ask(BrokerRequest::Now).await? {
            BrokerReply::Now(now) => Ok(now),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// When today began, by the clocks where the machine is: midnight, or what comes instead of it on a day without one.
    ///
    /// # Errors
    /// [`BrokerFault`] when the host cannot tell.
    pub async fn day_began(&self) -> Result<Timestamp, BrokerFault> {
        match self.0.ask(BrokerRequest::DayBegan).await? {
            BrokerReply::Now(began) => Ok(began),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl sealed::Sealed for Clock {}
impl Handle for Clock {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Clock, "");
    type Reach = OnDevice;
    type Power = Reads;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone())
    }
}

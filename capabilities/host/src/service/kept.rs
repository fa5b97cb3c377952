//! `reviews` and `state`.

use capability_core::approval::Operator;
use capability_core::session::Subject;
use capability_core::store::StoreFault;
use serde_json::{Value, json};

use super::{DOCTOR, Service};
use crate::protocol::{Fault, ReviewShown, ScheduleShown, StateShown};
use crate::store::sqlite::{Maker, OwnedSchedule};

impl Service {
    pub(super) async fn open_reviews(&self, _: &Operator) -> Result<Vec<ReviewShown>, Fault> {
        let open = self.host.reviews().open().await.map_err(broken)?;
        let shown = open.into_iter().map(|found| ReviewShown {
            number: found.number,
            subject: found.subject,
            kind: found.review.kind.as_str().to_owned(),
            about: found.review.about,
            reason: found.review.reason,
            at: found.at,
        });
        Ok(shown.collect())
    }

    pub(super) async fn close_review(&self, operator: &Operator, number: u64) -> Result<Value, Fault> {
        self.host.close_review(operator, number).await.map_err(|error| Fault::told(4, &error))?;
        Ok(json!({ "closed": number }))
    }

    pub(super) async fn every_schedule(&self, _: &Operator) -> Result<Vec<ScheduleShown>, Fault> {
        let found = self.host.schedules().list(None).await.map_err(broken)?;
        Ok(found.into_iter().map(shown).collect())
    }

    pub(super) async fn cancel_schedule(&self, operator: &Operator, number: u64) -> Result<Value, Fault> {
        self.host.cancel_schedule(operator, number).await.map_err(|error| Fault::told(4, &error))?;
        Ok(json!({ "cancelled": number }))
    }

    pub(super) async fn kept(&self, _: &Operator, subject: &Subject) -> Result<Vec<StateShown>, Fault> {
        let entries = self.host.state().entries(subject).await.map_err(broken)?;
        let shown = entries.into_iter().map(|entry| StateShown {
            scope: entry.scope.as_str().to_owned(),
            key: entry.key,
            value: entry.kept.value,
            at: entry.kept.at,
        });
        Ok(shown.collect())
    }

    pub(super) async fn erase_state(&self, operator: &Operator, subject: &Subject) -> Result<Value, Fault> {
        let erased = self.host.erase_state(operator, subject).await.map_err(|error| Fault::told(6, &error))?;
        Ok(json!({ "subject": subject, "erased": erased }))
    }
}

fn broken(error: StoreFault) -> Fault {
    Fault::broken(error.to_string(), DOCTOR)
}

fn shown(found: OwnedSchedule) -> ScheduleShown {
    let OwnedSchedule { maker: Maker { subject, slot, origin }, schedule } = found;
    ScheduleShown { subject, slot, origin, schedule }
}

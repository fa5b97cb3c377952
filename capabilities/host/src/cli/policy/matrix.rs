//! `policy matrix`: what every subject may.

use capability_core::policy::analysis::Matrix;
use capability_core::session::{SlotPath, Subject};

use super::super::commands;
use super::super::output::Output;
use super::plainly;
use crate::connection::Connection;
use crate::protocol::{Fault, PolicyQuestion, Request};

/// One table a subject, on 80 columns.
pub async fn matrix(
    connection: &Connection<'_>,
    subject: Option<Subject>,
    slot: Option<SlotPath>,
    output: Output,
) -> Result<u8, Fault> {
    let request = Request::Policy(PolicyQuestion::Matrix { subject, slot });
    commands::show::<Matrix>(connection, &request, output, |told| plainly(&told.to_string())).await
}

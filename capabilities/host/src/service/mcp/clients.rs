//! The programs that are let in, for operators.

use capability_core::approval::Operator;
use capability_core::session::{SlotPath, Subject};
use serde_json::{Value, json};

use crate::mcp::{ClientEntry, ClientToken};
use crate::protocol::{ClientShown, Fault, Redacted};
use crate::service::Service;

impl Service {
    /// Lets a program in, and tells its token.
    pub(super) async fn create_client(
        &self,
        operator: &Operator,
        name: &Subject,
        subject: &Subject,
        slot: Option<&SlotPath>,
    ) -> Result<Value, Fault> {
        // A subject without a manifest could ask for nothing, and neither could a slot that there is not.
        self.declared(subject, slot)?;
        let admitted = self.host.admit_client(operator, name, subject, slot).await;
        let token = admitted.map_err(|error| Fault::told(4, &error))?;
        let mut told = json!({ "client": name, "subject": subject, "token": token.reveal() });
        if let (Some(told), Some(slot)) = (told.as_object_mut(), slot) {
            told.insert("slot".to_owned(), json!(slot));
        }
        Ok(told)
    }

    pub(super) fn clients(&self, _: &Operator) -> Vec<ClientShown> {
        let configured = &self.host.config().mcp.clients;
        let shown = |entry: ClientEntry| {
            let person = configured.get(&entry.name).and_then(|table| table.person.clone());
            ClientShown { name: entry.name, subject: entry.subject, slot: entry.slot, created: entry.created, person }
        };
        self.host.clients().all().into_iter().map(shown).collect()
    }

    pub(super) async fn revoke_client(&self, operator: &Operator, name: &Subject) -> Result<Value, Fault> {
        self.host.revoke_client(operator, name).await.map_err(|error| Fault::told(4, &error))?;
        Ok(json!({ "client": name, "revoked": true }))
    }

    /// Whose token it is.
    pub(crate) fn client(&self, token: &Redacted) -> Result<ClientEntry, Fault> {
        ClientToken::from_hex(token.reveal()).and_then(|token| self.host.clients().of(&token)).ok_or_else(|| {
            Fault::refused(
                "that is not the token of a client that is let in",
                "let one in with `capability mcp token create`",
            )
        })
    }
}

//! Credentials that each start creates for programs on this machine.

use std::sync::PoisonError;

use countersign_core::access::Role;
use countersign_store::StoreError;
use countersign_store::model::PersonSummary;
use countersign_store::ops::account::credential::{NewCredential, ReplaceCredential};
use countersign_store::ops::node::LABEL as NODE_LABEL;

use super::Auth;

/// The account that the first start creates.
pub const OWNER: &str = "owner";
/// The label of start credentials. They end with the next start.
pub const START_LABEL: &str = "start";

/// Whether a label belongs to a start credential. On a shared store every node has its own label, and its credentials
/// end with the node.
pub fn is_start_label(label: &str) -> bool {
    label == START_LABEL || node_of_label(label).is_some()
}

/// The node whose start credential has this label.
pub fn node_of_label(label: &str) -> Option<&str> {
    label.strip_prefix(NODE_LABEL)
}

/// The person that the local user acts as: `owner`, or another owner if that account was removed.
pub fn local_owner_of(people: &[PersonSummary]) -> String {
    let mut owners = people
        .iter()
        .filter(|person| person.role == Role::Owner)
        .map(|person| person.name.as_str());
    let first = owners.clone().find(|name| *name == OWNER);
    first.or_else(|| owners.next()).unwrap_or(OWNER).to_owned()
}

impl Auth {
    /// The label of start credentials of this process.
    pub fn start_label(&self) -> String {
        if self.store.is_shared() {
            format!("{NODE_LABEL}{}", self.store.node())
        } else {
            START_LABEL.to_owned()
        }
    }

    /// Moves the start credentials to the new node id, because those of the old node end with it.
    pub async fn renew_start_credentials(&self) -> Result<(), StoreError> {
        let credentials = self
            .start_credentials
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for credential in credentials {
            self.store
                .run(ReplaceCredential(NewCredential {
                    label: self.start_label(),
                    ..credential
                }))
                .await?;
        }
        Ok(())
    }
}

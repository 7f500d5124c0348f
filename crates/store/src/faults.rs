//! Damaged data that was met while this process runs. The store keeps working around it; people have to repair it.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::error::StoreError;

/// Damage beyond this is not recorded: the store as a whole is then in question.
const MAX_FAULTS: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The id of a message that cannot be decoded.
    Unreadable(String),
    /// The subject of a broken audit trail.
    AuditBroken(String),
}

impl Fault {
    pub fn is_audit(&self) -> bool {
        matches!(self, Self::AuditBroken(_))
    }
}

/// The faults met since the start. Each is logged once.
#[derive(Default)]
pub struct Faults(Mutex<BTreeSet<Fault>>);

impl Faults {
    pub fn record(&self, error: &StoreError) {
        let fault = match error {
            StoreError::Unreadable(message) => Fault::Unreadable(message.id.clone()),
            StoreError::AuditBroken { subject, .. } => Fault::AuditBroken(subject.clone()),
            _ => return,
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_FAULTS || !known.insert(fault) {
            return;
        }
        match error {
            StoreError::AuditBroken { subject, why } => {
                tracing::error!(
                    message_id = subject,
                    why,
                    "audit trail broken; run `countersign audit verify`"
                );
            }
            error => tracing::error!(%error, "message cannot be decoded; skipping it"),
        }
    }

    pub fn all(&self) -> BTreeSet<Fault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

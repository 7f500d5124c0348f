//! The builder for notifications, which expect no answer.

use countersign_protocol::a2h::{Kind, Version};
use countersign_protocol::time::Timestamp;

use super::common::{Common, common_setters};
use super::{Draft, DraftContext};
use crate::error::Error;
use crate::identity::Identity;

/// Something that people should know. It needs no answer, and its only outcome is that it was delivered.
#[derive(Debug, Clone)]
pub struct Notify {
    common: Common,
}

impl Notify {
    /// `title` is one line.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            common: Common::titled(title),
        }
    }

    common_setters!();

    /// Checks the notice as the hub will, and fixes the bytes to send. `version` is one that the hub speaks: see
    /// [`Client::version`](crate::Client::version).
    pub fn draft(&self, identity: &Identity, version: Version, now: Timestamp) -> Result<Draft, Error> {
        DraftContext { identity, version, now }.draft(Kind::Notify, &self.common, None)
    }
}

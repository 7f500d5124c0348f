//! The builder for notifications, which expect no answer.

use countersign_protocol::a2h::{Kind, Version};
use countersign_protocol::time::Timestamp;

use super::common::{Common, common_setters};
use super::{Draft, DraftContext};
use crate::error::Error;
use crate::identity::Identity;

#[derive(Debug, Clone)]
pub struct Notify {
    common: Common,
}

impl Notify {
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            common: Common::titled(title),
        }
    }

    common_setters!();

    pub fn draft(&self, identity: &Identity, version: Version, now: Timestamp) -> Result<Draft, Error> {
        DraftContext { identity, version, now }.draft(Kind::Notify, &self.common, None)
    }
}

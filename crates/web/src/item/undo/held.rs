//! A decision that its author can still take back, as the page of the item shows it.

use countersign_core::Message;
use countersign_core::hold::Hold;
use countersign_core::outcome;
use countersign_hub::Hub;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::message::hold::HeldDecision;

use crate::language::t;
use crate::layout::formatting::{self, DisplayTime};
use crate::layout::page::PageError;
use crate::layout::signed_in_user::SignedInUser;

pub struct HeldView {
    pub id: String,
    /// The name of the author.
    pub by: String,
    /// The decision in words, for its author only.
    pub text: Option<String>,
    pub until: DisplayTime,
    pub left: String,
}

impl HeldView {
    pub async fn of(
        hub: &Hub,
        message: &Message,
        user: &SignedInUser,
        now: Timestamp,
    ) -> Result<Option<Self>, PageError> {
        let Some(hold) = &message.hold else {
            return Ok(None);
        };
        let decision = if hold.by == user.actor() {
            hub.store.run(HeldDecision(message.id.clone())).await?
        } else {
            None
        };
        Ok(Some(Self {
            id: message.id.to_string(),
            by: author_name(hold),
            text: decision.map(|resolution| outcome::describe(&resolution, &message.content, t)),
            until: formatting::display_time(hold.until),
            left: formatting::span(hold.until.since(now)),
        }))
    }
}

/// The name of the person whose decision is on hold.
pub fn author_name(hold: &Hold) -> String {
    formatting::actor_name(&hold.by).to_owned()
}

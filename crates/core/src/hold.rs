//! A decision on hold: it has won the race for its message, and its author can still take it back. Until the hold ends,
//! the message is open for its agent.

use std::time::Duration;

use countersign_protocol::time::Timestamp;

use crate::access::Actor;
use crate::message::{Message, Resolution, State};
use crate::rejection::Rejection;

/// The undo time of a person who has set none.
pub const DEFAULT_UNDO_SECONDS: u32 = 4;
/// The longest undo time. The calls of an agent wait for the end of a hold, and clients time out after 30 seconds.
pub const MAX_UNDO_SECONDS: u32 = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    pub by: Actor,
    pub until: Timestamp,
}

impl Hold {
    /// The hold of a resolution that was just decided. `None` if it takes effect at once: without an undo time, and for
    /// an expiry. A hold ends with the message's expiry, when agents stop waiting and apply their own default.
    pub fn of(resolution: &Resolution, undo_seconds: u32, expires_at: Option<Timestamp>) -> Option<Self> {
        let seconds = undo_seconds.min(MAX_UNDO_SECONDS);
        let decided_at = resolution.resolved_at;
        let full = decided_at.plus(Duration::from_secs(seconds.into()));
        let until = expires_at.map_or(full, |expires_at| full.min(expires_at));
        let is_by_person = resolution.actor.person_name().is_some();
        (until > decided_at && is_by_person).then(|| Self {
            by: resolution.actor.clone(),
            until,
        })
    }

    pub fn rejection(&self) -> Rejection {
        Rejection::Held {
            by: self.by.clone(),
            until: self.until,
        }
    }
}

/// The resolution at the end of its hold. It counts from now on, so that its time is not before an agent's last read;
/// the expiry was checked when the hold began.
pub fn at_release(resolution: Resolution, now: Timestamp) -> Resolution {
    Resolution {
        resolved_at: resolution.resolved_at.max(now),
        ..resolution
    }
}

/// Only the author takes a decision back, and only while it is on hold.
pub fn check_take_back(message: &Message, actor: &Actor) -> Result<(), Rejection> {
    match (&message.hold, &message.state) {
        (Some(hold), _) if hold.by == *actor => Ok(()),
        (Some(hold), _) => Err(hold.rejection()),
        (None, State::Resolved(resolution)) => Err(Rejection::already(&message.id, resolution)),
        (None, State::Open | State::Delivered) => Err(Rejection::NotHeld),
    }
}

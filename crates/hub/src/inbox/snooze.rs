//! Items that one person snoozed or archived. The message itself does not change, and other people still
//! see it.

use std::time::Duration;

use countersign_core::vocabulary::span;
use countersign_core::{Message, Payload, Rejection, State};
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::message::snooze::{RestoreItem, SnoozeOrArchive};

use super::find::find;
use crate::Hub;
use crate::problem::Problem;
use countersign_core::outcome;

/// An item that should be put off for longer is better skipped.
const MAX_SNOOZE: Duration = Duration::from_secs(90 * 24 * 3600);

pub fn check_until(until: Timestamp, now: Timestamp) -> Result<Timestamp, Problem> {
    if until <= now || until > now.plus(MAX_SNOOZE) {
        return Err(Problem::invalid("until", "choose a time in the future, within 90 days"));
    }
    Ok(until)
}

/// An item must come back before it expires, so that its person can still decide.
fn check_expiry(message: &Message, until: Timestamp, now: Timestamp) -> Result<(), Problem> {
    match message.expires_at {
        Some(expires_at) if until >= expires_at && message.state == State::Open => {
            let left = span(expires_at.since(now));
            let then = outcome::at_expiry(&message.content, outcome::ENGLISH);
            let text = format!("it expires in {left}, then it {then}; choose an earlier time");
            Err(Problem::invalid("until", text))
        }
        Some(_) | None => Ok(()),
    }
}

/// Snoozes an open item until a time before its expiry. The caller has checked `until` with `check_until`.
pub async fn snooze(hub: &Hub, person: &str, id: &MessageId, until: Timestamp) -> Result<(), Problem> {
    check_expiry(&find(hub, id).await?.message, until, hub.store.clock().now())?;
    let put = SnoozeOrArchive {
        person: person.to_owned(),
        id: id.clone(),
        until: Some(until),
    };
    if hub.store.run(put).await? {
        return Ok(());
    }
    Err(match find(hub, id).await?.message.state {
        State::Delivered => Problem::invalid(
            "id",
            "a notice needs no answer and cannot be snoozed; archive it instead",
        ),
        State::Resolved(resolution) => Rejection::already(id, &resolution).into(),
        State::Open => Problem::no_message(),
    })
}

/// Archives a notify. An open ask or task cannot be archived, because it would disappear unanswered.
pub async fn archive(hub: &Hub, person: &str, id: &MessageId) -> Result<(), Problem> {
    match find(hub, id).await?.message.content.payload {
        Payload::Notify => {}
        Payload::Ask(_) | Payload::Task(_) => {
            let message = "only notices can be archived; answer this item or snooze it instead";
            return Err(Problem::invalid("id", message));
        }
    }
    let put = SnoozeOrArchive {
        person: person.to_owned(),
        id: id.clone(),
        until: None,
    };
    // `find` saw the message a moment ago, so it was purged in between.
    if hub.store.run(put).await? {
        Ok(())
    } else {
        Err(Problem::Gone)
    }
}

/// Restores an item to the person's list. Idempotent: an item that was not put away stays as it is.
pub async fn restore(hub: &Hub, person: &str, id: &MessageId) -> Result<(), Problem> {
    find(hub, id).await?;
    hub.store
        .run(RestoreItem {
            person: person.to_owned(),
            id: id.clone(),
        })
        .await?;
    Ok(())
}

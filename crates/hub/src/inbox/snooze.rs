//! Items that one person snoozed (set aside) or archived. The message itself does not change, and other people still
//! see it.

use std::time::Duration;

use countersign_core::{Payload, Rejection, State};
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::message::snooze::{RestoreItem, SnoozeOrArchive};

use super::find::find;
use crate::Hub;
use crate::problem::Problem;

/// An item that should be put off for longer is better declined.
const MAX_SNOOZE: Duration = Duration::from_secs(90 * 24 * 3600);

pub fn check_until(until: Timestamp, now: Timestamp) -> Result<Timestamp, Problem> {
    if until <= now || until > now.plus(MAX_SNOOZE) {
        return Err(Problem::invalid("until", "choose a time in the future, within 90 days"));
    }
    Ok(until)
}

/// Snoozes an open item. The caller has checked `until` with `check_until`.
pub async fn snooze(hub: &Hub, person: &str, id: &MessageId, until: Timestamp) -> Result<(), Problem> {
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
            "a notice needs no answer and cannot be set aside; archive it instead",
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
            let message = "only notices can be archived; answer this item or set it aside instead";
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

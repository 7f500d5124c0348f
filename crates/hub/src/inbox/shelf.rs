//! What a person put away. It is their own affair: the message stays as it is, and everybody else sees it as before.

use std::time::Duration;

use countersign_core::{Matter, Rejection, State};
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::shelf::{PutAway, TakeBack};

use super::find::find;
use crate::app::Hub;
use crate::problem::Problem;

/// What is put off longer than this is better declined.
const LONGEST_ASIDE: Duration = Duration::from_secs(90 * 24 * 3600);

pub fn check_until(until: Timestamp, now: Timestamp) -> Result<Timestamp, Problem> {
    if until <= now || until > now.plus(LONGEST_ASIDE) {
        return Err(Problem::invalid(
            "until",
            "choose a time from now on and within 90 days",
        ));
    }
    Ok(until)
}

/// Only what is open. `until` has been checked.
pub async fn set_aside(hub: &Hub, person: &str, id: &MessageId, until: Timestamp) -> Result<(), Problem> {
    let put = PutAway {
        person: person.to_owned(),
        id: id.clone(),
        until: Some(until),
    };
    if hub.store.run(put).await? {
        return Ok(());
    }
    Err(match find(hub, id).await?.message.state {
        State::Delivered => Problem::invalid("id", "a notice waits for nothing; archive it instead"),
        State::Resolved(resolution) => Rejection::already(id, &resolution).into(),
        State::Open => Problem::no_message(),
    })
}

/// Only a notify: whatever waits for an answer would be seen by nobody.
pub async fn archive(hub: &Hub, person: &str, id: &MessageId) -> Result<(), Problem> {
    match find(hub, id).await?.message.content.matter {
        Matter::Notify => {}
        Matter::Ask(_) | Matter::Task(_) => {
            let message = "only a notice is archived; answer this one, or set it aside instead";
            return Err(Problem::invalid("id", message));
        }
    }
    let put = PutAway {
        person: person.to_owned(),
        id: id.clone(),
        until: None,
    };
    // It was there a moment ago.
    if hub.store.run(put).await? {
        Ok(())
    } else {
        Err(Problem::Gone)
    }
}

/// Taking back what was not put away changes nothing.
pub async fn take_back(hub: &Hub, person: &str, id: &MessageId) -> Result<(), Problem> {
    find(hub, id).await?;
    hub.store
        .run(TakeBack {
            person: person.to_owned(),
            id: id.clone(),
        })
        .await?;
    Ok(())
}

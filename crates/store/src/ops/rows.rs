//! Decodes rows into domain types.

use countersign_core::delivery::DeliveryState;
use countersign_core::envelope::read_content;
use countersign_core::message::{Message, Status};
use countersign_core::{Content, Digest, State};
use countersign_protocol::id::MessageId;

use crate::error::StoreError;
use crate::exec::{Row, Value};
use crate::model::{Delivery, PersonView};

/// A SELECT of whole messages: the columns that `message` reads, then `$more`, which begin at `MESSAGE`.
macro_rules! select_messages {
    ($more:literal, $($rest:tt)+) => {
        $crate::ops::rows::select_scanning!($more, "", "", $($rest)+)
    };
}
pub(super) use select_messages;

/// The same, for a list that scans more rows than it shows. `$joins` adds the tables a row is filtered by; a row that
/// does not match `$and` comes without its text, which is the expensive part.
macro_rules! select_scanning {
    ($more:literal, $joins:literal, $and:literal, $($rest:tt)+) => {
        concat!(
            "SELECT m.id, m.received_at, m.expires_at, m.status, m.rev, m.source, m.callback, r.body, t.content, t.wire, ",
            $more,
            " FROM message m ",
            $joins,
            "LEFT JOIN message_text t ON t.seq = m.seq ",
            $and,
            "LEFT JOIN resolution r ON r.seq = m.resolution_seq ",
            $($rest)+
        )
    };
}
pub(super) use select_scanning;

/// The number of columns of a message.
pub const MESSAGE: usize = 10;

/// Messages with their delivery status: the columns that `item` reads. `$and` is as above.
macro_rules! select_items {
    (scanning $and:literal, $($rest:tt)+) => {
        $crate::ops::rows::select_scanning!(
            "m.seq, m.purged_at, m.agent_id, d.message_id, d.agent_id, d.host, d.track, d.attempts, \
             d.created_at, d.due_at, d.delivered_at, d.last_error, f.at, m.resolved_at",
            "",
            $and,
            "LEFT JOIN delivery d ON d.message_id = m.id LEFT JOIN fetched f ON f.seq = m.seq ",
            $($rest)+
        )
    };
    ($($rest:tt)+) => {
        $crate::ops::rows::select_items!(scanning "", $($rest)+)
    };
}
pub(super) use select_items;

const DELIVERY: usize = MESSAGE + 3;
const FETCHED_AT: usize = DELIVERY + 9;
pub const RESOLVED_AT: usize = FETCHED_AT + 1;

pub fn item(row: &mut Row) -> Result<PersonView, StoreError> {
    let has_delivery = !matches!(row.0.get(DELIVERY), None | Some(Value::Null));
    let delivery = if has_delivery {
        Some(delivery(row, DELIVERY)?)
    } else {
        None
    };
    Ok(PersonView {
        seq: row.int(MESSAGE)?,
        message: message(row)?,
        delivery,
        fetched_at: row.opt_instant(FETCHED_AT)?,
    })
}

/// An item of a list without delivery status.
pub fn item_without_delivery(row: &mut Row, seq: i64) -> Result<PersonView, StoreError> {
    Ok(PersonView {
        seq,
        message: message(row)?,
        delivery: None,
        fetched_at: None,
    })
}

/// Whether the row includes its text.
pub fn has_text(row: &Row) -> bool {
    matches!(row.0.get(WIRE), Some(Value::Text(_)))
}

pub fn message(row: &mut Row) -> Result<Message, StoreError> {
    message_and_wire(row).map(|(message, _)| message)
}

pub fn message_and_wire(row: &mut Row) -> Result<(Message, String), StoreError> {
    let callback = row.opt_text(6)?;
    let wire = row.text(WIRE)?;
    let message = Message {
        id: message_id(row, 0)?,
        received_at: row.instant(1)?,
        expires_at: row.opt_instant(2)?,
        state: state(&row.text(3)?, row.opt_text(7)?.as_deref())?,
        rev: row.int(4)?,
        source: serde_json::from_str(&row.text(5)?)?,
        callback: callback.as_deref().map(serde_json::from_str).transpose()?,
        content: content(row.opt_text(CONTENT)?, &wire)?,
    };
    Ok((message, wire))
}

const CONTENT: usize = 8;
const WIRE: usize = 9;

pub fn content(content: Option<String>, wire: &str) -> Result<Content, StoreError> {
    match content {
        Some(content) => Ok(serde_json::from_str(&content)?),
        None => read_content(wire).map_err(|error| StoreError::Corrupt(error.to_string())),
    }
}

/// The hash of the text that the content is read from.
pub fn content_digest(row: &Row) -> Result<Digest, StoreError> {
    match (row.0.get(CONTENT), row.0.get(WIRE)) {
        (Some(Value::Text(text)), _) | (_, Some(Value::Text(text))) => Ok(Digest::of(text.as_bytes())),
        _ => Err(StoreError::Corrupt("a message has no content".to_owned())),
    }
}

pub fn message_id(row: &mut Row, column: usize) -> Result<MessageId, StoreError> {
    parse_message_id(&row.text(column)?)
}

pub fn parse_message_id(text: &str) -> Result<MessageId, StoreError> {
    text.parse()
        .map_err(|_| StoreError::Corrupt(format!("{text} is not a message id")))
}

pub fn status(text: &str) -> Result<Status, StoreError> {
    text.parse()
        .map_err(|_| StoreError::Corrupt(format!("{text} is not a status")))
}

pub fn state(status_text: &str, resolution: Option<&str>) -> Result<State, StoreError> {
    match (status(status_text)?, resolution) {
        (Status::Open, None) => Ok(State::Open),
        (Status::Delivered, None) => Ok(State::Delivered),
        (Status::Resolved(_), Some(text)) => Ok(State::Resolved(serde_json::from_str(text)?)),
        (Status::Open | Status::Delivered, Some(_)) | (Status::Resolved(_), None) => Err(StoreError::Corrupt(format!(
            "status {status_text} and resolution do not match"
        ))),
    }
}

/// Columns from `start` on: message_id, agent_id, host, track, attempts, created_at, due_at, delivered_at, last_error.
pub fn delivery(row: &mut Row, start: usize) -> Result<Delivery, StoreError> {
    let track_text = row.text(start + 3)?;
    let track = DeliveryState::parse(&track_text)
        .ok_or_else(|| StoreError::Corrupt(format!("{track_text} is not a delivery state")))?;
    let due_at = row.instant(start + 6)?;
    Ok(Delivery {
        message_id: message_id(row, start)?,
        agent_id: row.text(start + 1)?,
        host: row.text(start + 2)?,
        track,
        attempts: u32::try_from(row.int(start + 4)?).unwrap_or(u32::MAX),
        created_at: row.instant(start + 5)?,
        next_attempt_at: (track == DeliveryState::Pending).then_some(due_at),
        delivered_at: row.opt_instant(start + 7)?,
        last_error: row.opt_text(start + 8)?,
    })
}

//! Decodes rows into domain types.

use countersign_core::delivery::DeliveryState;
use countersign_core::envelope::{read_content, read_resolvers};
use countersign_core::hold::Hold;
use countersign_core::message::{Message, Status};
use countersign_core::{Actor, Content, Digest, State};
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{Row, Value};
use crate::model::{AgentView, Delivery, ListEntry, PersonView, UnreadableItem};

/// A SELECT of whole messages: the columns that `message` reads, then `$more`, which begin at `MESSAGE`.
macro_rules! select_messages {
    ($more:literal, $($rest:tt)+) => {
        $crate::ops::rows::select_scanning!($more, "", "TRUE", $($rest)+)
    };
}
pub(super) use select_messages;

/// The same, for a list that scans more rows than it shows. `$joins` adds the tables a row is filtered by; a row that is
/// not `$wanted` comes without its text, which is the expensive part.
macro_rules! select_scanning {
    ($more:expr, $joins:literal, $wanted:literal, $($rest:tt)+) => {
        concat!(
            "SELECT m.id, m.received_at, m.expires_at, m.status, m.rev, m.source, m.callback, r.body, t.content, t.wire, \
             m.seq, m.agent_id, m.rank, (",
            $wanted,
            "), m.held_by, m.held_until",
            $more,
            " FROM message m ",
            $joins,
            "LEFT JOIN message_text t ON t.seq = m.seq AND (",
            $wanted,
            ") LEFT JOIN resolution r ON r.seq = m.resolution_seq ",
            $($rest)+
        )
    };
}
pub(super) use select_scanning;

pub const ID: usize = 0;
const RECEIVED_AT: usize = 1;
const EXPIRES_AT: usize = 2;
const STATUS: usize = 3;
const REV: usize = 4;
const SOURCE: usize = 5;
pub const CALLBACK: usize = 6;
const RESOLUTION: usize = 7;
const CONTENT: usize = 8;
const WIRE: usize = 9;
pub const SEQ: usize = 10;
pub const AGENT: usize = 11;
pub const RANK: usize = 12;
const WANTED: usize = 13;
const HELD_BY: usize = 14;
const HELD_UNTIL: usize = 15;
/// The number of columns of a message.
pub const MESSAGE: usize = 16;

/// A message for its agent, with the digests that the last audit entry has of a resolved message; then `$more`, which
/// begin at `AUDITED`.
macro_rules! select_audited {
    ($more:literal, $joins:literal, $($rest:tt)+) => {
        $crate::ops::rows::select_scanning!(
            concat!(", a.subject, a.content_sha256, a.resolution_sha256", $more),
            $joins,
            "TRUE",
            "LEFT JOIN audit a ON a.seq = m.audit_seq AND m.resolution_seq IS NOT NULL ",
            $($rest)+
        )
    };
}
pub(super) use select_audited;

pub const AUDIT_SUBJECT: usize = MESSAGE;
const AUDIT_CONTENT: usize = MESSAGE + 1;
const AUDIT_RESOLUTION: usize = MESSAGE + 2;
pub const AUDITED: usize = MESSAGE + 3;

/// Messages with their delivery status: the columns that `item` reads. `$wanted` is as above.
macro_rules! select_items {
    (scanning $wanted:literal, $($rest:tt)+) => {
        $crate::ops::rows::select_scanning!(
            ", m.purged_at, d.message_id, d.agent_id, d.host, d.track, d.attempts, \
             d.created_at, d.due_at, d.delivered_at, d.last_error, f.at, m.resolved_at",
            "",
            $wanted,
            "LEFT JOIN delivery d ON d.message_id = m.id LEFT JOIN fetched f ON f.seq = m.seq ",
            $($rest)+
        )
    };
    ($($rest:tt)+) => {
        $crate::ops::rows::select_items!(scanning "TRUE", $($rest)+)
    };
}
pub(super) use select_items;

pub const PURGED_AT: usize = MESSAGE;
const DELIVERY: usize = MESSAGE + 1;
const FETCHED_AT: usize = DELIVERY + 9;
pub const RESOLVED_AT: usize = FETCHED_AT + 1;

pub fn item(row: &mut Row) -> Result<PersonView, StoreError> {
    let delivery = match row.0.get(DELIVERY) {
        None | Some(Value::Null) => None,
        Some(_) => Some(delivery(row, DELIVERY).map_err(|error| in_row(error, row))?),
    };
    let fetched_at = row.opt_instant(FETCHED_AT).map_err(|error| in_row(error, row))?;
    Ok(PersonView {
        delivery,
        fetched_at,
        ..item_without_delivery(row)?
    })
}

/// An item of a list without delivery status. Its agent is called by the id until `names::fill` has read the name.
pub fn item_without_delivery(row: &mut Row) -> Result<PersonView, StoreError> {
    let message = message(row)?;
    Ok(PersonView {
        seq: row.int(SEQ)?,
        agent_name: message.content.agent.id.clone(),
        message,
        delivery: None,
        fetched_at: None,
    })
}

/// The entry of a list, read by `item` or `item_without_delivery`.
pub fn entry(mut row: Row, read: fn(&mut Row) -> Result<PersonView, StoreError>) -> Result<ListEntry, StoreError> {
    match read(&mut row) {
        Ok(item) => Ok(Ok(item)),
        Err(StoreError::Unreadable(error)) => Ok(Err(UnreadableItem {
            error,
            seq: row.int(SEQ)?,
            rank: row.int(RANK).unwrap_or_default(),
            agent_id: row.peek(AGENT).unwrap_or_default().to_owned(),
            status: row.peek(STATUS).unwrap_or_default().to_owned(),
            received_at: row.instant(RECEIVED_AT).unwrap_or(Timestamp::from_millis(0)),
        })),
        Err(error) => Err(error),
    }
}

/// For `Op::damage`.
pub fn damage<'e>(entries: impl IntoIterator<Item = &'e ListEntry>) -> Vec<StoreError> {
    let unreadable = entries.into_iter().filter_map(|entry| entry.as_ref().err());
    unreadable
        .map(|item| StoreError::Unreadable(item.error.clone()))
        .collect()
}

/// Reads rows that are not messages. A row that cannot be decoded is left out, so that it does not take the others with
/// it.
pub fn readable<T>(
    rows: Vec<Row>,
    table: &str,
    read: impl Fn(&mut Row) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut found = Vec::with_capacity(rows.len());
    for mut row in rows {
        match read(&mut row) {
            Ok(item) => found.push(item),
            Err(StoreError::Corrupt(why)) => tracing::error!(table, why, "row cannot be decoded; skipping it"),
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Whether the row is one that the list shows.
pub fn is_wanted(row: &Row) -> bool {
    matches!(row.0.get(WANTED), Some(Value::Int(1)))
}

pub fn message(row: &mut Row) -> Result<Message, StoreError> {
    message_and_wire(row).map(|(message, _)| message)
}

pub fn message_and_wire(row: &mut Row) -> Result<(Message, String), StoreError> {
    decode(row).map_err(|error| in_row(error, row))
}

fn in_row(error: StoreError, row: &Row) -> StoreError {
    error.in_message(row.peek(ID).unwrap_or_default())
}

fn decode(row: &mut Row) -> Result<(Message, String), StoreError> {
    let AgentView {
        id,
        rev,
        received_at,
        expires_at,
        state,
        source,
        wire,
        agent_id: _,
    } = decode_for_agent(row)?;
    let callback = row.opt_text(CALLBACK)?;
    let held_by = row.opt_text(HELD_BY)?.map(|by| {
        by.parse()
            .map_err(|_| StoreError::Corrupt(format!("{by} is not an actor")))
    });
    let held_until = row.opt_instant(HELD_UNTIL)?;
    let hold = held_by
        .transpose()?
        .zip(held_until)
        .map(|(by, until)| Hold { by, until });
    let message = Message {
        id,
        received_at,
        expires_at,
        state,
        hold,
        rev,
        source,
        callback: callback.as_deref().map(serde_json::from_str).transpose()?,
        content: content(row.opt_text(CONTENT)?, &wire)?,
    };
    Ok((message, wire))
}

/// Reads the columns of `select_audited`.
pub fn agent_view(row: &mut Row) -> Result<AgentView, StoreError> {
    check_digests(row)?;
    decode_for_agent(row).map_err(|error| in_row(error, row))
}

fn decode_for_agent(row: &mut Row) -> Result<AgentView, StoreError> {
    let missing = || StoreError::Corrupt("its text is missing".to_owned());
    Ok(AgentView {
        id: parse_message_id(row.peek(ID).unwrap_or_default())?,
        agent_id: row.peek(AGENT).unwrap_or_default().to_owned(),
        rev: row.int(REV)?,
        received_at: row.instant(RECEIVED_AT)?,
        expires_at: row.opt_instant(EXPIRES_AT)?,
        state: state(row.peek(STATUS).unwrap_or_default(), row.peek(RESOLUTION))?,
        source: serde_json::from_str(&row.text(SOURCE)?)?,
        wire: row.opt_text(WIRE)?.ok_or_else(missing)?,
    })
}

/// Compares a resolved message with its last audit entry: both the resolution and the content that it decided on. Reads
/// the columns of `select_audited` and takes none.
pub fn check_digests(row: &Row) -> Result<(), StoreError> {
    if row.peek(RESOLUTION).is_none() {
        return Ok(());
    }
    let why = if row.peek(AUDIT_SUBJECT) != row.peek(ID) {
        "its last entry is missing"
    } else if !has_recorded_resolution(row) {
        "the stored resolution is not the one that was recorded"
    } else if !has_recorded_content(row) {
        "the stored content is not the one that was decided on"
    } else {
        return Ok(());
    };
    Err(StoreError::AuditBroken {
        subject: row.peek(ID).unwrap_or_default().to_owned(),
        why: why.to_owned(),
    })
}

/// Whether the content is the one that the audit entry of `select_audited` has.
pub fn has_recorded_content(row: &Row) -> bool {
    content_digest(row).is_ok_and(|digest| row.0.get(AUDIT_CONTENT) == Some(&Value::from(digest)))
}

/// Whether the resolution, or its absence, is the one that the audit entry of `select_audited` has.
pub fn has_recorded_resolution(row: &Row) -> bool {
    let resolution = row
        .peek(RESOLUTION)
        .map(|body| Value::from(Digest::of(body.as_bytes())));
    row.0.get(AUDIT_RESOLUTION) == Some(&resolution.unwrap_or(Value::Null))
}

pub fn content(content: Option<String>, wire: &str) -> Result<Content, StoreError> {
    match content {
        Some(content) => Ok(serde_json::from_str(&content)?),
        None => read_content(wire).map_err(|error| StoreError::Corrupt(error.to_string())),
    }
}

/// Whether the text is an envelope that names the actor as a resolver, which is the only part that is read.
pub fn names_resolver(row: &Row, actor: &Actor) -> bool {
    let wire = row.peek(WIRE).filter(|_| row.peek(CONTENT).is_none());
    wire.is_some_and(|wire| read_resolvers(wire).is_some_and(|named| named.contains(actor)))
}

/// The hash of the text that the content is read from.
pub fn content_digest(row: &Row) -> Result<Digest, StoreError> {
    let text = row.peek(CONTENT).or_else(|| row.peek(WIRE));
    let text = text.ok_or_else(|| StoreError::Corrupt("its text is missing".to_owned()))?;
    Ok(Digest::of(text.as_bytes()))
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
    let state_text = row.text(start + 3)?;
    let state = DeliveryState::parse(&state_text)
        .ok_or_else(|| StoreError::Corrupt(format!("{state_text} is not a delivery state")))?;
    let due_at = row.instant(start + 6)?;
    Ok(Delivery {
        message_id: message_id(row, start)?,
        agent_id: row.text(start + 1)?,
        host: row.text(start + 2)?,
        state,
        attempts: u32::try_from(row.int(start + 4)?).unwrap_or(u32::MAX),
        created_at: row.instant(start + 5)?,
        next_attempt_at: (state == DeliveryState::Pending).then_some(due_at),
        delivered_at: row.opt_instant(start + 7)?,
        last_error: row.opt_text(start + 8)?,
    })
}

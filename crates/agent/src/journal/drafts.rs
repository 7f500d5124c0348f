//! Drafts: the bytes of each message, stored before the first attempt, and the hub's acknowledgement.

use countersign_protocol::a2h::Kind;
use rusqlite::{OptionalExtension, Row, params};

use super::{Journal, JournalError, at_most, now};
use crate::ticket::Ticket;

/// The result of storing a draft under its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredDraft {
    /// Nothing was stored under this key before.
    New,
    /// The same bytes were already stored.
    Same,
    /// The key already has different bytes; nothing was written.
    Other,
}

impl Journal {
    /// Stores the bytes of a message before they are sent for the first time. `hub` is its address.
    pub fn store_draft(
        &self,
        hub: &str,
        key: &str,
        agent_id: &str,
        kind: Kind,
        bytes: &[u8],
    ) -> Result<StoredDraft, JournalError> {
        self.write(|transaction| {
            let sql = "INSERT INTO drafts (hub, agent_id, key, kind, bytes, kept_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                       ON CONFLICT (hub, agent_id, key) DO NOTHING";
            let row = params![hub, agent_id, key, kind.as_str(), bytes, now().as_millis()];
            if transaction.execute(sql, row)? == 1 {
                return Ok(StoredDraft::New);
            }
            let sql = "SELECT bytes = ?4 FROM drafts WHERE hub = ?1 AND agent_id = ?2 AND key = ?3";
            let same = transaction.query_row(sql, params![hub, agent_id, key, bytes], |row| row.get(0))?;
            Ok(if same { StoredDraft::Same } else { StoredDraft::Other })
        })
    }

    /// The bytes stored under this key, for a resend.
    pub fn bytes(&self, hub: &str, agent_id: &str, key: &str) -> Result<Option<Vec<u8>>, JournalError> {
        let sql = "SELECT bytes FROM drafts WHERE hub = ?1 AND agent_id = ?2 AND key = ?3";
        let found = self
            .connection()
            .query_row(sql, [hub, agent_id, key], |row| row.get(0))
            .optional()?;
        Ok(found)
    }

    /// Records that the hub accepted the message, and where to poll for its outcome.
    pub fn acknowledge(
        &self,
        hub: &str,
        agent_id: &str,
        key: &str,
        message_id: &str,
        poll_url: &str,
    ) -> Result<(), JournalError> {
        let sql = "UPDATE drafts SET message_id = ?4, poll_url = ?5 WHERE hub = ?1 AND agent_id = ?2 AND key = ?3";
        match self
            .connection()
            .execute(sql, [hub, agent_id, key, message_id, poll_url])?
        {
            0 => Err(JournalError::NoSuchDraft {
                agent_id: agent_id.to_owned(),
                idempotency_key: key.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Deletes a draft that the hub permanently refused, which frees its key. Acknowledged drafts stay.
    pub fn discard(&self, hub: &str, agent_id: &str, key: &str) -> Result<(), JournalError> {
        let sql = "DELETE FROM drafts WHERE hub = ?1 AND agent_id = ?2 AND key = ?3 AND message_id IS NULL";
        self.connection().execute(sql, [hub, agent_id, key])?;
        Ok(())
    }

    /// Finds a ticket by message id or idempotency key; the newest if several agents used the same key.
    pub fn ticket(&self, wanted: &str) -> Result<Option<Ticket>, JournalError> {
        let sql = "SELECT key, agent_id, message_id, poll_url, kind FROM drafts WHERE message_id = ?1 OR key = ?1
                   ORDER BY message_id IS ?1 DESC, id DESC LIMIT 1";
        self.connection()
            .query_row(sql, [wanted], read_row)
            .optional()?
            .map(StoredTicket::ticket)
            .transpose()
    }

    /// Newest first.
    pub fn tickets(&self, limit: usize) -> Result<Vec<Ticket>, JournalError> {
        let connection = self.connection();
        let sql = "SELECT key, agent_id, message_id, poll_url, kind FROM drafts ORDER BY id DESC LIMIT ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map([at_most(limit)], read_row)?;
        rows.map(|row| row?.ticket()).collect()
    }
}

struct StoredTicket {
    key: String,
    agent_id: String,
    message_id: Option<String>,
    poll_url: Option<String>,
    kind: String,
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<StoredTicket> {
    Ok(StoredTicket {
        key: row.get(0)?,
        agent_id: row.get(1)?,
        message_id: row.get(2)?,
        poll_url: row.get(3)?,
        kind: row.get(4)?,
    })
}

impl StoredTicket {
    fn ticket(self) -> Result<Ticket, JournalError> {
        let kind = self.kind.parse();
        let kind = kind.map_err(|_| JournalError::Unreadable(format!("a message of kind {:?}", self.kind)))?;
        Ok(Ticket {
            idempotency_key: self.key,
            agent_id: self.agent_id,
            message_id: self.message_id,
            poll_url: self.poll_url,
            review_url: None,
            notice: None,
            kind,
        })
    }
}

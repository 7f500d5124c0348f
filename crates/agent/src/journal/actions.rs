//! Acting at most once: an action is reserved before the work and finished after it, so a crash in between shows.

use countersign_protocol::time::Timestamp;
use rusqlite::{OptionalExtension, Row, Transaction, params};
use serde::Serialize;

use super::process::ProcessIdentity;
use super::{Journal, JournalError, at_most, now};

/// The result of claiming the action on an outcome.
#[derive(Debug)]
pub enum Claim {
    /// The action is free and now reserved: do the work, then finish the reservation.
    Go(Reservation),
    /// The action was finished before.
    AlreadyDone {
        /// What was passed to [`Journal::finish`].
        ok: bool,
    },
    /// The process that reserved the action died or dropped the reservation; how much of the work it did is unknown.
    Interrupted,
    /// The action is reserved by a running process.
    UnderWay,
    /// The action belongs to another resolution of the same message.
    Other,
}

/// The exclusive right to act. If it is dropped without [`Journal::finish`], the action shows as interrupted.
#[derive(Debug)]
pub struct Reservation {
    journal: Journal,
    id: i64,
    message_id: String,
    resolution_id: String,
    ended: bool,
}

impl Reservation {
    /// The message whose outcome is acted on.
    pub fn message_id(&self) -> &str {
        &self.message_id
    }

    /// The outcome that is acted on.
    pub fn resolution_id(&self) -> &str {
        &self.resolution_id
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.ended {
            let sql = "UPDATE acts SET holder_pid = NULL, holder_started = NULL WHERE id = ?1 AND state = 'reserved'";
            // A failed write is harmless: the reservation still ends with this process.
            let _ = self.journal.connection().execute(sql, [self.id]);
        }
    }
}

/// How far an action got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionState {
    /// Begun and not finished.
    Reserved,
    /// Finished with success.
    Done,
    /// Finished without success.
    Failed,
}

/// What the journal knows of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Action {
    /// The message whose outcome is acted on.
    pub message_id: String,
    /// The outcome that is acted on.
    pub resolution_id: String,
    /// How far it got.
    pub state: ActionState,
    /// Whether the reserving process or its worker process still runs. A reserved action that is not under way was
    /// interrupted.
    pub under_way: bool,
    /// The time of the reservation.
    pub begun_at: Timestamp,
    /// The time of [`Journal::finish`].
    pub ended_at: Option<Timestamp>,
}

const COLUMNS: &str = "message_id, resolution_id, state, begun_at, ended_at, holder_pid, holder_started, \
     worker_pid, worker_started";

impl Journal {
    /// Claims the action on a resolution, before the work starts.
    pub fn begin(&self, message_id: &str, resolution_id: &str) -> Result<Claim, JournalError> {
        let reserved = self.write(|transaction| match find(transaction, message_id)? {
            Some(action) => Ok(Err(action)),
            None => reserve(transaction, message_id, resolution_id).map(Ok),
        })?;
        Ok(match reserved {
            Ok(id) => Claim::Go(Reservation {
                journal: self.clone(),
                id,
                message_id: message_id.to_owned(),
                resolution_id: resolution_id.to_owned(),
                ended: false,
            }),
            Err(action) if action.resolution_id != resolution_id => Claim::Other,
            Err(action) => match action.state {
                ActionState::Done => Claim::AlreadyDone { ok: true },
                ActionState::Failed => Claim::AlreadyDone { ok: false },
                ActionState::Reserved if action.under_way => Claim::UnderWay,
                ActionState::Reserved => Claim::Interrupted,
            },
        })
    }

    /// Records a worker process. The action then stays under way until that process has ended too.
    pub fn set_worker(&self, reservation: &Reservation, pid: u32) -> Result<(), JournalError> {
        let Some(worker) = ProcessIdentity::of(pid) else {
            return Ok(());
        };
        let sql = "UPDATE acts SET worker_pid = ?2, worker_started = ?3 WHERE id = ?1 AND state = 'reserved'";
        self.connection()
            .execute(sql, params![reservation.id, worker.pid, worker.started])?;
        Ok(())
    }

    /// Ends the action after the work. A failed one can be done again only after [`Journal::forget`].
    pub fn finish(&self, mut reservation: Reservation, ok: bool) -> Result<(), JournalError> {
        let sql = "UPDATE acts SET state = ?2, ended_at = ?3, holder_pid = NULL, holder_started = NULL
                   WHERE id = ?1 AND state = 'reserved'";
        let row = params![reservation.id, if ok { "done" } else { "failed" }, now().as_millis()];
        let changed = reservation.journal.connection().execute(sql, row)?;
        reservation.ended = true;
        if changed == 1 {
            Ok(())
        } else {
            Err(JournalError::NotReserved(reservation.message_id.clone()))
        }
    }

    /// The action on the outcome of a message.
    pub fn action(&self, message_id: &str) -> Result<Option<Action>, JournalError> {
        let sql = format!("SELECT {COLUMNS} FROM acts WHERE message_id = ?1");
        let found = self
            .connection()
            .query_row(&sql, [message_id], StoredAction::read)
            .optional()?;
        found.map(StoredAction::action).transpose()
    }

    /// Newest first.
    pub fn actions(&self, limit: usize) -> Result<Vec<Action>, JournalError> {
        let connection = self.connection();
        let mut statement = connection.prepare(&format!("SELECT {COLUMNS} FROM acts ORDER BY id DESC LIMIT ?1"))?;
        let rows = statement.query_map([at_most(limit)], StoredAction::read)?;
        rows.map(|row| row?.action()).collect()
    }

    /// Removes an interrupted or failed action, so that it can be done again after a person checked it. Returns false
    /// when there is none.
    pub fn forget(&self, message_id: &str) -> Result<bool, JournalError> {
        self.write(|transaction| {
            let Some(action) = find(transaction, message_id)? else {
                return Ok(false);
            };
            match action.state {
                ActionState::Done => return Err(JournalError::Done(action.message_id)),
                ActionState::Reserved if action.under_way => return Err(JournalError::UnderWay(action.message_id)),
                ActionState::Reserved | ActionState::Failed => {}
            }
            Ok(transaction.execute("DELETE FROM acts WHERE message_id = ?1", [message_id])? == 1)
        })
    }
}

fn find(transaction: &Transaction<'_>, message_id: &str) -> Result<Option<Action>, JournalError> {
    let sql = format!("SELECT {COLUMNS} FROM acts WHERE message_id = ?1");
    let found = transaction
        .query_row(&sql, [message_id], StoredAction::read)
        .optional()?;
    found.map(StoredAction::action).transpose()
}

fn reserve(transaction: &Transaction<'_>, message_id: &str, resolution_id: &str) -> Result<i64, JournalError> {
    let process = ProcessIdentity::current();
    let sql = "INSERT INTO acts (message_id, resolution_id, state, begun_at, holder_pid, holder_started)
               VALUES (?1, ?2, 'reserved', ?3, ?4, ?5)";
    let row = params![
        message_id,
        resolution_id,
        now().as_millis(),
        process.pid,
        process.started
    ];
    transaction.execute(sql, row)?;
    Ok(transaction.last_insert_rowid())
}

struct StoredAction {
    message_id: String,
    resolution_id: String,
    state: String,
    begun_at: i64,
    ended_at: Option<i64>,
    processes: [Option<ProcessIdentity>; 2],
}

impl StoredAction {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let process = |pid, started| -> rusqlite::Result<Option<ProcessIdentity>> {
            let (pid, started): (Option<u32>, Option<String>) = (row.get(pid)?, row.get(started)?);
            Ok(pid.zip(started).map(|(pid, started)| ProcessIdentity { pid, started }))
        };
        Ok(Self {
            message_id: row.get(0)?,
            resolution_id: row.get(1)?,
            state: row.get(2)?,
            begun_at: row.get(3)?,
            ended_at: row.get(4)?,
            processes: [process(5, 6)?, process(7, 8)?],
        })
    }

    fn action(self) -> Result<Action, JournalError> {
        let state = match self.state.as_str() {
            "reserved" => ActionState::Reserved,
            "done" => ActionState::Done,
            "failed" => ActionState::Failed,
            other => return Err(JournalError::Unreadable(format!("an action in state {other:?}"))),
        };
        Ok(Action {
            message_id: self.message_id,
            resolution_id: self.resolution_id,
            state,
            under_way: self.processes.iter().flatten().any(ProcessIdentity::is_alive),
            begun_at: Timestamp::from_millis(self.begun_at),
            ended_at: self.ended_at.map(Timestamp::from_millis),
        })
    }
}

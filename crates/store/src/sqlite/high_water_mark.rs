//! The high-water mark: a file beside the database that names the last entries the store had. Every opening compares
//! the two, so that a store whose newest entries are gone is noticed.
//!
//! The mark is read from committed rows, after their commit was synced: it may be behind the store, never ahead of it.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use countersign_protocol::hex::hex;
use countersign_protocol::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    audit_seq: i64,
    audit_hash: String,
    /// When that audit entry was made, in milliseconds.
    audit_at: i64,
    message_seq: i64,
}

/// The mark of one database file, raised as its store grows.
pub struct MarkFile {
    path: PathBuf,
    /// The content of the file, as far as this process has written it.
    written: Mutex<Option<Mark>>,
}

impl MarkFile {
    pub fn beside(database: &Path) -> Self {
        Self {
            path: path_of(database),
            written: Mutex::default(),
        }
    }

    /// Raises the mark to the last committed entries. Written to a temporary file and renamed, so that a crash leaves
    /// the mark before or this one.
    pub fn raise(&self, connection: &Connection) -> Result<(), StoreError> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mark) = last_entries(connection)? else {
            return Ok(());
        };
        if written.as_ref() != Some(&mark) {
            write(&self.path, &serde_json::to_vec(&mark)?)
                .map_err(|error| StoreError::Unavailable(format!("{}: {error}", self.path.display())))?;
            *written = Some(mark);
        }
        Ok(())
    }
}

fn path_of(database: &Path) -> PathBuf {
    database.with_extension("mark")
}

fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let draft = path.with_extension("mark.new");
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(content)?;
    // Without it, a power cut could leave an empty file under the final name.
    file.sync_data()?;
    fs::rename(&draft, path)
}

/// `None` while the store has no audit entry.
fn last_entries(connection: &Connection) -> Result<Option<Mark>, StoreError> {
    // One statement, so one snapshot.
    const LAST: &str = "SELECT seq, hash, at, (SELECT coalesce(max(seq), 0) FROM message) \
         FROM audit ORDER BY seq DESC LIMIT 1";
    let found = connection.query_row(LAST, [], |row| {
        Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?, row.get(2)?, row.get(3)?))
    });
    let Some((audit_seq, hash, audit_at, message_seq)) = found.optional()? else {
        return Ok(None);
    };
    Ok(Some(Mark {
        audit_seq,
        // Of any length: a damaged hash is compared like a sound one.
        audit_hash: hex(&hash),
        audit_at,
        message_seq,
    }))
}

/// How a store is behind its mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataLoss {
    /// The store ends before the audit entry of the mark.
    Entries {
        last: Option<(i64, Timestamp)>,
        marked: (i64, Timestamp),
    },
    /// The audit entry of the mark is there, with another hash.
    OtherStore {
        marked: (i64, Timestamp),
    },
    Messages {
        last: i64,
        marked: i64,
    },
    UnreadableMark(String),
}

impl fmt::Display for DataLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entries {
                last: Some((last, last_at)),
                marked: (marked, marked_at),
            } => write!(
                f,
                "the last {} audit entries are missing: the store ends with entry {last} of {last_at}, and had entry \
                 {marked} of {marked_at}",
                marked - last
            ),
            Self::Entries {
                last: None,
                marked: (marked, marked_at),
            } => write!(f, "the store is empty, and had audit entry {marked} of {marked_at}"),
            Self::OtherStore { marked: (seq, at) } => {
                write!(f, "audit entry {seq} is not the one of {at} that this directory had")
            }
            Self::Messages { last, marked } => {
                write!(f, "the store ends with message number {last}, and had number {marked}")
            }
            Self::UnreadableMark(why) => write!(
                f,
                "this cannot be ruled out, because the high-water mark cannot be read: {why}"
            ),
        }
    }
}

/// What the store lacks of its mark. `None` also without a mark: the first start, or a backup in a new directory.
pub fn compare(connection: &Connection, database: &Path) -> Result<Option<DataLoss>, StoreError> {
    // The mark is read first: a running hub may raise it meanwhile.
    let mark = match read(&path_of(database)) {
        Ok(Some(mark)) => mark,
        Ok(None) => return Ok(None),
        Err(why) => return Ok(Some(DataLoss::UnreadableMark(why))),
    };
    let marked = (mark.audit_seq, Timestamp::from_millis(mark.audit_at));
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name IN ('audit', 'message')";
    if connection.query_row(tables, [], |row| row.get::<_, i64>(0))? < 2 {
        return Ok(Some(DataLoss::Entries { last: None, marked }));
    }
    let entry = "SELECT hash FROM audit WHERE seq = ?1";
    let found = connection
        .query_row(entry, [mark.audit_seq], |row| row.get::<_, Vec<u8>>(0))
        .optional()?;
    let last = last_entries(connection)?;
    let last_message = last.as_ref().map_or(0, |last| last.message_seq);
    Ok(match found {
        None => Some(DataLoss::Entries {
            last: last.map(|last| (last.audit_seq, Timestamp::from_millis(last.audit_at))),
            marked,
        }),
        Some(hash) if hex(&hash) != mark.audit_hash => Some(DataLoss::OtherStore { marked }),
        Some(_) if last_message < mark.message_seq => Some(DataLoss::Messages {
            last: last_message,
            marked: mark.message_seq,
        }),
        Some(_) => None,
    })
}

fn read(path: &Path) -> Result<Option<Mark>, String> {
    match fs::read(path) {
        Ok(content) => serde_json::from_slice(&content).map_err(|error| format!("{}: {error}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Forgets the mark of a database that is about to be written anew.
pub fn remove(database: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path_of(database)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::Unavailable(error.to_string())),
        Ok(()) | Err(_) => Ok(()),
    }
}

//! Opening the journal file, which several processes may do at once.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::JournalError;

/// "csjn": distinguishes a journal from other SQLite files, including the hub's database.
const APPLICATION_ID: i64 = 0x6373_6a6e;
const SCHEMA_VERSION: i64 = 1;

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const WAL_RETRY_DELAY: Duration = Duration::from_millis(10);

/// Serializes opening within the process: closing a file drops all POSIX locks that the process holds on it, including
/// those of another connection.
static OPENING: Mutex<()> = Mutex::new(());

pub fn open(path: &Path) -> Result<Connection, JournalError> {
    let _guard = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = |error: io::Error| JournalError::Unavailable(format!("{}: {error}", path.display()));
    // SQLite treats names such as `:memory:` specially; an absolute path is always a file.
    let path = &std::path::absolute(path).map_err(failed)?;
    create_private(path).map_err(failed)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let named = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => JournalError::NotAJournal(path.display().to_string()),
        _ => JournalError::Unavailable(format!("{}: {error}", path.display())),
    };
    let mut connection = Connection::open_with_flags(path, flags).map_err(named)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    read_header(&connection).map_err(named)?.check(path)?;
    keep_private(path).map_err(failed)?;
    use_wal(&connection).map_err(named)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    make_tables(&mut connection, path)?;
    Ok(connection)
}

/// SQLite gives its WAL and SHM files the mode of the database, so the mode is set before SQLite first opens the file.
/// An existing file is not touched before it is known to be a journal.
fn create_private(path: &Path) -> io::Result<()> {
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop),
    }
}

/// Removes access for other users: write access to the journal would let them mark actions as done.
fn keep_private(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o600))
    } else {
        Ok(())
    }
}

/// Retries while another process switches the same new file to WAL: SQLite's busy timeout does not cover that.
fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    let give_up = Instant::now() + BUSY_TIMEOUT;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if is_busy(&error) && Instant::now() < give_up => std::thread::sleep(WAL_RETRY_DELAY),
            done => return done,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// The identification of an SQLite file.
struct FileHeader {
    application_id: i64,
    version: i64,
    tables: i64,
}

fn read_header(connection: &Connection) -> rusqlite::Result<FileHeader> {
    // One statement reads all three values from one snapshot.
    let sql = "SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema)
               FROM pragma_application_id a, pragma_user_version v";
    connection.query_row(sql, [], |row| {
        Ok(FileHeader {
            application_id: row.get(0)?,
            version: row.get(1)?,
            tables: row.get(2)?,
        })
    })
}

impl FileHeader {
    fn is_new(&self) -> bool {
        self.application_id == 0 && self.version == 0 && self.tables == 0
    }

    fn check(&self, path: &Path) -> Result<(), JournalError> {
        if self.is_new() {
            return Ok(());
        }
        if self.application_id != APPLICATION_ID {
            return Err(JournalError::NotAJournal(path.display().to_string()));
        }
        if self.version > SCHEMA_VERSION {
            return Err(JournalError::NewerSchema {
                found: self.version,
                known: SCHEMA_VERSION,
            });
        }
        Ok(())
    }
}

fn make_tables(connection: &mut Connection, path: &Path) -> Result<(), JournalError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let header = read_header(&transaction)?;
    header.check(path)?;
    if header.is_new() {
        transaction.execute_batch(include_str!("schema.sql"))?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    }
    transaction.commit()?;
    Ok(())
}

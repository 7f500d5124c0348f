//! Opens a mailbox without leaving a trace in it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::failure::Failure;

/// The busy timeout of the original cueme.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const QUERY_TIMEOUT: Duration = Duration::from_secs(10);
/// Steps of SQLite's virtual machine between two checks of the deadline.
const DEADLINE_CHECK_STEPS: i32 = 100_000;
const MAX_VALUE_BYTES: i32 = 64 * 1024 * 1024;
/// The header byte that tells the journal mode, and its value for a write-ahead log (WAL).
const JOURNAL_MODE_OFFSET: usize = 18;
const WAL_JOURNAL_MODE: u8 = 2;

pub fn open(path: &Path) -> Result<(Connection, QueryDeadline), Failure> {
    let unreadable = |error: rusqlite::Error| Failure::failed(&format!("{} cannot be read: {error}", path.display()));
    let header = header(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection =
        Connection::open_with_flags(uri(path, is_idle_wal(path, &header)), flags).map_err(unreadable)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(unreadable)?;
    let deadline = harden(&mut connection).map_err(unreadable)?;
    Ok((connection, deadline))
}

/// Guards against a hostile file: its schema runs no code, values far larger than the hub accepts are refused, and
/// queries have a deadline.
fn harden(connection: &mut Connection) -> rusqlite::Result<QueryDeadline> {
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    let deadline = QueryDeadline(Arc::new(Mutex::new(Instant::now() + QUERY_TIMEOUT)));
    let checked = deadline.clone();
    connection.progress_handler(DEADLINE_CHECK_STEPS, Some(move || checked.has_passed()))?;
    Ok(deadline)
}

/// The deadline of the current query, shared with SQLite's progress handler.
#[derive(Debug, Clone)]
pub struct QueryDeadline(Arc<Mutex<Instant>>);

impl QueryDeadline {
    /// Starts the time limit of the next query.
    pub fn restart(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now() + QUERY_TIMEOUT;
    }

    fn has_passed(&self) -> bool {
        Instant::now() > *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn header(path: &Path) -> Result<Vec<u8>, Failure> {
    let failure = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Failure::failed(&format!(
            "there is no {}: name the database, cueme migrate PATH",
            path.display()
        )),
        _ => Failure::failed(&format!("{} cannot be read: {error}", path.display())),
    };
    let mut header = Vec::new();
    File::open(path)
        .map_err(failure)?
        .take(JOURNAL_MODE_OFFSET as u64 + 1)
        .read_to_end(&mut header)
        .map_err(failure)?;
    Ok(header)
}

/// Whether this is a WAL database that no program has open. It is then opened as immutable, because an ordinary reader
/// would create its `-wal` and `-shm` files again.
fn is_idle_wal(path: &Path, header: &[u8]) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    header.get(JOURNAL_MODE_OFFSET) == Some(&WAL_JOURNAL_MODE) && !Path::new(&log).exists()
}

fn uri(path: &Path, is_idle_wal: bool) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' | b'/' => uri.push(char::from(*byte)),
            other => uri.push_str(&format!("%{other:02x}")),
        }
    }
    uri + if is_idle_wal {
        "?mode=ro&immutable=1"
    } else {
        "?mode=ro"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_query_is_interrupted() {
        const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
        let mut connection = Connection::open_in_memory().expect("a database");
        let deadline = harden(&mut connection).expect("its limits");
        *deadline.0.lock().expect("its end") = Instant::now();
        let error = connection
            .query_row(ENDLESS, [], |row| row.get::<_, i64>(0))
            .expect_err("it never ends");
        assert!(error.to_string().contains("interrupted"), "{error}");
        deadline.restart();
        assert_eq!(connection.query_row("SELECT 1", [], |row| row.get::<_, i64>(0)), Ok(1));
    }

    #[test]
    fn a_file_name_cannot_change_the_open_mode() {
        assert_eq!(
            uri(Path::new("/a b/é?mode=rw#x%"), false),
            "file:/a%20b/%c3%a9%3fmode%3drw%23x%25?mode=ro"
        );
        assert!(uri(Path::new("cue.db"), true).ends_with("?mode=ro&immutable=1"));
    }
}

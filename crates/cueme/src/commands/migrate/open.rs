//! Opening a mailbox without leaving a trace in it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::failure::Failure;

/// As long as the original waits itself.
const BUSY: Duration = Duration::from_secs(5);
const LONGEST_LOOK: Duration = Duration::from_secs(10);
/// Of the database's machine, between two looks at the clock.
const STEPS: i32 = 100_000;
const LARGEST_VALUE: i32 = 64 * 1024 * 1024;
/// Where a database says how it is journaled, and what it says for a write-ahead log.
const JOURNAL_BYTE: usize = 18;
const WRITE_AHEAD: u8 = 2;

pub fn open(path: &Path) -> Result<(Connection, Patience), Failure> {
    let unreadable = |error: rusqlite::Error| Failure::failed(&format!("{} cannot be read: {error}", path.display()));
    let header = header(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection =
        Connection::open_with_flags(uri(path, is_at_rest(path, &header)), flags).map_err(unreadable)?;
    connection.busy_timeout(BUSY).map_err(unreadable)?;
    let patience = distrust(&mut connection).map_err(unreadable)?;
    Ok((connection, patience))
}

/// Whoever made the file may have meant harm: nothing in it is run, nothing in it is far larger than the hub would take, and
/// no look into it lasts.
fn distrust(connection: &mut Connection) -> rusqlite::Result<Patience> {
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LARGEST_VALUE)?;
    let patience = Patience(Arc::new(Mutex::new(Instant::now() + LONGEST_LOOK)));
    let watched = patience.clone();
    connection.progress_handler(STEPS, Some(move || watched.is_over()))?;
    Ok(patience)
}

/// How long a look may last.
#[derive(Debug, Clone)]
pub struct Patience(Arc<Mutex<Instant>>);

impl Patience {
    /// Another look begins.
    pub fn renew(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now() + LONGEST_LOOK;
    }

    fn is_over(&self) -> bool {
        Instant::now() > *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn header(path: &Path) -> Result<Vec<u8>, Failure> {
    let told = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Failure::failed(&format!(
            "there is no {}: name the database, cueme migrate PATH",
            path.display()
        )),
        _ => Failure::failed(&format!("{} cannot be read: {error}", path.display())),
    };
    let mut header = Vec::new();
    File::open(path)
        .map_err(told)?
        .take(JOURNAL_BYTE as u64 + 1)
        .read_to_end(&mut header)
        .map_err(told)?;
    Ok(header)
}

/// A database with a write-ahead log would get its two side files back from every reader. Without them nobody has it open.
fn is_at_rest(path: &Path, header: &[u8]) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    header.get(JOURNAL_BYTE) == Some(&WRITE_AHEAD) && !Path::new(&log).exists()
}

fn uri(path: &Path, is_at_rest: bool) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' | b'/' => uri.push(char::from(*byte)),
            other => uri.push_str(&format!("%{other:02x}")),
        }
    }
    uri + if is_at_rest { "?mode=ro&immutable=1" } else { "?mode=ro" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_that_lasts_is_broken_off() {
        const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
        let mut connection = Connection::open_in_memory().expect("a database");
        let patience = distrust(&mut connection).expect("its limits");
        *patience.0.lock().expect("its end") = Instant::now();
        let broken = connection
            .query_row(ENDLESS, [], |row| row.get::<_, i64>(0))
            .expect_err("it never ends");
        assert!(broken.to_string().contains("interrupted"), "{broken}");
        patience.renew();
        assert_eq!(connection.query_row("SELECT 1", [], |row| row.get::<_, i64>(0)), Ok(1));
    }

    #[test]
    fn no_name_of_a_file_changes_how_it_is_opened() {
        assert_eq!(
            uri(Path::new("/a b/é?mode=rw#x%"), false),
            "file:/a%20b/%c3%a9%3fmode%3drw%23x%25?mode=ro"
        );
        assert!(uri(Path::new("cue.db"), true).ends_with("?mode=ro&immutable=1"));
    }
}

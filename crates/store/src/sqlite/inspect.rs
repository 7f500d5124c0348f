//! Checks of a database file from outside, while its hub runs or not.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use super::connection::open_reader;
use super::high_water_mark::{self, DataLoss};
use crate::error::StoreError;

/// Longer checks are left to an operator with a shell.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);
/// Instructions of SQLite's virtual machine between two looks at the clock.
const INSTRUCTIONS_PER_LOOK: i32 = 10_000;

pub struct Inspection {
    pub check: QuickCheck,
    /// An error if the entries cannot be read.
    pub loss: Result<Option<DataLoss>, StoreError>,
}

/// The result of SQLite's own check of pages and rows.
#[derive(Debug, PartialEq, Eq)]
pub enum QuickCheck {
    Sound,
    /// The faults found first.
    Damaged(Vec<String>),
    /// The file is too large for the time-out.
    Unfinished,
}

/// Reads only.
pub fn inspect(file: &Path) -> Result<Inspection, StoreError> {
    let mut connection = open_reader(file)?;
    Ok(Inspection {
        loss: high_water_mark::compare(&connection, file),
        check: quick_check(&mut connection)?,
    })
}

fn quick_check(connection: &mut Connection) -> Result<QuickCheck, StoreError> {
    let until = Instant::now() + CHECK_TIMEOUT;
    connection.progress_handler(INSTRUCTIONS_PER_LOOK, Some(move || Instant::now() > until))?;
    let mut statement = connection.prepare("PRAGMA quick_check(5)")?;
    let lines: Result<Vec<String>, _> = statement.query_map([], |row| row.get(0))?.collect();
    match lines {
        Ok(lines) if lines == ["ok"] => Ok(QuickCheck::Sound),
        Ok(faults) => Ok(QuickCheck::Damaged(faults)),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => Ok(QuickCheck::Unfinished),
            Some(ErrorCode::DatabaseCorrupt) => Ok(QuickCheck::Damaged(vec![error.to_string()])),
            _ => Err(error.into()),
        },
    }
}

//! Opening SQLite connections and running statements on them.

use std::fs::OpenOptions;
use std::future::{Future, ready};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use countersign_protocol::time::Timestamp;
use futures_util::FutureExt;
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, OpenFlags, Statement};

use crate::error::StoreError;
use crate::exec::{BatchStatement, Exec, Op, Param, Row, Value};
use crate::ops::dialect::{self, Dialect};

const STATEMENT_CACHE_CAPACITY: usize = 128;

pub fn open_writer(file: &Path) -> Result<Connection, StoreError> {
    create_private(file)?;
    let connection = Connection::open(file)?;
    // FULL, not NORMAL: an acknowledged answer survives a power cut, and with group commit the cost is not measurable.
    // macOS needs fullfsync for that too, because its fsync leaves data in the cache of the disk.
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA fullfsync = ON;
         PRAGMA busy_timeout = 5000;
         PRAGMA cache_size = -32768;
         PRAGMA temp_store = MEMORY;",
    )?;
    cache_statements(&connection)?;
    Ok(connection)
}

/// For tables with partial indexes, SQLite re-plans a statement for every newly bound value, because the value could
/// make another index usable. Our values never do, and planning costs many times more than running the statement.
fn cache_statements(connection: &Connection) -> Result<(), StoreError> {
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

pub fn open_reader(file: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.execute_batch("PRAGMA busy_timeout = 5000; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY;")?;
    cache_statements(&connection)?;
    Ok(connection)
}

/// SQLite gives the WAL and shm files the mode of the database file, so the mode is set before the first open. An
/// existing file is not opened: closing it would drop the POSIX locks that SQLite holds on it in this process, and
/// another program would then take itself for the last one and delete the write-ahead log.
fn create_private(file: &Path) -> Result<(), StoreError> {
    match OpenOptions::new().create_new(true).write(true).mode(0o600).open(file) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(StoreError::Unavailable(format!("{}: {error}", file.display())))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Runs an operation in one poll. A panic in it is an error like any other, so that the transaction around it ends and
/// the connection stays usable; the panic hook has logged the cause.
pub fn run_now<O: Op>(op: &O, connection: &mut Connection, now: Timestamp) -> Result<O::Out, StoreError> {
    let mut exec = SqliteExec(connection);
    catch_unwind(AssertUnwindSafe(|| op.run(&mut exec, now).now_or_never()))
        .map_err(|_panic| StoreError::Unavailable("the operation panicked".to_owned()))?
        .unwrap_or_else(|| Err(not_ready()))
}

pub fn not_ready() -> StoreError {
    StoreError::Corrupt("an operation on the embedded engine did not finish in one poll".to_owned())
}

pub struct SqliteExec<'c>(pub &'c mut Connection);

impl SqliteExec<'_> {
    fn bound(&self, sql: &'static str, params: &[Param<'_>]) -> Result<CachedStatement<'_>, StoreError> {
        let mut statement = self.0.prepare_cached(sql)?;
        bind(&mut statement, params.iter().copied())?;
        Ok(statement)
    }

    fn exec_now(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        let changed = self.bound(sql, params)?.raw_execute()?;
        Ok(changed as u64)
    }

    // Not RETURNING, which first collects its rows in a temporary table.
    fn insert_now(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<i64, StoreError> {
        self.exec_now(sql, params)?;
        Ok(self.0.last_insert_rowid())
    }

    fn batch_now(&mut self, steps: &[BatchStatement<'_>]) -> Result<Vec<i64>, StoreError> {
        let mut done: Vec<i64> = Vec::with_capacity(steps.len());
        for step in steps {
            let mut statement = self.0.prepare_cached(step.sql)?;
            bind(
                &mut statement,
                step.params.iter().map(|param| resolve_seq(*param, steps, &done)),
            )?;
            let changed = statement.raw_execute()?;
            drop(statement);
            done.push(if step.into.is_some() {
                self.0.last_insert_rowid()
            } else {
                count(changed)
            });
        }
        Ok(done)
    }

    fn rows_now(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        let mut statement = self.bound(sql, params)?;
        let columns = statement.column_count();
        let mut found = Vec::new();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let mut values = Vec::with_capacity(columns);
            for column in 0..columns {
                values.push(owned(row.get_ref(column)?));
            }
            found.push(Row(values));
        }
        Ok(found)
    }
}

/// Replaces `InsertedSeq` by the `seq` of the row that an earlier statement inserted.
fn resolve_seq<'p>(param: Param<'p>, steps: &[BatchStatement<'_>], done: &[i64]) -> Param<'p> {
    let Param::InsertedSeq(table) = param else { return param };
    let found = steps.iter().zip(done).rfind(|(step, _)| step.into == Some(table));
    found.map_or(param, |(_, seq)| Param::Int(*seq))
}

fn count(changed: usize) -> i64 {
    i64::try_from(changed).unwrap_or(i64::MAX)
}

pub fn bind<'p>(
    statement: &mut Statement<'_>,
    params: impl IntoIterator<Item = Param<'p>>,
) -> Result<(), rusqlite::Error> {
    for (place, param) in (1_usize..).zip(params) {
        match param {
            Param::Null => statement.raw_bind_parameter(place, rusqlite::types::Null)?,
            Param::Int(number) => statement.raw_bind_parameter(place, number)?,
            Param::Text(text) => statement.raw_bind_parameter(place, text)?,
            Param::Blob(bytes) => statement.raw_bind_parameter(place, bytes)?,
            // `batch_now` has already replaced it.
            Param::InsertedSeq(_) => return Err(rusqlite::Error::InvalidParameterCount(place, place)),
        }
    }
    Ok(())
}

fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Integer(number) => Value::Int(number),
        // A text that is not UTF-8 is damaged; bytes in its place make decoding fail.
        ValueRef::Text(text) => {
            String::from_utf8(text.to_owned()).map_or_else(|error| Value::Blob(error.into_bytes()), Value::Text)
        }
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_owned()),
        ValueRef::Null | ValueRef::Real(_) => Value::Null,
    }
}

impl Exec for SqliteExec<'_> {
    const DIALECT: &'static Dialect = &dialect::SQLITE;

    fn exec(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> impl Future<Output = Result<u64, StoreError>> + Send {
        ready(self.exec_now(sql, params))
    }

    fn insert(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> impl Future<Output = Result<i64, StoreError>> + Send {
        ready(self.insert_now(sql, params))
    }

    fn rows(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> impl Future<Output = Result<Vec<Row>, StoreError>> + Send {
        ready(self.rows_now(sql, params))
    }

    fn batch(&mut self, steps: &[BatchStatement<'_>]) -> impl Future<Output = Result<Vec<i64>, StoreError>> + Send {
        ready(self.batch_now(steps))
    }
}

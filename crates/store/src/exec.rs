//! The interface between operations and a database engine: SQL text in, rows out.
//!
//! The SQL keeps to the subset that SQLite and PostgreSQL share, with `?1`-style parameters; the few statements that
//! differ are in the engine's `Dialect`. An engine with a blocking driver returns ready futures, so the same operation
//! completes in one poll.

use std::future::Future;

use countersign_core::Digest;
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::ops::dialect::Dialect;

#[derive(Debug, Clone, Copy)]
pub enum Param<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Blob(&'a [u8]),
    /// The `seq` of the row that an earlier statement of the batch inserted into this table.
    InsertedSeq(&'static str),
}

/// One statement of a batch.
pub struct BatchStatement<'a> {
    pub sql: &'static str,
    pub params: &'a [Param<'a>],
    /// The table with a `seq` column that the statement inserts one row into, if it does.
    pub into: Option<&'static str>,
}

impl<'a> BatchStatement<'a> {
    pub fn insert(table: &'static str, sql: &'static str, params: &'a [Param<'a>]) -> Self {
        let into = Some(table);
        Self { sql, params, into }
    }

    pub fn change(sql: &'static str, params: &'a [Param<'a>]) -> Self {
        let into = None;
        Self { sql, params, into }
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Param<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Blob(bytes)
    }
}

impl<'a> From<&'a Digest> for Param<'a> {
    fn from(digest: &'a Digest) -> Self {
        Self::Blob(digest.as_bytes())
    }
}

impl From<i64> for Param<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<Timestamp> for Param<'_> {
    fn from(instant: Timestamp) -> Self {
        Self::Int(instant.as_millis())
    }
}

impl<'a, T: Into<Param<'a>>> From<Option<T>> for Param<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Int(i64),
    Text(String),
    Blob(Vec<u8>),
}

impl From<Digest> for Value {
    fn from(digest: Digest) -> Self {
        Self::Blob(digest.as_bytes().to_vec())
    }
}

impl<'a> From<&'a Value> for Param<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Int(number) => Self::Int(*number),
            Value::Text(text) => Self::Text(text),
            Value::Blob(bytes) => Self::Blob(bytes),
        }
    }
}

/// One row. Columns are addressed by their position in the SELECT; texts and bytes can be taken once, in any order.
#[derive(Debug, Clone, PartialEq)]
pub struct Row(pub Vec<Value>);

impl Row {
    /// The approximate size in bytes.
    pub fn size(&self) -> usize {
        let size = |value: &Value| match value {
            Value::Null => 1,
            Value::Int(_) => 8,
            Value::Text(text) => text.len(),
            Value::Blob(bytes) => bytes.len(),
        };
        self.0.iter().map(size).sum()
    }

    fn take(&mut self, column: usize) -> Value {
        self.0
            .get_mut(column)
            .map_or(Value::Null, |value| std::mem::replace(value, Value::Null))
    }

    /// A text that stays in the row; `None` for any other type.
    pub fn peek(&self, column: usize) -> Option<&str> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Some(text),
            Some(Value::Null | Value::Int(_) | Value::Blob(_)) | None => None,
        }
    }

    pub fn text(&mut self, column: usize) -> Result<String, StoreError> {
        self.opt_text(column)?.ok_or_else(|| wrong_type(column))
    }

    pub fn opt_text(&mut self, column: usize) -> Result<Option<String>, StoreError> {
        match self.take(column) {
            Value::Text(text) => Ok(Some(text)),
            Value::Null => Ok(None),
            Value::Int(_) | Value::Blob(_) => Err(wrong_type(column)),
        }
    }

    pub fn int(&mut self, column: usize) -> Result<i64, StoreError> {
        self.opt_int(column)?.ok_or_else(|| wrong_type(column))
    }

    pub fn opt_int(&mut self, column: usize) -> Result<Option<i64>, StoreError> {
        match self.0.get(column) {
            Some(Value::Int(number)) => Ok(Some(*number)),
            Some(Value::Null) | None => Ok(None),
            Some(Value::Text(_) | Value::Blob(_)) => Err(wrong_type(column)),
        }
    }

    pub fn instant(&mut self, column: usize) -> Result<Timestamp, StoreError> {
        self.int(column).map(Timestamp::from_millis)
    }

    pub fn opt_instant(&mut self, column: usize) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.opt_int(column)?.map(Timestamp::from_millis))
    }

    pub fn blob(&mut self, column: usize) -> Result<Vec<u8>, StoreError> {
        self.opt_blob(column)?.ok_or_else(|| wrong_type(column))
    }

    pub fn opt_blob(&mut self, column: usize) -> Result<Option<Vec<u8>>, StoreError> {
        match self.take(column) {
            Value::Blob(bytes) => Ok(Some(bytes)),
            Value::Null => Ok(None),
            Value::Int(_) | Value::Text(_) => Err(wrong_type(column)),
        }
    }

    pub fn digest(&mut self, column: usize) -> Result<Digest, StoreError> {
        self.opt_digest(column)?.ok_or_else(|| wrong_type(column))
    }

    pub fn opt_digest(&mut self, column: usize) -> Result<Option<Digest>, StoreError> {
        let bytes = self.opt_blob(column)?;
        bytes
            .map(|bytes| Digest::from_bytes(&bytes).ok_or_else(|| wrong_type(column)))
            .transpose()
    }
}

fn wrong_type(column: usize) -> StoreError {
    StoreError::Corrupt(format!("column {column} has an unexpected type"))
}

pub trait Exec: Send {
    const DIALECT: &'static Dialect;

    /// Runs a statement and returns the number of rows it changed.
    fn exec(&mut self, sql: &'static str, params: &[Param<'_>])
    -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Inserts one row into a table with a `seq` column and returns the new `seq`.
    fn insert(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> impl Future<Output = Result<i64, StoreError>> + Send;

    fn rows(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> impl Future<Output = Result<Vec<Row>, StoreError>> + Send;

    /// Runs the statements in order, pipelined where the engine can. Returns for each statement the `seq` of its
    /// inserted row, or the number of rows it changed.
    fn batch(&mut self, steps: &[BatchStatement<'_>]) -> impl Future<Output = Result<Vec<i64>, StoreError>> + Send;

    fn row(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> impl Future<Output = Result<Option<Row>, StoreError>> + Send {
        let rows = self.rows(sql, params);
        async move { Ok(rows.await?.into_iter().next()) }
    }
}

/// Runs a batch and returns the results of its first `N` statements.
pub async fn batch<X: Exec, const N: usize>(x: &mut X, steps: &[BatchStatement<'_>]) -> Result<[i64; N], StoreError> {
    let done = x.batch(steps).await?;
    done.first_chunk()
        .copied()
        .ok_or_else(|| StoreError::Corrupt("a batch returned too few results".to_owned()))
}

/// How an operation accesses the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessMode {
    /// A write, acknowledged after its commit.
    Write,
    /// A write that may be lost and depends only on the hub's own clock; the caller does not wait for its commit.
    UnacknowledgedWrite,
    /// A lookup by key.
    Read,
    /// A read whose duration depends on the amount of data.
    Scan,
}

/// One domain operation, run inside one transaction. An operation may run again from its start when its transaction is
/// retried, so it keeps no state of its own.
pub trait Op: Send + Sync + 'static {
    type Out: Send + 'static;
    const MODE: AccessMode;
    /// Whether the operation depends on the time it is given. If not, the engine skips reading the clock for it.
    const IS_TIMED: bool = true;

    fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> impl Future<Output = Result<Self::Out, StoreError>> + Send;

    /// The damage that a successful operation has passed over.
    fn damage(_out: &Self::Out) -> Vec<StoreError> {
        Vec::new()
    }
}

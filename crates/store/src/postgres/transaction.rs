//! One transaction on a pooled connection, and how statements run in it.

use std::pin::Pin;
use std::time::Duration;

use countersign_protocol::time::Timestamp;
use deadpool_postgres::Object;
use futures_util::TryStreamExt;
use futures_util::future::try_join_all;
use tokio::time::timeout;
use tokio_postgres::error::DbError;
use tokio_postgres::{SimpleQueryMessage, SimpleQueryStream, Statement};

use super::statement_cache::{StatementCache, StatementShape};
use super::values;
use crate::error::StoreError;
use crate::exec::{AccessMode, BatchStatement, Exec, Param, Row};
use crate::ops::dialect::{self, Dialect};

/// Explicit although it is PostgreSQL's default: an operator may have changed the default of the database.
const WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
/// One snapshot for the whole operation.
const READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
const SCAN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '30s'";
/// Rounded down to the millisecond: the cast alone would round up, into the future.
const TIME: &str = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const COMMIT_TIMEOUT: Duration = Duration::from_secs(10);
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection that returns to the pool only after its transaction has ended. If dropped earlier, the connection is
/// closed: its next user would otherwise continue the unfinished transaction.
pub struct PgTransaction<'e> {
    connection: Option<Object>,
    statements: &'e StatementCache,
    /// The pending reply to BEGIN.
    begin_reply: Option<Pin<Box<SimpleQueryStream>>>,
    /// PostgreSQL answers COMMIT of a failed transaction with a silent ROLLBACK, so COMMIT must not be sent.
    failed: bool,
}

impl<'e> PgTransaction<'e> {
    pub fn new(connection: Object, statements: &'e StatementCache) -> Self {
        Self {
            connection: Some(connection),
            statements,
            begin_reply: None,
            failed: false,
        }
    }

    /// Whether the connection is closed, in which case nothing of the transaction was committed.
    pub fn is_broken(&self) -> bool {
        self.connection.as_ref().is_none_or(|connection| connection.is_closed())
    }

    /// Sends BEGIN without waiting for the reply; the first statement is pipelined behind it.
    pub async fn begin(&mut self, mode: AccessMode) -> Result<(), StoreError> {
        let begin = match mode {
            AccessMode::Write | AccessMode::UnacknowledgedWrite => WRITE,
            AccessMode::Read => READ,
            AccessMode::Scan => SCAN,
        };
        self.begin_reply = Some(Box::pin(self.connection()?.simple_query_raw(begin).await?));
        Ok(())
    }

    pub async fn begin_write_with_time(&self) -> Result<Timestamp, StoreError> {
        let both = format!("{WRITE}; {TIME}");
        let answers = self.connection()?.simple_query(&both).await?;
        let found = answers.iter().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
            _ => None,
        });
        found
            .map(Timestamp::from_millis)
            .ok_or_else(|| StoreError::Corrupt("the database returned no time".to_owned()))
    }

    /// Like `commit`, without waiting for the reply. If even sending fails, the connection is closed.
    pub async fn end_unacknowledged(mut self) {
        let sent = match self.connection() {
            Ok(connection) => connection.simple_query_raw("END").await.is_ok(),
            Err(_) => false,
        };
        if sent {
            self.return_to_pool();
        }
    }

    pub async fn commit(mut self) -> Result<(), StoreError> {
        if self.failed {
            self.rollback().await;
            return Err(StoreError::Corrupt(
                "an operation continued after one of its statements had failed".to_owned(),
            ));
        }
        let committed = self.connection()?.batch_execute("COMMIT");
        match timeout(COMMIT_TIMEOUT, committed).await {
            Ok(Ok(())) => {
                self.return_to_pool();
                Ok(())
            }
            // The server refused, so nothing was committed. Class 08 may come from a proxy that lost the connection.
            Ok(Err(error)) if error.as_db_error().is_some_and(|error| !is_lost_connection(error)) => Err(error.into()),
            Ok(Err(error)) => Err(StoreError::CommitUnknown(error.to_string())),
            Err(_elapsed) => Err(StoreError::CommitUnknown(
                "the database did not respond in time".to_owned(),
            )),
        }
    }

    /// If the ROLLBACK fails, the connection is closed, which rolls back too.
    pub async fn rollback(mut self) {
        let rolled_back = match self.connection() {
            Ok(connection) => matches!(
                timeout(ROLLBACK_TIMEOUT, connection.batch_execute("ROLLBACK")).await,
                Ok(Ok(()))
            ),
            Err(_) => false,
        };
        if rolled_back {
            self.return_to_pool();
        }
    }

    fn return_to_pool(&mut self) {
        drop(self.connection.take());
    }

    fn connection(&self) -> Result<&Object, StoreError> {
        self.connection
            .as_ref()
            .ok_or_else(|| StoreError::Corrupt("the transaction has already ended".to_owned()))
    }

    async fn statement(&self, sql: &'static str, shape: StatementShape) -> Result<(&Object, Statement), StoreError> {
        let connection = self.connection()?;
        Ok((
            connection,
            connection.prepare_cached(&self.statements.get(sql, shape)).await?,
        ))
    }

    async fn execute(&self, sql: &'static str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        let (connection, statement) = self.statement(sql, StatementShape::AsIs).await?;
        Ok(connection.execute_raw(&statement, params.iter().copied()).await?)
    }

    async fn query(
        &self,
        sql: &'static str,
        shape: StatementShape,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let (connection, statement) = self.statement(sql, shape).await?;
        let found: Vec<_> = connection
            .query_raw(&statement, params.iter().copied())
            .await?
            .try_collect()
            .await?;
        found.iter().map(values::owned).collect()
    }

    async fn step(&self, statement: &Statement, step: &BatchStatement<'_>) -> Result<i64, StoreError> {
        let is_sent = |param: &Param<'_>| !matches!(param, Param::InsertedSeq(_));
        let params: Vec<_> = step.params.iter().copied().filter(is_sent).collect();
        let connection = self.connection()?;
        if step.into.is_none() {
            let changed = connection.execute_raw(statement, params).await?;
            return Ok(i64::try_from(changed).unwrap_or(i64::MAX));
        }
        let rows: Vec<_> = connection.query_raw(statement, params).await?.try_collect().await?;
        Ok(rows.first().ok_or_else(no_seq)?.try_get(0)?)
    }

    /// All statements are sent before the first reply: each is sent when it is first polled, in this order.
    async fn steps(&self, steps: &[BatchStatement<'_>]) -> Result<Vec<i64>, StoreError> {
        let mut statements = Vec::with_capacity(steps.len());
        for step in steps {
            statements.push(
                self.connection()?
                    .prepare_cached(&self.statements.get_batch(step))
                    .await?,
            );
        }
        try_join_all(
            statements
                .iter()
                .zip(steps)
                .map(|(statement, step)| self.step(statement, step)),
        )
        .await
    }

    /// Checks the reply to BEGIN. If it failed, no statement may follow.
    async fn check_begun(&mut self) -> Result<(), StoreError> {
        match self.begin_reply.take() {
            Some(answer) => Ok(answer.try_for_each(|_| async { Ok(()) }).await?),
            None => Ok(()),
        }
    }

    async fn track_failure<T>(&mut self, done: Result<T, StoreError>) -> Result<T, StoreError> {
        let checked = self.check_begun().await.and(done);
        self.failed |= checked.is_err();
        checked
    }
}

fn is_lost_connection(error: &DbError) -> bool {
    error.code().code().starts_with("08")
}

fn no_seq() -> StoreError {
    StoreError::Corrupt("an INSERT returned no seq".to_owned())
}

impl Drop for PgTransaction<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            drop(Object::take(connection));
        }
    }
}

impl Exec for PgTransaction<'_> {
    const DIALECT: &'static Dialect = &dialect::POSTGRES;

    async fn exec(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        let done = self.execute(sql, params).await;
        self.track_failure(done).await
    }

    async fn insert(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<i64, StoreError> {
        let done = self.query(sql, StatementShape::ReturningSeq, params).await;
        self.track_failure(done).await?.first_mut().ok_or_else(no_seq)?.int(0)
    }

    async fn rows(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        let done = self.query(sql, StatementShape::AsIs, params).await;
        self.track_failure(done).await
    }

    async fn batch(&mut self, steps: &[BatchStatement<'_>]) -> Result<Vec<i64>, StoreError> {
        self.check_begun().await?;
        let done = self.steps(steps).await;
        self.track_failure(done).await
    }
}

//! One operation's turn on a connection, and how statements run in it.

use std::pin::Pin;
use std::time::Duration;

use countersign_protocol::time::Timestamp;
use deadpool_postgres::Object;
use futures_util::TryStreamExt;
use futures_util::future::try_join_all;
use tokio::time::timeout;
use tokio_postgres::error::DbError;
use tokio_postgres::{SimpleQueryMessage, SimpleQueryStream, Statement};

use super::texts::{Shape, Texts};
use super::values;
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Param, Row, Step};
use crate::ops::dialect::{self, Dialect};

/// Named although it is the default: an operator may have made another one the default of the database.
const WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
/// One snapshot for the whole operation.
const READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
const SCAN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '30s'";
/// Cut to the millisecond: the cast alone would round up, into the future.
const TIME: &str = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const COMMIT_PATIENCE: Duration = Duration::from_secs(10);
const UNDO_PATIENCE: Duration = Duration::from_secs(2);

/// A connection that is given back only when its transaction has ended. Cut off before that, the connection is closed
/// with it: the next one to get it would otherwise continue a stranger's transaction.
pub struct Turn<'e> {
    connection: Option<Object>,
    texts: &'e Texts,
    /// What the database says to the beginning, which nobody has looked at yet.
    begun: Option<Pin<Box<SimpleQueryStream>>>,
    /// PostgreSQL answers the COMMIT of a transaction that failed with a polite ROLLBACK, so it must not be asked.
    failed: bool,
}

impl<'e> Turn<'e> {
    pub fn new(connection: Object, texts: &'e Texts) -> Self {
        Self {
            connection: Some(connection),
            texts,
            begun: None,
            failed: false,
        }
    }

    /// Nothing that was said on it since it began can have been committed.
    pub fn is_broken(&self) -> bool {
        self.connection.as_ref().is_none_or(|connection| connection.is_closed())
    }

    /// On its way when this returns, and the first statement goes right behind it.
    pub async fn begin(&mut self, mode: Mode) -> Result<(), StoreError> {
        let begin = match mode {
            Mode::Write | Mode::Note => WRITE,
            Mode::Read => READ,
            Mode::Scan => SCAN,
        };
        self.begun = Some(Box::pin(self.connection()?.simple_query_raw(begin).await?));
        Ok(())
    }

    pub async fn begin_writing_and_tell_time(&self) -> Result<Timestamp, StoreError> {
        let both = format!("{WRITE}; {TIME}");
        let answers = self.connection()?.simple_query(&both).await?;
        let told = answers.iter().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
            _ => None,
        });
        told.map(Timestamp::from_millis)
            .ok_or_else(|| StoreError::Corrupt("the database has no time".to_owned()))
    }

    /// As `commit`, without waiting for it. If it cannot even be said, the connection is closed.
    pub async fn end(mut self) {
        let said = match self.connection() {
            Ok(connection) => connection.simple_query_raw("END").await.is_ok(),
            Err(_) => false,
        };
        if said {
            self.give_back();
        }
    }

    pub async fn commit(mut self) -> Result<(), StoreError> {
        if self.failed {
            self.undo().await;
            return Err(StoreError::Corrupt(
                "an operation went on after its statement had failed".to_owned(),
            ));
        }
        let committed = self.connection()?.batch_execute("COMMIT");
        match timeout(COMMIT_PATIENCE, committed).await {
            Ok(Ok(())) => {
                self.give_back();
                Ok(())
            }
            // The database says no: then nothing of it is there. What stands in between may only say that it lost it.
            Ok(Err(error)) if error.as_db_error().is_some_and(|error| !is_lost_connection(error)) => Err(error.into()),
            Ok(Err(error)) => Err(StoreError::Unsure(error.to_string())),
            Err(_elapsed) => Err(StoreError::Unsure("it did not answer in time".to_owned())),
        }
    }

    /// If not even that works, the connection is closed, which undoes it too.
    pub async fn undo(mut self) {
        let undone = match self.connection() {
            Ok(connection) => matches!(
                timeout(UNDO_PATIENCE, connection.batch_execute("ROLLBACK")).await,
                Ok(Ok(()))
            ),
            Err(_) => false,
        };
        if undone {
            self.give_back();
        }
    }

    fn give_back(&mut self) {
        drop(self.connection.take());
    }

    fn connection(&self) -> Result<&Object, StoreError> {
        self.connection
            .as_ref()
            .ok_or_else(|| StoreError::Corrupt("a turn that is over".to_owned()))
    }

    async fn statement(&self, sql: &'static str, shape: Shape) -> Result<(&Object, Statement), StoreError> {
        let connection = self.connection()?;
        Ok((
            connection,
            connection.prepare_cached(&self.texts.get(sql, shape)).await?,
        ))
    }

    async fn change(&self, sql: &'static str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        let (connection, statement) = self.statement(sql, Shape::AsIs).await?;
        Ok(connection.execute_raw(&statement, params.iter().copied()).await?)
    }

    async fn query(&self, sql: &'static str, shape: Shape, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        let (connection, statement) = self.statement(sql, shape).await?;
        let found: Vec<_> = connection
            .query_raw(&statement, params.iter().copied())
            .await?
            .try_collect()
            .await?;
        found.iter().map(values::owned).collect()
    }

    async fn step(&self, statement: &Statement, step: &Step<'_>) -> Result<i64, StoreError> {
        let is_sent = |param: &Param<'_>| !matches!(param, Param::SeqIn(_));
        let params: Vec<_> = step.params.iter().copied().filter(is_sent).collect();
        let connection = self.connection()?;
        if step.into.is_none() {
            let changed = connection.execute_raw(statement, params).await?;
            return Ok(i64::try_from(changed).unwrap_or(i64::MAX));
        }
        let rows: Vec<_> = connection.query_raw(statement, params).await?.try_collect().await?;
        Ok(rows.first().ok_or_else(no_place)?.try_get(0)?)
    }

    /// They are all sent before the first is answered: each is sent when it is first polled, in this order.
    async fn steps(&self, steps: &[Step<'_>]) -> Result<Vec<i64>, StoreError> {
        let mut statements = Vec::with_capacity(steps.len());
        for step in steps {
            statements.push(self.connection()?.prepare_cached(&self.texts.of_step(step)).await?);
        }
        try_join_all(
            statements
                .iter()
                .zip(steps)
                .map(|(statement, step)| self.step(statement, step)),
        )
        .await
    }

    /// If the transaction has not begun, nothing may follow.
    async fn has_begun(&mut self) -> Result<(), StoreError> {
        match self.begun.take() {
            Some(answer) => Ok(answer.try_for_each(|_| async { Ok(()) }).await?),
            None => Ok(()),
        }
    }

    async fn noted<T>(&mut self, done: Result<T, StoreError>) -> Result<T, StoreError> {
        let noted = self.has_begun().await.and(done);
        self.failed |= noted.is_err();
        noted
    }
}

fn is_lost_connection(error: &DbError) -> bool {
    error.code().code().starts_with("08")
}

fn no_place() -> StoreError {
    StoreError::Corrupt("a row was inserted that has no place".to_owned())
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            drop(Object::take(connection));
        }
    }
}

impl Exec for Turn<'_> {
    const DIALECT: &'static Dialect = &dialect::POSTGRES;

    async fn exec(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        let done = self.change(sql, params).await;
        self.noted(done).await
    }

    async fn insert(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<i64, StoreError> {
        let done = self.query(sql, Shape::GivingSeq, params).await;
        self.noted(done).await?.first_mut().ok_or_else(no_place)?.int(0)
    }

    async fn rows(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        let done = self.query(sql, Shape::AsIs, params).await;
        self.noted(done).await
    }

    async fn together(&mut self, steps: &[Step<'_>]) -> Result<Vec<i64>, StoreError> {
        self.has_begun().await?;
        let done = self.steps(steps).await;
        self.noted(done).await
    }
}

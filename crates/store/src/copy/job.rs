//! One copy job from start to end.

use super::checksum::TableChecksum;
use super::endpoints::{BatchSize, CopySource, CopyTarget};
use super::error::CopyError;
use super::location::StoreLocation;
use super::marker::CopyMarker;
use super::postgres::PostgresSide;
use super::progress::{CopyProgress, CopyStage};
use super::read_table::{check_rows, checksum};
use super::report::{CopyReport, TableComparison};
use super::sqlite::SqliteSide;
use super::table::{TableSchema, difference, keyless};
use crate::error::StoreError;
use crate::migrations::SCHEMA_VERSION;

/// Copies everything from one store to another, or resumes an interrupted copy of the same content. An interruption at
/// any point leaves the source unchanged and the target marked.
pub async fn copy(
    from: &StoreLocation,
    to: &StoreLocation,
    batch_size: BatchSize,
    on_progress: impl FnMut(CopyProgress<'_>),
) -> Result<CopyReport, CopyError> {
    match from {
        StoreLocation::File(file) if !file.is_file() => Err(CopyError::NoStore {
            location: from.to_string(),
        }),
        StoreLocation::File(file) => {
            let source = SqliteSide::open_source(file).map_err(|error| from.store_error(error))?;
            copy_from(source, from, to, batch_size, on_progress).await
        }
        StoreLocation::Database(database) => {
            let source = PostgresSide::connect(&database.config)
                .await
                .map_err(|error| from.store_error(error))?;
            copy_from(source, from, to, batch_size, on_progress).await
        }
    }
}

/// Checks the source before it touches the target.
async fn copy_from<S: CopySource>(
    mut source: S,
    from: &StoreLocation,
    to: &StoreLocation,
    batch_size: BatchSize,
    on_progress: impl FnMut(CopyProgress<'_>),
) -> Result<CopyReport, CopyError> {
    check_source(&mut source, from).await?;
    match to {
        StoreLocation::File(file) => {
            let target = SqliteSide::open_target(file).map_err(|error| to.store_error(error))?;
            CopyJob {
                source,
                target,
                from,
                to,
                batch_size,
                on_progress,
            }
            .run()
            .await
        }
        StoreLocation::Database(database) => {
            let target = PostgresSide::connect(&database.config)
                .await
                .map_err(|error| to.store_error(error))?;
            CopyJob {
                source,
                target,
                from,
                to,
                batch_size,
                on_progress,
            }
            .run()
            .await
        }
    }
}

async fn check_source<S: CopySource>(source: &mut S, from: &StoreLocation) -> Result<(), CopyError> {
    let location = from.to_string();
    let known = SCHEMA_VERSION;
    match source.version().await.map_err(|error| from.store_error(error))? {
        None => return Err(CopyError::NoStore { location }),
        Some(found) if found > known => return Err(from.store_error(StoreError::NewerSchema { found, known })),
        Some(found) if found < known => return Err(CopyError::OlderSchema { location, found, known }),
        Some(_) => {}
    }
    if let Some(mark) = source.marker().await.map_err(|error| from.store_error(error))? {
        return Err(CopyError::UnfinishedSource {
            location,
            of: mark.source_name,
        });
    }
    refuse_hubs(source, from).await
}

async fn refuse_hubs<S: CopySource>(side: &mut S, location: &StoreLocation) -> Result<(), CopyError> {
    match side.running_hubs().await.map_err(|error| location.store_error(error))? {
        None => Ok(()),
        Some(sign) => Err(CopyError::HubRunning {
            location: location.to_string(),
            sign,
        }),
    }
}

impl StoreLocation {
    pub(super) fn store_error(&self, error: StoreError) -> CopyError {
        CopyError::Store {
            location: self.to_string(),
            error,
        }
    }
}

struct CopyJob<'p, S, T, F> {
    source: S,
    target: T,
    from: &'p StoreLocation,
    to: &'p StoreLocation,
    batch_size: BatchSize,
    on_progress: F,
}

impl<S: CopySource, T: CopyTarget, F: FnMut(CopyProgress<'_>)> CopyJob<'_, S, T, F> {
    async fn run(mut self) -> Result<CopyReport, CopyError> {
        let earlier = self.check_target().await?;
        let tables = self.read_source().await?;
        let numbers = self
            .source
            .numbers()
            .await
            .map_err(|error| self.from.store_error(error))?;
        let mark =
            CopyMarker::of(self.from.to_string(), &tables, &numbers).map_err(|error| self.from.store_error(error))?;
        let resumed = self.prepare_target(earlier, &mark, &tables).await?;
        for (table, sum) in &tables {
            self.transfer(table, sum.rows).await?;
        }
        self.target
            .advance_sequences(&numbers)
            .await
            .map_err(|error| self.to.store_error(error))?;
        let report = CopyReport {
            tables: self.compare(tables).await?,
            resumed,
        };
        if report.is_same() {
            self.target
                .optimize()
                .await
                .map_err(|error| self.to.store_error(error))?;
            // Last: the copy counts as finished once the marker is gone.
            self.target
                .remove_marker()
                .await
                .map_err(|error| self.to.store_error(error))?;
        }
        Ok(report)
    }

    /// Checks the target before the source is read in full. Returns the marker of an unfinished copy, if there is one.
    async fn check_target(&mut self) -> Result<Option<CopyMarker>, CopyError> {
        let location = self.to.to_string();
        if !self.target.lock().await.map_err(|error| self.to.store_error(error))? {
            return Err(CopyError::CopyInProgress { location });
        }
        refuse_hubs(&mut self.target, self.to).await?;
        let found = self
            .target
            .version()
            .await
            .map_err(|error| self.to.store_error(error))?;
        if let Some(found) = found.filter(|found| *found > SCHEMA_VERSION) {
            return Err(self.to.store_error(StoreError::NewerSchema {
                found,
                known: SCHEMA_VERSION,
            }));
        }
        if let Some(mark) = self.target.marker().await.map_err(|error| self.to.store_error(error))? {
            return Ok(Some(mark));
        }
        for table in self.target.tables().await.map_err(|error| self.to.store_error(error))? {
            if self
                .target
                .count(&table)
                .await
                .map_err(|error| self.to.store_error(error))?
                > 0
            {
                return Err(CopyError::NotEmpty {
                    location,
                    table: table.name,
                });
            }
        }
        Ok(None)
    }

    async fn read_source(&mut self) -> Result<Vec<(TableSchema, TableChecksum)>, CopyError> {
        let tables = self
            .source
            .tables()
            .await
            .map_err(|error| self.from.store_error(error))?;
        if let Some(difference) = keyless(&tables) {
            return Err(CopyError::Tables(difference));
        }
        self.source
            .lock_and_snapshot(&tables)
            .await
            .map_err(|error| self.from.store_error(error))?;
        let mut summed = Vec::with_capacity(tables.len());
        for table in tables {
            let from = self.from;
            let on_progress = &mut self.on_progress;
            let each = |rows: &[_], count| {
                on_progress(CopyProgress {
                    stage: CopyStage::Reading,
                    table: &table.name,
                    rows: count,
                    of: None,
                    is_done: false,
                });
                check_rows(from, &table, rows, T::ALLOWS_NUL)
            };
            let sum = checksum(&mut self.source, from, &table, self.batch_size, each).await?;
            self.done(CopyStage::Reading, &table, sum.rows);
            summed.push((table, sum));
        }
        Ok(summed)
    }

    /// Returns whether an earlier copy is resumed.
    async fn prepare_target(
        &mut self,
        earlier: Option<CopyMarker>,
        mark: &CopyMarker,
        tables: &[(TableSchema, TableChecksum)],
    ) -> Result<bool, CopyError> {
        if let Some(earlier) = earlier {
            if earlier.content != mark.content {
                return Err(CopyError::OtherCopy {
                    location: self.to.to_string(),
                    of: earlier.source_name,
                });
            }
            self.refuse_other_tables(tables).await?;
            return Ok(true);
        }
        self.target
            .migrate()
            .await
            .map_err(|error| self.to.store_error(error))?;
        self.refuse_other_tables(tables).await?;
        self.target
            .set_marker(mark)
            .await
            .map_err(|error| self.to.store_error(error))?;
        // Again, for a hub that started while the source was read: from here on none can start.
        if let Err(error) = refuse_hubs(&mut self.target, self.to).await {
            self.target
                .remove_marker()
                .await
                .map_err(|error| self.to.store_error(error))?;
            return Err(error);
        }
        Ok(false)
    }

    async fn refuse_other_tables(&mut self, tables: &[(TableSchema, TableChecksum)]) -> Result<(), CopyError> {
        let wanted: Vec<TableSchema> = tables.iter().map(|(table, _)| table.clone()).collect();
        let found = self.target.tables().await.map_err(|error| self.to.store_error(error))?;
        difference(&wanted, &found).map_or(Ok(()), |difference| Err(CopyError::Tables(difference)))
    }

    async fn transfer(&mut self, table: &TableSchema, of: u64) -> Result<(), CopyError> {
        let after = self
            .target
            .last_key(table)
            .await
            .map_err(|error| self.to.store_error(error))?;
        let mut rows = self
            .target
            .count(table)
            .await
            .map_err(|error| self.to.store_error(error))?;
        self.source
            .start_reading(table, after)
            .await
            .map_err(|error| self.from.store_error(error))?;
        loop {
            let next = self
                .source
                .next_rows(self.batch_size)
                .await
                .map_err(|error| self.from.store_error(error))?;
            if next.is_empty() {
                self.done(CopyStage::Copying, table, of);
                return Ok(());
            }
            self.target
                .insert(table, &next)
                .await
                .map_err(|error| self.to.store_error(error))?;
            rows += next.len() as u64;
            let stage = CopyStage::Copying;
            let table = &*table.name;
            (self.on_progress)(CopyProgress {
                stage,
                table,
                rows,
                of: Some(of),
                is_done: false,
            });
            // Between two SQLite files nothing ever awaits, and a cancelled caller would never be polled.
            tokio::task::yield_now().await;
        }
    }

    async fn compare(&mut self, tables: Vec<(TableSchema, TableChecksum)>) -> Result<Vec<TableComparison>, CopyError> {
        let mut compared = Vec::with_capacity(tables.len());
        for (table, source) in tables {
            let on_progress = &mut self.on_progress;
            let each = |_: &[_], rows| {
                let stage = CopyStage::Checking;
                let of = Some(source.rows);
                on_progress(CopyProgress {
                    stage,
                    table: &table.name,
                    rows,
                    of,
                    is_done: false,
                });
                Ok(())
            };
            let target = checksum(&mut self.target, self.to, &table, self.batch_size, each).await?;
            self.done(CopyStage::Checking, &table, source.rows);
            compared.push(TableComparison {
                table: table.name,
                source,
                target,
            });
        }
        Ok(compared)
    }

    fn done(&mut self, stage: CopyStage, table: &TableSchema, rows: u64) {
        (self.on_progress)(CopyProgress {
            stage,
            table: &table.name,
            rows,
            of: Some(rows),
            is_done: true,
        });
    }
}

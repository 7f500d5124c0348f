//! One copy from start to end.

use super::error::CopyError;
use super::mark::Mark;
use super::place::Place;
use super::postgres::PostgresSide;
use super::progress::{Progress, Stage};
use super::reading::{check, sum_up};
use super::report::{Compared, Report};
use super::side::{Portion, Source, Target};
use super::sqlite::SqliteSide;
use super::sum::Sum;
use super::table::{Table, difference, keyless};
use crate::error::StoreError;
use crate::migrations::SCHEMA_VERSION;

/// Copies everything from one store to another, or goes on with a copy of the same that was cut off. Cut off at any
/// moment, it leaves the source as it was and the target marked.
pub async fn copy(
    from: &Place,
    to: &Place,
    portion: Portion,
    tell: impl FnMut(Progress<'_>),
) -> Result<Report, CopyError> {
    match from {
        Place::File(file) if !file.is_file() => Err(CopyError::NoStore {
            place: from.to_string(),
        }),
        Place::File(file) => {
            let source = SqliteSide::open_source(file).map_err(|error| from.refused(error))?;
            onwards(source, from, to, portion, tell).await
        }
        Place::Database(database) => {
            let source = PostgresSide::connect(&database.config)
                .await
                .map_err(|error| from.refused(error))?;
            onwards(source, from, to, portion, tell).await
        }
    }
}

/// The target is touched only when the source is known to be good.
async fn onwards<S: Source>(
    mut source: S,
    from: &Place,
    to: &Place,
    portion: Portion,
    tell: impl FnMut(Progress<'_>),
) -> Result<Report, CopyError> {
    check_source(&mut source, from).await?;
    match to {
        Place::File(file) => {
            let target = SqliteSide::open_target(file).map_err(|error| to.refused(error))?;
            Job {
                source,
                target,
                from,
                to,
                portion,
                tell,
            }
            .run()
            .await
        }
        Place::Database(database) => {
            let target = PostgresSide::connect(&database.config)
                .await
                .map_err(|error| to.refused(error))?;
            Job {
                source,
                target,
                from,
                to,
                portion,
                tell,
            }
            .run()
            .await
        }
    }
}

async fn check_source<S: Source>(source: &mut S, from: &Place) -> Result<(), CopyError> {
    let place = from.to_string();
    let known = SCHEMA_VERSION;
    match source.version().await.map_err(|error| from.refused(error))? {
        None => return Err(CopyError::NoStore { place }),
        Some(found) if found > known => return Err(from.refused(StoreError::NewerSchema { found, known })),
        Some(found) if found < known => return Err(CopyError::OlderSchema { place, found, known }),
        Some(_) => {}
    }
    if let Some(mark) = source.mark().await.map_err(|error| from.refused(error))? {
        return Err(CopyError::HalfCopiedSource {
            place,
            of: mark.source_name,
        });
    }
    refuse_hubs(source, from).await
}

async fn refuse_hubs<S: Source>(side: &mut S, place: &Place) -> Result<(), CopyError> {
    match side.hubs_at_work().await.map_err(|error| place.refused(error))? {
        None => Ok(()),
        Some(sign) => Err(CopyError::HubAtWork {
            place: place.to_string(),
            sign,
        }),
    }
}

impl Place {
    pub(super) fn refused(&self, error: StoreError) -> CopyError {
        CopyError::Store {
            place: self.to_string(),
            error,
        }
    }
}

struct Job<'p, S, T, F> {
    source: S,
    target: T,
    from: &'p Place,
    to: &'p Place,
    portion: Portion,
    tell: F,
}

impl<S: Source, T: Target, F: FnMut(Progress<'_>)> Job<'_, S, T, F> {
    async fn run(mut self) -> Result<Report, CopyError> {
        let earlier = self.look_at_target().await?;
        let tables = self.read_source().await?;
        let numbers = self.source.numbers().await.map_err(|error| self.from.refused(error))?;
        let mark = Mark::of(self.from.to_string(), &tables, &numbers).map_err(|error| self.from.refused(error))?;
        let resumed = self.prepare_target(earlier, &mark, &tables).await?;
        for (table, sum) in &tables {
            self.carry(table, sum.rows).await?;
        }
        self.target
            .go_on_after(&numbers)
            .await
            .map_err(|error| self.to.refused(error))?;
        let report = Report {
            tables: self.compare(tables).await?,
            resumed,
        };
        if report.is_same() {
            self.target.settle().await.map_err(|error| self.to.refused(error))?;
            // Last of all: without it the copy is finished, whatever happens then.
            self.target
                .remove_mark()
                .await
                .map_err(|error| self.to.refused(error))?;
        }
        Ok(report)
    }

    /// Whether it can be copied to at all, before the source is read at length. Says which copy it holds already.
    async fn look_at_target(&mut self) -> Result<Option<Mark>, CopyError> {
        let place = self.to.to_string();
        if !self.target.take().await.map_err(|error| self.to.refused(error))? {
            return Err(CopyError::CopyUnderWay { place });
        }
        refuse_hubs(&mut self.target, self.to).await?;
        let found = self.target.version().await.map_err(|error| self.to.refused(error))?;
        if let Some(found) = found.filter(|found| *found > SCHEMA_VERSION) {
            return Err(self.to.refused(StoreError::NewerSchema {
                found,
                known: SCHEMA_VERSION,
            }));
        }
        if let Some(mark) = self.target.mark().await.map_err(|error| self.to.refused(error))? {
            return Ok(Some(mark));
        }
        for table in self.target.tables().await.map_err(|error| self.to.refused(error))? {
            if self
                .target
                .count(&table)
                .await
                .map_err(|error| self.to.refused(error))?
                > 0
            {
                return Err(CopyError::NotEmpty {
                    place,
                    table: table.name,
                });
            }
        }
        Ok(None)
    }

    async fn read_source(&mut self) -> Result<Vec<(Table, Sum)>, CopyError> {
        let tables = self.source.tables().await.map_err(|error| self.from.refused(error))?;
        if let Some(difference) = keyless(&tables) {
            return Err(CopyError::Tables(difference));
        }
        self.source
            .hold(&tables)
            .await
            .map_err(|error| self.from.refused(error))?;
        let mut summed = Vec::with_capacity(tables.len());
        for table in tables {
            let from = self.from;
            let tell = &mut self.tell;
            let each = |rows: &[_], count| {
                tell(Progress {
                    stage: Stage::Reading,
                    table: &table.name,
                    rows: count,
                    of: None,
                    is_done: false,
                });
                check(from, &table, rows, T::TAKES_NUL)
            };
            let sum = sum_up(&mut self.source, from, &table, self.portion, each).await?;
            self.done(Stage::Reading, &table, sum.rows);
            summed.push((table, sum));
        }
        Ok(summed)
    }

    /// Says whether an earlier copy goes on.
    async fn prepare_target(
        &mut self,
        earlier: Option<Mark>,
        mark: &Mark,
        tables: &[(Table, Sum)],
    ) -> Result<bool, CopyError> {
        if let Some(earlier) = earlier {
            if earlier.content != mark.content {
                return Err(CopyError::AnotherCopy {
                    place: self.to.to_string(),
                    of: earlier.source_name,
                });
            }
            self.refuse_other_tables(tables).await?;
            return Ok(true);
        }
        self.target.migrate().await.map_err(|error| self.to.refused(error))?;
        self.refuse_other_tables(tables).await?;
        self.target
            .put_mark(mark)
            .await
            .map_err(|error| self.to.refused(error))?;
        // Again, for one that started while the source was read: from here on none can.
        if let Err(refused) = refuse_hubs(&mut self.target, self.to).await {
            self.target
                .remove_mark()
                .await
                .map_err(|error| self.to.refused(error))?;
            return Err(refused);
        }
        Ok(false)
    }

    async fn refuse_other_tables(&mut self, tables: &[(Table, Sum)]) -> Result<(), CopyError> {
        let wanted: Vec<Table> = tables.iter().map(|(table, _)| table.clone()).collect();
        let found = self.target.tables().await.map_err(|error| self.to.refused(error))?;
        difference(&wanted, &found).map_or(Ok(()), |difference| Err(CopyError::Tables(difference)))
    }

    async fn carry(&mut self, table: &Table, of: u64) -> Result<(), CopyError> {
        let after = self
            .target
            .last_key(table)
            .await
            .map_err(|error| self.to.refused(error))?;
        let mut rows = self.target.count(table).await.map_err(|error| self.to.refused(error))?;
        self.source
            .start_reading(table, after)
            .await
            .map_err(|error| self.from.refused(error))?;
        loop {
            let next = self
                .source
                .next_rows(self.portion)
                .await
                .map_err(|error| self.from.refused(error))?;
            if next.is_empty() {
                self.done(Stage::Copying, table, of);
                return Ok(());
            }
            self.target
                .insert(table, &next)
                .await
                .map_err(|error| self.to.refused(error))?;
            rows += next.len() as u64;
            let stage = Stage::Copying;
            let table = &*table.name;
            (self.tell)(Progress {
                stage,
                table,
                rows,
                of: Some(of),
                is_done: false,
            });
            // Between two files nothing ever waits, and a caller that has given up would not get its turn.
            tokio::task::yield_now().await;
        }
    }

    async fn compare(&mut self, tables: Vec<(Table, Sum)>) -> Result<Vec<Compared>, CopyError> {
        let mut compared = Vec::with_capacity(tables.len());
        for (table, source) in tables {
            let tell = &mut self.tell;
            let each = |_: &[_], rows| {
                let stage = Stage::Checking;
                let of = Some(source.rows);
                tell(Progress {
                    stage,
                    table: &table.name,
                    rows,
                    of,
                    is_done: false,
                });
                Ok(())
            };
            let target = sum_up(&mut self.target, self.to, &table, self.portion, each).await?;
            self.done(Stage::Checking, &table, source.rows);
            compared.push(Compared {
                table: table.name,
                source,
                target,
            });
        }
        Ok(compared)
    }

    fn done(&mut self, stage: Stage, table: &Table, rows: u64) {
        (self.tell)(Progress {
            stage,
            table: &table.name,
            rows,
            of: Some(rows),
            is_done: true,
        });
    }
}

//! The runs that are known, by their latest segment.

use countersign_core::Digest;
use countersign_protocol::time::Timestamp;

use super::model::{RunPage, RunPlace};
use super::read::{self, select_runs};
use super::text::plain;
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};

/// The latest to start first; of one directory if it is named.
pub struct ListRuns {
    pub cwd: Option<String>,
    pub before: Option<RunPlace>,
    pub limit: i64,
}

impl Op for ListRuns {
    type Out = RunPage;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<RunPage, StoreError> {
        const ALL: &str = select_runs!(
            "",
            "WHERE (r.started_at, r.seq) < (?1, ?2) ORDER BY r.started_at DESC, r.seq DESC LIMIT ?3"
        );
        const OF_CWD: &str = select_runs!(
            "",
            "WHERE r.cwd_sha256 = ?4 AND (r.started_at, r.seq) < (?1, ?2) \
             ORDER BY r.started_at DESC, r.seq DESC LIMIT ?3"
        );
        let (started_at, seq) = self
            .before
            .map_or((i64::MAX, i64::MAX), |place| (place.started_at.as_millis(), place.seq));
        // One more than is shown tells whether there is a next page.
        let asked = [started_at.into(), seq.into(), self.limit.saturating_add(1).into()];
        let found = match &self.cwd {
            Some(cwd) => {
                let [started_at, seq, limit] = asked;
                x.rows(
                    OF_CWD,
                    &[started_at, seq, limit, (&Digest::of(plain(cwd).as_bytes())).into()],
                )
                .await?
            }
            None => x.rows(ALL, &asked).await?,
        };
        let mut runs = found
            .into_iter()
            .map(|mut row| read::summary(&mut row))
            .collect::<Result<Vec<_>, _>>()?;
        let limit = usize::try_from(self.limit).unwrap_or(0);
        let has_more = runs.len() > limit;
        runs.truncate(limit);
        let next = runs.last().filter(|_| has_more).map(super::RunSummary::place);
        Ok(RunPage { runs, next })
    }
}

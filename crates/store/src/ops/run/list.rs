//! Lists runs by their latest segment.

use countersign_core::Digest;
use countersign_protocol::time::Timestamp;

use super::convert::without_nul;
use super::model::{RunCursor, RunSummaryPage};
use super::read::{self, select_runs};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::ops::rows;

/// The latest started first; of one working directory, if given.
pub struct ListRuns {
    pub cwd: Option<String>,
    pub before: Option<RunCursor>,
    pub limit: i64,
}

impl Op for ListRuns {
    type Out = RunSummaryPage;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<RunSummaryPage, StoreError> {
        const ALL: &str = select_runs!(
            "",
            "WHERE (r.started_at, r.seq) < (?1, ?2) ORDER BY r.started_at DESC, r.seq DESC LIMIT ?3"
        );
        const OF_CWD: &str = select_runs!(
            "",
            "WHERE r.cwd_sha256 = ?4 AND (r.started_at, r.seq) < (?1, ?2) \
             ORDER BY r.started_at DESC, r.seq DESC LIMIT ?3"
        );
        let (started_at, seq) = self.before.map_or((i64::MAX, i64::MAX), |cursor| {
            (cursor.started_at.as_millis(), cursor.seq)
        });
        // One more row than shown tells whether there is a next page.
        let asked = [started_at.into(), seq.into(), self.limit.saturating_add(1).into()];
        let mut found = match &self.cwd {
            Some(cwd) => {
                let [started_at, seq, limit] = asked;
                x.rows(
                    OF_CWD,
                    &[
                        started_at,
                        seq,
                        limit,
                        (&Digest::of(without_nul(cwd).as_bytes())).into(),
                    ],
                )
                .await?
            }
            None => x.rows(ALL, &asked).await?,
        };
        let limit = usize::try_from(self.limit).unwrap_or(0);
        let has_more = found.len() > limit;
        found.truncate(limit);
        let next = found.last_mut().filter(|_| has_more).map(read::cursor).transpose()?;
        let runs = rows::readable(found, "run", read::summary)?;
        Ok(RunSummaryPage { runs, next })
    }
}

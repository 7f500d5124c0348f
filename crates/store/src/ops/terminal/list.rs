//! Terminal agents as people see them.

use countersign_core::hap::Terminal;
use countersign_protocol::time::Timestamp;

use super::model::TerminalSummary;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row};
use crate::ops::agent::names;
use crate::ops::rows;

/// The columns that `summary` reads. `$which` filters the terminals before the subqueries run.
macro_rules! select_terminals {
    ($which:literal) => {
        concat!(
            "SELECT w.agent_id, w.runtime, w.project_dir, w.terminal, w.person, w.joined_at, w.seen_at, w.open, \
             (SELECT CASE WHEN m.purged_at IS NULL THEN m.id END FROM message m WHERE m.agent_id = w.agent_id \
             ORDER BY m.seq DESC LIMIT 1), (SELECT COUNT(*) FROM ahead h WHERE h.agent_id = w.agent_id), \
             w.name, w.runtime, w.project_dir, w.number \
             FROM (SELECT t.agent_id, t.runtime, t.project_dir, t.terminal, t.person, t.joined_at, a.seen_at, a.open, a.name, \
             t.number, COALESCE(a.seen_at, t.joined_at) AS active_at FROM terminal t JOIN agent a ON a.id = t.agent_id ",
            $which,
            ") AS w ORDER BY w.active_at DESC, w.agent_id"
        )
    };
}

/// The most recently active first.
pub struct ListTerminals {
    pub limit: i64,
}

impl Op for ListTerminals {
    type Out = Vec<TerminalSummary>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<TerminalSummary>, StoreError> {
        const SELECT: &str = select_terminals!("ORDER BY active_at DESC, t.agent_id LIMIT ?1");
        let found = x.rows(SELECT, &[self.limit.into()]).await?;
        rows::readable(found, "terminal", summary)
    }
}

pub struct TerminalOf {
    pub agent_id: String,
}

impl Op for TerminalOf {
    type Out = Option<TerminalSummary>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<TerminalSummary>, StoreError> {
        const SELECT: &str = select_terminals!("WHERE t.agent_id = ?1");
        let found = x.row(SELECT, &[(&self.agent_id).into()]).await?;
        found.map(|mut row| summary(&mut row)).transpose()
    }
}

fn summary(row: &mut Row) -> Result<TerminalSummary, StoreError> {
    let last_cue_id = row.peek(8).and_then(|id| rows::parse_message_id(id).ok());
    let agent_id = row.text(0)?;
    Ok(TerminalSummary {
        name: names::name(row, &agent_id, 10)?,
        terminal: Terminal {
            agent_id,
            runtime: row.text(1)?,
            project_dir: row.text(2)?,
            terminal: row.text(3)?,
        },
        person: row.text(4)?,
        joined_at: row.instant(5)?,
        seen_at: row.opt_instant(6)?,
        open: row.int(7)?,
        last_cue_id,
        ahead: row.int(9)?,
    })
}

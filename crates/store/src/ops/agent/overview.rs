use countersign_protocol::time::Timestamp;

use super::names;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row};
use crate::ops::rows;

/// An agent in the list of agents, and at the head of its page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentOverview {
    pub agent_id: String,
    /// The display name.
    pub name: String,
    /// The name given by hand.
    pub given_name: Option<String>,
    pub created_at: Timestamp,
    /// When the agent last called.
    pub seen_at: Option<Timestamp>,
    pub open: i64,
    /// The number of waiting type-ahead texts.
    pub ahead: i64,
    /// For an agent in a terminal.
    pub residence: Option<Residence>,
}

/// Where an agent in a terminal runs, and for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Residence {
    pub runtime: String,
    pub project_dir: String,
    pub terminal: String,
    /// Empty once the person has been removed.
    pub person: String,
}

/// The columns that `overview` reads. `$which` filters the agents before the subquery runs.
macro_rules! select_overviews {
    ($which:literal) => {
        concat!(
            "SELECT w.id, w.name, w.runtime, w.project_dir, w.number, w.terminal, w.person, w.created_at, w.seen_at, \
             w.open, (SELECT COUNT(*) FROM ahead h WHERE h.agent_id = w.id), w.name FROM (SELECT a.id, a.name, \
             t.runtime, t.project_dir, t.number, t.terminal, t.person, a.created_at, a.seen_at, a.open, \
             COALESCE(a.seen_at, a.created_at) AS active_at FROM agent a LEFT JOIN terminal t ON t.agent_id = a.id ",
            $which,
            ") AS w ORDER BY w.active_at DESC, w.id"
        )
    };
}

/// The most recently active first.
pub struct ListAgentOverviews {
    pub limit: i64,
}

impl Op for ListAgentOverviews {
    type Out = Vec<AgentOverview>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<AgentOverview>, StoreError> {
        const SELECT: &str = select_overviews!("ORDER BY active_at DESC, a.id LIMIT ?1");
        let found = x.rows(SELECT, &[self.limit.into()]).await?;
        rows::readable(found, "agent", overview)
    }
}

pub struct AgentOverviewOf {
    pub agent_id: String,
}

impl Op for AgentOverviewOf {
    type Out = Option<AgentOverview>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<AgentOverview>, StoreError> {
        const SELECT: &str = select_overviews!("WHERE a.id = ?1");
        let found = x.row(SELECT, &[(&self.agent_id).into()]).await?;
        found.map(|mut row| overview(&mut row)).transpose()
    }
}

fn overview(row: &mut Row) -> Result<AgentOverview, StoreError> {
    let agent_id = row.text(0)?;
    let residence = residence(row);
    Ok(AgentOverview {
        name: names::name(row, &agent_id, 1)?,
        created_at: row.instant(7)?,
        seen_at: row.opt_instant(8)?,
        open: row.int(9)?,
        ahead: row.int(10)?,
        given_name: row.opt_text(11)?,
        residence,
        agent_id,
    })
}

fn residence(row: &Row) -> Option<Residence> {
    Some(Residence {
        runtime: row.peek(2)?.to_owned(),
        project_dir: row.peek(3)?.to_owned(),
        terminal: row.peek(5)?.to_owned(),
        person: row.peek(6)?.to_owned(),
    })
}

use countersign_core::Actor;
use countersign_protocol::time::Timestamp;

use super::names;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::ops::message::audit;
use crate::ops::{row_lock, terminal};

/// Gives an agent a name, or its automatic name again. The caller has checked the text.
#[derive(Debug, Clone)]
pub struct RenameAgent {
    pub id: String,
    pub name: Option<String>,
    pub actor: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenameOutcome {
    /// The display name from now on.
    Renamed(String),
    NoSuchAgent,
    /// Another agent has this name or this id.
    Taken,
}

impl Op for RenameAgent {
    type Out = RenameOutcome;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<RenameOutcome, StoreError> {
        const UPDATE: &str = "UPDATE agent SET name = ?2 WHERE id = ?1";
        const NAME: &str = "SELECT a.name, w.runtime, w.project_dir, w.number FROM agent a \
             LEFT JOIN terminal w ON w.agent_id = a.id WHERE a.id = ?1";
        if !row_lock::agent(x, &self.id).await? {
            return Ok(RenameOutcome::NoSuchAgent);
        }
        if let Some(name) = &self.name
            && self.is_taken(x, name).await?
        {
            return Ok(RenameOutcome::Taken);
        }
        x.exec(UPDATE, &[(&self.id).into(), self.name.as_ref().into()]).await?;
        let subject = Actor::agent(&self.id);
        audit::append_operation(x, subject.as_str(), &self.actor, "agent.renamed", now).await?;
        let row = x.row(NAME, &[(&self.id).into()]).await?;
        row.map_or(Ok(RenameOutcome::NoSuchAgent), |mut row| {
            names::name(&mut row, &self.id, 0).map(RenameOutcome::Renamed)
        })
    }
}

impl RenameAgent {
    /// Two renames at the same moment may still end with one name. Ids tell the agents apart.
    async fn is_taken<X: Exec>(&self, x: &mut X, name: &String) -> Result<bool, StoreError> {
        const OTHER: &str = "SELECT 1 FROM agent WHERE id <> ?1 AND (id = ?2 OR name = ?2) LIMIT 1";
        if x.row(OTHER, &[(&self.id).into(), name.into()]).await?.is_some() {
            return Ok(true);
        }
        match terminal::person_of(x, &self.id).await? {
            Some(person) => Ok(names::taken(x, &person, &self.id).await?.contains(name)),
            None => Ok(false),
        }
    }
}

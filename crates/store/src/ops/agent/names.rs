//! Reads the display names of agents.

use std::collections::{HashMap, HashSet};

use countersign_core::agent_name::{JoinedFrom, automatic, display_name};
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Param, Row};
use crate::model::ListEntry;

/// The ids of one statement. Its text is fixed, so that it is prepared once; missing ids are empty, and no agent has an
/// empty id.
const CHUNK: usize = 8;
const NO_IDS: [Param<'static>; CHUNK] = [Param::Text(""); CHUNK];

/// Gives the entries of a list the names of their agents. An agent that was removed keeps its automatic name.
pub async fn fill<'e, X: Exec>(
    x: &mut X,
    entries: impl IntoIterator<Item = &'e mut ListEntry>,
) -> Result<(), StoreError> {
    let mut items: Vec<_> = entries.into_iter().flatten().collect();
    let ids: HashSet<String> = items.iter().map(|item| item.message.content.agent.id.clone()).collect();
    let names = read(x, &ids.into_iter().collect::<Vec<_>>()).await?;
    for item in &mut items {
        if let Some(name) = names.get(&item.message.content.agent.id) {
            item.agent_name.clone_from(name);
        }
    }
    Ok(())
}

/// The display names of agents by their ids.
pub struct AgentNames {
    pub ids: Vec<String>,
}

impl Op for AgentNames {
    type Out = HashMap<String, String>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<HashMap<String, String>, StoreError> {
        read(x, &self.ids).await
    }
}

/// The agents that have a display name besides their id, with it.
pub async fn named<X: Exec>(x: &mut X, limit: i64) -> Result<Vec<(String, String)>, StoreError> {
    const SELECT: &str = "SELECT a.id, a.name, w.runtime, w.project_dir, w.number FROM agent a \
         LEFT JOIN terminal w ON w.agent_id = a.id WHERE a.name IS NOT NULL OR w.agent_id IS NOT NULL \
         UNION ALL SELECT w.agent_id, NULL, w.runtime, w.project_dir, w.number FROM terminal w \
         WHERE NOT EXISTS (SELECT 1 FROM agent a WHERE a.id = w.agent_id) LIMIT ?1";
    let mut named = Vec::new();
    for mut row in x.rows(SELECT, &[limit.into()]).await? {
        let id = row.text(0)?;
        let name = name(&mut row, &id, 1)?;
        named.push((id, name));
    }
    Ok(named)
}

/// The names of these agents. Agents of runs have no entry.
async fn read<X: Exec>(x: &mut X, ids: &[String]) -> Result<HashMap<String, String>, StoreError> {
    const SELECT: &str = "SELECT a.id, a.name, w.runtime, w.project_dir, w.number FROM agent a \
         LEFT JOIN terminal w ON w.agent_id = a.id WHERE a.id IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
         UNION ALL SELECT w.agent_id, NULL, w.runtime, w.project_dir, w.number FROM terminal w \
         WHERE w.agent_id IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
         AND NOT EXISTS (SELECT 1 FROM agent a WHERE a.id = w.agent_id)";
    let mut names = HashMap::new();
    for chunk in ids.chunks(CHUNK) {
        let mut params = NO_IDS;
        for (param, id) in params.iter_mut().zip(chunk) {
            *param = id.into();
        }
        for mut row in x.rows(SELECT, &params).await? {
            let id = row.text(0)?;
            let name = name(&mut row, &id, 1)?;
            names.insert(id, name);
        }
    }
    Ok(names)
}

/// Reads a name from the columns name, runtime, project_dir and number, which begin at `start`.
pub fn name(row: &mut Row, id: &str, start: usize) -> Result<String, StoreError> {
    let given = row.opt_text(start)?;
    let runtime = row.opt_text(start + 1)?;
    let project_dir = row.opt_text(start + 2)?;
    let number = row.opt_int(start + 3)?;
    Ok(display_name(
        id,
        given.as_deref(),
        joined(runtime.as_deref(), project_dir.as_deref(), number),
    ))
}

fn joined<'a>(runtime: Option<&'a str>, project_dir: Option<&'a str>, number: Option<i64>) -> Option<JoinedFrom<'a>> {
    Some(JoinedFrom {
        runtime: runtime?,
        project_dir: project_dir?,
        number: number?,
    })
}

/// The names of a person's terminal agents but one, given and automatic ones: an agent may lose its given name again.
pub async fn taken<X: Exec>(x: &mut X, person: &str, except: &str) -> Result<HashSet<String>, StoreError> {
    const SELECT: &str = "SELECT a.name, w.runtime, w.project_dir, w.number FROM terminal w \
         JOIN agent a ON a.id = w.agent_id WHERE w.person = ?1 AND w.agent_id <> ?2";
    let mut names = HashSet::new();
    for mut row in x.rows(SELECT, &[person.into(), except.into()]).await? {
        names.extend(row.opt_text(0)?);
        let joined = JoinedFrom {
            runtime: &row.text(1)?,
            project_dir: &row.text(2)?,
            number: row.int(3)?,
        };
        names.extend(automatic(joined));
    }
    Ok(names)
}

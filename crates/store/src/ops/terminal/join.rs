//! Joining: how a terminal agent gets its name and its person.

use countersign_core::Actor;
use countersign_core::agent_name::free_number;
use countersign_core::hap::Terminal;
use countersign_protocol::time::Timestamp;

use super::model::{JoinOutcome, NewCue};
use super::quota::{self, TerminalQuota};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::SignatureAlg;
use crate::ops::admin::agents;
use crate::ops::agent::names;
use crate::ops::message::audit;
use crate::ops::row_lock;

/// A name that was ever used is taken, even if its agent has been removed.
pub struct JoinTerminal {
    pub terminal: Terminal,
    pub person: String,
    /// The quota of recently joined agents of the person.
    pub max_joined: i64,
}

impl Op for JoinTerminal {
    type Out = JoinOutcome;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<JoinOutcome, StoreError> {
        if audit::has_trail(x, &Actor::agent(&self.terminal.agent_id)).await? {
            return Ok(JoinOutcome::Taken);
        }
        if !quota::may_join(x, &self.person, self.max_joined, now).await? {
            return Ok(JoinOutcome::TooManyJoined);
        }
        match enroll(x, &self.terminal, &self.person, now).await? {
            Enrollment::Done => Ok(JoinOutcome::New),
            Enrollment::Taken | Enrollment::NoPerson => Ok(JoinOutcome::Taken),
        }
    }
}

/// Whether a cue may be submitted under its agent's name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CueAdmission {
    Admitted,
    NotYours,
    TooManyJoined,
    TooManyOpen,
}

/// Checks whether the person's terminals may use the agent name of the cue, and locks the agent. A new name joins here,
/// unless the cue would exceed a quota.
pub(super) async fn admit<X: Exec>(
    x: &mut X,
    cue: &NewCue,
    quota: &TerminalQuota,
    now: Timestamp,
) -> Result<CueAdmission, StoreError> {
    let id = cue.terminal.agent_id.as_str();
    let person = cue.person.as_str();
    if cue.message.agent_id != id {
        return Ok(CueAdmission::NotYours);
    }
    let is_there = row_lock::agent(x, id).await?;
    // The audit trail is read first: an agent that joins concurrently would otherwise seem known but without a person.
    let was_known = is_there || audit::has_trail(x, &Actor::agent(id)).await?;
    match person_of(x, id).await? {
        Some(whose) if whose != person => return Ok(CueAdmission::NotYours),
        Some(_) if is_there => return Ok(CueAdmission::Admitted),
        None if was_known => return Ok(CueAdmission::NotYours),
        Some(_) | None => {}
    }
    if !quota::may_join(x, person, quota.joined, now).await? {
        return Ok(CueAdmission::TooManyJoined);
    }
    if !quota::may_ask(x, person, quota.open_of_person).await? {
        return Ok(CueAdmission::TooManyOpen);
    }
    match enroll(x, &cue.terminal, person, now).await? {
        Enrollment::Done => Ok(CueAdmission::Admitted),
        Enrollment::NoPerson => Ok(CueAdmission::NotYours),
        // The agent did not exist a moment ago.
        Enrollment::Taken => Err(StoreError::Conflict),
    }
}

/// The person of a terminal agent; `None` for any other name.
pub async fn person_of<X: Exec>(x: &mut X, agent_id: &str) -> Result<Option<String>, StoreError> {
    let found = x
        .row("SELECT person FROM terminal WHERE agent_id = ?1", &[agent_id.into()])
        .await?;
    found.map(|mut row| row.text(0)).transpose()
}

#[derive(PartialEq, Eq)]
enum Enrollment {
    Done,
    Taken,
    /// The person has been removed.
    NoPerson,
}

async fn enroll<X: Exec>(
    x: &mut X,
    terminal: &Terminal,
    person: &str,
    now: Timestamp,
) -> Result<Enrollment, StoreError> {
    const ADD: &str =
        "INSERT INTO agent (id, signature_alg, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING";
    const JOIN: &str = "INSERT INTO terminal (agent_id, person, runtime, project_dir, terminal, joined_at, number) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (agent_id) DO NOTHING";
    let id = &terminal.agent_id;
    if !row_lock::person(x, person).await? {
        return Ok(Enrollment::NoPerson);
    }
    // Terminals get no pushes, so nothing is ever signed for them.
    let unused = SignatureAlg::HmacSha256.as_str();
    if x.exec(ADD, &[id.into(), unused.into(), now.into()]).await? == 0 {
        return Ok(Enrollment::Taken);
    }
    agents::count_orphaned_messages(x, id).await?;
    // The lock on the person keeps another agent from taking the same number.
    let taken = names::taken(x, person, id).await?;
    let number = free_number(&terminal.runtime, &terminal.project_dir, &taken);
    let params = [
        id.into(),
        person.into(),
        (&terminal.runtime).into(),
        (&terminal.project_dir).into(),
        (&terminal.terminal).into(),
        now.into(),
        number.into(),
    ];
    x.exec(JOIN, &params).await?;
    let actor = Actor::agent(id);
    let event = format!("agent.joined for {}", Actor::human(person));
    audit::append_operation(x, actor.as_str(), actor.as_str(), &event, now).await?;
    Ok(Enrollment::Done)
}

//! Type-ahead: a text waits for the agent's next cue and answers it, in the name of its author.

use countersign_core::{Actor, Command, Outcome, Verdict};
use countersign_protocol::time::Timestamp;

use super::join;
use super::model::{Ahead, NewCue, TypeAheadOutcome};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::{ApplyOutcome, ResolveRequest, ResolvedMessage};
use crate::ops::message::{apply, audit};
use crate::ops::row_lock;

/// The maximum number of texts that wait for one agent.
pub const MAX_AHEAD: i64 = 20;

/// The comment of such an answer: its author had not seen the question, so it must not be taken for consent.
pub const WRITTEN_AHEAD: &str = "Written before this question was asked.";

/// Stores a text of the agent's own person; no other person's text could answer. The caller has checked it by the rules
/// for a text answer.
pub struct TypeAhead {
    pub agent_id: String,
    pub person: String,
    pub text: String,
}

impl Op for TypeAhead {
    type Out = TypeAheadOutcome;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<TypeAheadOutcome, StoreError> {
        const COUNT: &str = "SELECT COUNT(*) FROM ahead WHERE agent_id = ?1";
        const INSERT: &str = "INSERT INTO ahead (agent_id, person, text, created_at) VALUES (?1, ?2, ?3, ?4)";
        let agent_id = &self.agent_id;
        if !row_lock::agent(x, agent_id).await? || join::person_of(x, agent_id).await?.as_ref() != Some(&self.person) {
            return Ok(TypeAheadOutcome::NoSuchAgent);
        }
        let waiting = x
            .row(COUNT, &[agent_id.into()])
            .await?
            .map_or(Ok(0), |mut row| row.int(0))?;
        if waiting >= MAX_AHEAD {
            return Ok(TypeAheadOutcome::TooManyTexts);
        }
        let params = [agent_id.into(), (&self.person).into(), (&self.text).into(), now.into()];
        x.insert(INSERT, &params).await.map(TypeAheadOutcome::Waiting)
    }
}

/// The waiting texts, in the order in which cues will take them.
pub struct ListAhead {
    pub agent_id: String,
}

impl Op for ListAhead {
    type Out = Vec<Ahead>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<Ahead>, StoreError> {
        const SELECT: &str =
            "SELECT seq, person, text, created_at FROM ahead WHERE agent_id = ?1 ORDER BY seq LIMIT ?2";
        let mut waiting = Vec::new();
        for mut row in x.rows(SELECT, &[(&self.agent_id).into(), MAX_AHEAD.into()]).await? {
            waiting.push(Ahead {
                id: row.int(0)?,
                agent_id: self.agent_id.clone(),
                person: row.text(1)?,
                text: row.text(2)?,
                created_at: row.instant(3)?,
            });
        }
        Ok(waiting)
    }
}

/// Only the author may delete a text. Returns whether it was still waiting.
pub struct DropAhead {
    pub agent_id: String,
    pub id: i64,
    pub actor: String,
}

impl Op for DropAhead {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const DROP: &str = "DELETE FROM ahead WHERE seq = ?1 AND agent_id = ?2 AND 'human:' || person = ?3";
        // Lock order: the agent first, as for its cues.
        row_lock::agent(x, &self.agent_id).await?;
        if x.exec(DROP, &[self.id.into(), (&self.agent_id).into(), (&self.actor).into()])
            .await?
            == 0
        {
            return Ok(false);
        }
        let subject = Actor::agent(&self.agent_id);
        audit::append_operation(x, subject.as_str(), &self.actor, "agent.ahead_dropped", now).await?;
        Ok(true)
    }
}

/// Answers a new cue with the oldest text whose author may still decide. The agent's row is locked, so no other cue
/// takes the same text. If the text is not valid for the cue, it keeps waiting and the cue stays open.
pub(super) async fn answer<X: Exec>(
    x: &mut X,
    cue: &NewCue,
    now: Timestamp,
) -> Result<Option<ResolvedMessage>, StoreError> {
    const OLDEST: &str = "SELECT h.seq, h.person, h.text FROM ahead h JOIN person p ON p.name = h.person \
         WHERE h.agent_id = ?1 AND p.role IN ('owner', 'resolver') ORDER BY h.seq LIMIT 1";
    const TAKE: &str = "DELETE FROM ahead WHERE seq = ?1";
    let Some(mut row) = x.row(OLDEST, &[(&cue.message.agent_id).into()]).await? else {
        return Ok(None);
    };
    let seq = row.int(0)?;
    let actor = Actor::human(&row.text(1)?);
    let verdict = Verdict::Wrote(row.text(2)?);
    let request = ResolveRequest {
        message_id: cue.message.id.clone(),
        command: Command::Resolve {
            actor,
            verdict,
            comment: Some(WRITTEN_AHEAD.to_owned()),
        },
        resolution_id: cue.resolution_id.clone(),
        files: Vec::new(),
    };
    match apply::apply(x, &request, now).await? {
        ApplyOutcome::Resolved(applied) => {
            if applied.resolution.outcome == Outcome::Answered {
                x.exec(TAKE, &[seq.into()]).await?;
            }
            Ok(Some(*applied))
        }
        ApplyOutcome::NotFound | ApplyOutcome::Purged | ApplyOutcome::Rejected(_) => Ok(None),
    }
}

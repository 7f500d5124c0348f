//! Finding cues for their terminals, and marking answers as collected.

use countersign_core::Message;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::model::FoundCue;
use super::{join, waits};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::AgentView;
use crate::ops::rows;

/// `None` for another person's cue and for a purged one.
pub struct FindCue {
    pub id: MessageId,
    pub person: String,
}

impl Op for FindCue {
    type Out = Option<FoundCue>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<FoundCue>, StoreError> {
        const SELECT: &str = rows::select_audited!(
            ", f.at",
            "JOIN cue c ON c.seq = m.seq JOIN terminal w ON w.agent_id = c.agent_id \
             LEFT JOIN fetched f ON f.seq = m.seq ",
            "WHERE m.id = ?1 AND w.person = ?2 AND m.purged_at IS NULL"
        );
        const COLLECTED_AT: usize = rows::AUDITED;
        let params = [self.id.as_str().into(), (&self.person).into()];
        let Some(mut row) = x.row(SELECT, &params).await? else {
            return Ok(None);
        };
        rows::check_digests(&row)?;
        let collected = row.opt_int(COLLECTED_AT)?.is_some();
        let (message, wire) = rows::message_and_wire(&mut row)?;
        let Message {
            id,
            received_at,
            expires_at,
            content,
            source,
            callback: _,
            state,
            hold: _,
            rev,
        } = message;
        let agent_id = content.agent.id.clone();
        let view = AgentView {
            id,
            agent_id,
            rev,
            received_at,
            expires_at,
            state,
            source,
            wire,
        };
        Ok(Some(FoundCue {
            view,
            content,
            collected,
        }))
    }
}

/// The newest cue of an agent that is open or uncollected, among its newest thousand.
pub struct CurrentCue {
    pub agent_id: String,
    pub person: String,
}

impl Op for CurrentCue {
    type Out = Option<MessageId>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<MessageId>, StoreError> {
        const SELECT: &str = concat!(
            "SELECT m.id FROM (SELECT seq, id, status, resolution_seq FROM message WHERE agent_id = ?1 \
             ORDER BY seq DESC LIMIT 1000) AS m JOIN cue c ON c.seq = m.seq JOIN terminal w ON w.agent_id = c.agent_id \
             LEFT JOIN fetched f ON f.seq = m.seq WHERE w.person = ?2 AND ",
            waits!(),
            " ORDER BY m.seq DESC LIMIT 1"
        );
        let found = x.row(SELECT, &[(&self.agent_id).into(), (&self.person).into()]).await?;
        found.map(|mut row| rows::message_id(&mut row, 0)).transpose()
    }
}

/// The maximum number of uncollected answers returned at once.
pub const MAX_UNCOLLECTED: i64 = 20;

/// The decided but uncollected cues of an agent, oldest first, among its newest thousand. Cues that the agent withdrew
/// are left out; a damaged cue is an error of its own. `None` if the agent is not one of the person's.
pub struct UncollectedCues {
    pub agent_id: String,
    pub person: String,
}

impl Op for UncollectedCues {
    type Out = Option<Vec<Result<FoundCue, StoreError>>>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Self::Out, StoreError> {
        const SELECT: &str = "SELECT m.id FROM (SELECT seq, id, status, resolution_seq FROM message WHERE agent_id = ?1 \
             ORDER BY seq DESC LIMIT 1000) AS m JOIN cue c ON c.seq = m.seq \
             LEFT JOIN fetched f ON f.seq = m.seq WHERE m.status IN ('answered', 'declined') \
             AND m.resolution_seq IS NOT NULL AND f.seq IS NULL ORDER BY m.seq LIMIT ?2";
        if join::person_of(x, &self.agent_id).await?.as_ref() != Some(&self.person) {
            return Ok(None);
        }
        let mut kept = Vec::new();
        for mut row in x
            .rows(SELECT, &[(&self.agent_id).into(), MAX_UNCOLLECTED.into()])
            .await?
        {
            let id = rows::message_id(&mut row, 0)?;
            let person = self.person.clone();
            match (FindCue { id, person }.run(x, now).await) {
                Err(error @ (StoreError::Unreadable(_) | StoreError::AuditBroken { .. })) => kept.push(Err(error)),
                found => kept.extend(found?.map(Ok)),
            }
        }
        Ok(Some(kept))
    }

    fn damage(kept: &Self::Out) -> Vec<StoreError> {
        let kept = kept.iter().flatten();
        kept.filter_map(|found| found.as_ref().err().cloned()).collect()
    }
}

/// The open cues of an agent, oldest first, at most the newest hundred. The scan goes backwards and stops at the
/// agent's count of open cues, so that old cues are not scanned.
pub struct OpenCues {
    pub agent_id: String,
}

impl Op for OpenCues {
    type Out = Vec<MessageId>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<MessageId>, StoreError> {
        const COUNT: &str = "SELECT open FROM agent WHERE id = ?1";
        const SELECT: &str = "SELECT m.id FROM message m JOIN cue c ON c.seq = m.seq \
             WHERE m.agent_id = ?1 AND m.status = 'open' ORDER BY m.seq DESC LIMIT ?2";
        let open = x
            .row(COUNT, &[(&self.agent_id).into()])
            .await?
            .map_or(Ok(0), |mut row| row.int(0))?;
        if open == 0 {
            return Ok(Vec::new());
        }
        let found = x
            .rows(SELECT, &[(&self.agent_id).into(), open.clamp(0, 100).into()])
            .await?;
        found
            .into_iter()
            .rev()
            .map(|mut row| rows::message_id(&mut row, 0))
            .collect()
    }
}

/// Marks an answer as collected. Returns whether this was the first time, or `None` if this person's agents have no
/// such answer.
pub struct Collect {
    pub id: MessageId,
    pub person: String,
}

impl Op for Collect {
    type Out = Option<bool>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<bool>, StoreError> {
        const FIND: &str = "SELECT m.seq FROM message m JOIN cue c ON c.seq = m.seq \
             JOIN terminal w ON w.agent_id = c.agent_id \
             WHERE m.id = ?1 AND w.person = ?2 AND m.resolution_seq IS NOT NULL";
        let found = x.row(FIND, &[self.id.as_str().into(), (&self.person).into()]).await?;
        let Some(mut row) = found else { return Ok(None) };
        collected(x, row.int(0)?, now).await.map(Some)
    }
}

/// Only the first collection of a message counts.
pub(super) async fn collected<X: Exec>(x: &mut X, seq: i64, at: Timestamp) -> Result<bool, StoreError> {
    const INSERT: &str = "INSERT INTO fetched (seq, at) VALUES (?1, ?2) ON CONFLICT (seq) DO NOTHING";
    Ok(x.exec(INSERT, &[seq.into(), at.into()]).await? == 1)
}

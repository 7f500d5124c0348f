//! Submits a cue: finds the same cue again, or creates a new one, which may supersede earlier ones and may be answered
//! at once by a type-ahead text.

use countersign_core::{Command, Source};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;

use super::join::CueAdmission;
use super::model::{CueOutcome, ExceededQuota, NewCue};
use super::quota::{self, TerminalQuota};
use super::{join, type_ahead, waits};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::{ApplyOutcome, ResolveRequest, ResolvedMessage, json_text};
use crate::ops::message::{apply, submit};
use crate::ops::rows;

/// The store checks which cues of `gone` are still open; `source` names the superseded ones.
pub struct SubmitCue {
    pub cue: NewCue,
    pub quota: TerminalQuota,
}

impl Op for SubmitCue {
    type Out = CueOutcome;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<CueOutcome, StoreError> {
        let cue = &self.cue;
        // Lock order: messages before the agent, as in a resolution.
        let LockedCues { gone, held_until } = lock_gone(x, cue).await?;
        match join::admit(x, cue, &self.quota, now).await? {
            CueAdmission::Admitted => {}
            CueAdmission::NotYours => return Ok(CueOutcome::NotYours),
            CueAdmission::TooManyJoined => return Ok(CueOutcome::QuotaExceeded(ExceededQuota::Joined)),
            CueAdmission::TooManyOpen => return Ok(CueOutcome::QuotaExceeded(ExceededQuota::OpenOfPerson)),
        }
        if let Some(id) = find_same(x, cue).await? {
            return Ok(CueOutcome::Attached(id));
        }
        if let Some(until) = held_until {
            return Ok(CueOutcome::Held {
                until,
                cue: Box::new(cue.clone()),
            });
        }
        // Superseded cues release their slots.
        let ending = i64::try_from(gone.len()).unwrap_or(i64::MAX);
        if let Some(refusal) = reserve_slots(x, cue, &self.quota, ending).await? {
            return Ok(CueOutcome::QuotaExceeded(refusal));
        }
        let superseded = supersede(x, cue, gone, now).await?;
        let source = with_superseded(&cue.message.source, &superseded)?;
        insert(x, cue, &source).await?;
        let answered = type_ahead::answer(x, cue, now).await?.map(Box::new);
        Ok(CueOutcome::Created { superseded, answered })
    }
}

/// Reserves one slot of the agent and one of the person, or neither.
pub(super) async fn reserve_slots<X: Exec>(
    x: &mut X,
    cue: &NewCue,
    quota: &TerminalQuota,
    ending: i64,
) -> Result<Option<ExceededQuota>, StoreError> {
    if !quota::lock_and_check_may_ask(x, &cue.person, quota.open_of_person.saturating_add(ending)).await? {
        return Ok(Some(ExceededQuota::OpenOfPerson));
    }
    if !submit::reserve_slot(x, &cue.message.agent_id, quota.open_of_agent.saturating_add(ending)).await? {
        return Ok(Some(ExceededQuota::OpenOfAgent));
    }
    quota::reserve(x, &cue.person).await?;
    Ok(None)
}

/// Inserts message, text, audit entry and envelope digest, after the slots were reserved. Returns the seq.
pub(super) async fn insert<X: Exec>(x: &mut X, cue: &NewCue, source: &str) -> Result<i64, StoreError> {
    const INSERT: &str = "INSERT INTO cue (seq, agent_id, envelope) VALUES (?1, ?2, ?3)";
    let seq = submit::create(x, &cue.message, source).await?;
    x.exec(
        INSERT,
        &[seq.into(), (&cue.message.agent_id).into(), (&cue.envelope).into()],
    )
    .await?;
    Ok(seq)
}

struct LockedCues<'c> {
    gone: Vec<&'c (MessageId, ResolutionId)>,
    /// The end of the last hold among them.
    held_until: Option<Timestamp>,
}

/// Locks the cues of `gone` that are still open, in a fixed order so that two transactions cannot deadlock.
async fn lock_gone<'c, X: Exec>(x: &mut X, cue: &'c NewCue) -> Result<LockedCues<'c>, StoreError> {
    const HOLD: &str = "UPDATE message SET rev = rev WHERE id = ?1 AND agent_id = ?2 AND status = 'open' \
         AND EXISTS (SELECT 1 FROM cue c WHERE c.seq = message.seq) RETURNING held_until";
    let mut named: Vec<_> = cue.gone.iter().collect();
    named.sort();
    named.dedup_by_key(|(id, _)| id);
    let mut locked = LockedCues {
        gone: Vec::new(),
        held_until: None,
    };
    for gone in named {
        let params = [gone.0.as_str().into(), (&cue.message.agent_id).into()];
        if let Some(mut row) = x.row(HOLD, &params).await? {
            locked.gone.push(gone);
            locked.held_until = locked.held_until.max(row.opt_instant(0)?);
        }
    }
    Ok(locked)
}

/// Only the newest cue with this digest can match: while one is open or uncollected, no other is created.
async fn find_same<X: Exec>(x: &mut X, cue: &NewCue) -> Result<Option<MessageId>, StoreError> {
    const FIND: &str = concat!(
        "SELECT m.id FROM (SELECT seq FROM cue WHERE agent_id = ?1 AND envelope = ?2 ORDER BY seq DESC LIMIT 1) AS newest \
         JOIN message m ON m.seq = newest.seq LEFT JOIN fetched f ON f.seq = m.seq WHERE ",
        waits!()
    );
    let found = x
        .row(FIND, &[(&cue.message.agent_id).into(), (&cue.envelope).into()])
        .await?;
    found.map(|mut row| rows::message_id(&mut row, 0)).transpose()
}

async fn supersede<X: Exec>(
    x: &mut X,
    cue: &NewCue,
    gone: Vec<&(MessageId, ResolutionId)>,
    now: Timestamp,
) -> Result<Vec<ResolvedMessage>, StoreError> {
    let mut superseded = Vec::new();
    for (id, resolution_id) in gone {
        let request = ResolveRequest {
            message_id: id.clone(),
            command: Command::Supersede {
                by: cue.message.id.clone(),
            },
            resolution_id: resolution_id.clone(),
            files: Vec::new(),
        };
        let applied = match apply::apply(x, &request, now).await {
            // An unreadable cue stays open, and must not keep its agent from asking.
            Err(StoreError::Unreadable(_)) => continue,
            applied => applied?,
        };
        match applied {
            ApplyOutcome::Resolved(applied) => superseded.push(*applied),
            // The cue was locked while open, and its slot was counted.
            ApplyOutcome::NotFound | ApplyOutcome::Purged | ApplyOutcome::Rejected(_) => {
                return Err(StoreError::Corrupt(format!("{id} is open but could not be superseded")));
            }
        }
    }
    Ok(superseded)
}

fn with_superseded(source: &str, superseded: &[ResolvedMessage]) -> Result<String, StoreError> {
    let mut source: Source = serde_json::from_str(source)?;
    let ids: Vec<&str> = superseded.iter().map(|applied| applied.view.id.as_str()).collect();
    if let Source::Hap(source) = &mut source {
        source.supersedes = (!ids.is_empty()).then(|| ids.join(" "));
    }
    json_text(&source)
}

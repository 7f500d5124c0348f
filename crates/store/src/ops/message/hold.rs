//! Decisions on hold: begin, take back, release.
//!
//! A hold is decided like every decision, and the race for the message is over when it begins. The message row says that
//! there is one, so every writer sees it in the row that it reads anyway. At the end of the hold the resolution is
//! written by the same step as every other.

use countersign_core::hold::{Hold, at_release, check_take_back};
use countersign_core::{Actor, Resolution};
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::apply::{self, Loaded, LoadedDecision, LoadedMessage};
use super::quota::ReleasedSlots;
use super::sweep::{Swept, to_i64};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::{HoldOutcome, ResolveRequest, ResolvedMessage, TakeBackOutcome, json_text};
use crate::ops::{rows, terminal};

/// Decides, and holds the decision for the undo time of its author.
pub struct BeginHold {
    pub request: ResolveRequest,
    /// For a person who has set no undo time.
    pub default_undo_seconds: u32,
}

impl Op for BeginHold {
    type Out = HoldOutcome;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<HoldOutcome, StoreError> {
        let (loaded, resolution) = match apply::load_and_decide(x, &self.request, now).await? {
            LoadedDecision::Refused(refusal) => return Ok(HoldOutcome::Applied(refusal)),
            LoadedDecision::Accepted(loaded, resolution) => (loaded, resolution),
        };
        let files = &self.request.files;
        let seconds = self.undo_seconds(x, &resolution.actor).await?;
        match Hold::of(&resolution, seconds, loaded.message.expires_at) {
            Some(hold) => {
                begin(x, &loaded, &resolution, files, &hold).await?;
                Ok(HoldOutcome::Held(hold))
            }
            None => apply::write_decided(x, *loaded, resolution, files)
                .await
                .map(HoldOutcome::Applied),
        }
    }
}

impl BeginHold {
    async fn undo_seconds<X: Exec>(&self, x: &mut X, author: &Actor) -> Result<u32, StoreError> {
        let name = author.person_name().unwrap_or_default();
        Ok(undo_seconds(x, name).await?.unwrap_or(self.default_undo_seconds))
    }
}

async fn begin<X: Exec>(
    x: &mut X,
    loaded: &LoadedMessage,
    resolution: &Resolution,
    files: &[Vec<u8>],
    hold: &Hold,
) -> Result<(), StoreError> {
    const MARK: &str = "UPDATE message SET held_by = ?1, held_until = ?2 \
         WHERE seq = ?3 AND rev = ?4 AND held_until IS NULL";
    const INSERT: &str = "INSERT INTO hold (seq, body) VALUES (?1, ?2)";
    let params = [
        hold.by.as_str().into(),
        hold.until.into(),
        loaded.seq.into(),
        loaded.message.rev.into(),
    ];
    if x.exec(MARK, &params).await? == 0 {
        return Err(StoreError::Conflict);
    }
    let body = json_text(resolution)?;
    x.exec(INSERT, &[loaded.seq.into(), (&body).into()]).await?;
    terminal::store_files(x, loaded.seq, files).await
}

/// Takes a decision back before its hold ends; afterwards the message is open as before. A take-back that comes after the
/// hold releases the decision, and its caller sees the real outcome.
#[derive(Clone)]
pub struct TakeBack {
    pub message_id: MessageId,
    pub actor: Actor,
}

impl Op for TakeBack {
    type Out = TakeBackOutcome;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<TakeBackOutcome, StoreError> {
        const CLEAR: &str = "UPDATE message SET held_by = NULL, held_until = NULL \
             WHERE seq = ?1 AND rev = ?2 AND held_by = ?3 AND held_until = ?4";
        const LOCK: &str = "UPDATE message SET held_by = held_by \
             WHERE seq = ?1 AND rev = ?2 AND held_by = ?3 AND held_until = ?4";
        let loaded = match apply::load(x, &self.message_id).await? {
            Loaded::Nothing => return Ok(TakeBackOutcome::NotFound),
            Loaded::Purged => return Ok(TakeBackOutcome::Purged),
            Loaded::Message(loaded) => loaded,
        };
        if let Err(rejection) = check_take_back(&loaded.message, &self.actor) {
            return Ok(TakeBackOutcome::Rejected(rejection));
        }
        let until = loaded.message.hold.as_ref().map_or(now, |hold| hold.until);
        let is_late = now > until;
        let params = [
            loaded.seq.into(),
            loaded.message.rev.into(),
            self.actor.as_str().into(),
            until.into(),
        ];
        if x.exec(if is_late { LOCK } else { CLEAR }, &params).await? == 0 {
            return Err(StoreError::Conflict);
        }
        if is_late {
            let mut slots = ReleasedSlots::default();
            let decision = held_resolution(x, loaded.seq).await?;
            let released = release(x, *loaded, decision, now, &mut slots).await?;
            slots.release(x).await?;
            return Ok(TakeBackOutcome::Released(Box::new(released)));
        }
        forget(x, loaded.seq).await?;
        x.exec("DELETE FROM attachment WHERE message_seq = ?1", &[loaded.seq.into()])
            .await?;
        Ok(TakeBackOutcome::TakenBack {
            expires_at: loaded.message.expires_at,
        })
    }
}

/// Resolves messages whose hold has ended, the longest overdue first. Messages that another node is just releasing are
/// skipped; if that node dies, its transaction is rolled back and the next sweep finds them.
pub struct ReleaseDue {
    pub limit: usize,
    /// The ids of messages found unreadable before: they are skipped, so that they do not block the others.
    pub skipped: Vec<String>,
}

impl Op for ReleaseDue {
    type Out = Swept;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Swept, StoreError> {
        let limit = to_i64(self.limit + self.skipped.len());
        let mut due = Vec::new();
        for mut row in x.rows(X::DIALECT.due_holds, &[now.into(), limit.into()]).await? {
            due.push(row.text(0)?);
        }
        due.retain(|id| !self.skipped.contains(id));
        let mut released = Swept::default();
        let mut slots = ReleasedSlots::default();
        for id in due.iter().take(self.limit) {
            match load_held(x, id).await.map_err(|error| error.in_message(id)) {
                Ok((loaded, decision)) => {
                    released
                        .applied
                        .push(release(x, *loaded, decision, now, &mut slots).await?);
                }
                Err(StoreError::Unreadable(message)) => released.unreadable.push(message),
                Err(error) => return Err(error),
            }
        }
        slots.release(x).await?;
        Ok(released)
    }

    fn damage(released: &Swept) -> Vec<StoreError> {
        released
            .unreadable
            .iter()
            .cloned()
            .map(StoreError::Unreadable)
            .collect()
    }
}

async fn release<X: Exec>(
    x: &mut X,
    loaded: LoadedMessage,
    decision: Resolution,
    now: Timestamp,
    slots: &mut ReleasedSlots,
) -> Result<ResolvedMessage, StoreError> {
    let seq = loaded.seq;
    let released = apply::write_one_of_many(x, loaded, at_release(decision, now), slots).await?;
    forget(x, seq).await?;
    Ok(released)
}

async fn load_held<X: Exec>(x: &mut X, id: &str) -> Result<(Box<LoadedMessage>, Resolution), StoreError> {
    let Loaded::Message(loaded) = apply::load(x, &rows::parse_message_id(id)?).await? else {
        return Err(missing_decision());
    };
    let resolution = held_resolution(x, loaded.seq).await?;
    Ok((loaded, resolution))
}

async fn held_resolution<X: Exec>(x: &mut X, seq: i64) -> Result<Resolution, StoreError> {
    let row = x.row("SELECT body FROM hold WHERE seq = ?1", &[seq.into()]).await?;
    let body = row.ok_or_else(missing_decision)?.text(0)?;
    Ok(serde_json::from_str(&body)?)
}

fn missing_decision() -> StoreError {
    StoreError::Corrupt("its decision on hold is missing".to_owned())
}

async fn forget<X: Exec>(x: &mut X, seq: i64) -> Result<(), StoreError> {
    x.exec("DELETE FROM hold WHERE seq = ?1", &[seq.into()]).await.map(drop)
}

/// When the next hold ends, or should have ended.
#[derive(Default)]
pub struct NextRelease {
    /// As in `ReleaseDue`.
    pub skipped: Vec<String>,
}

impl Op for NextRelease {
    type Out = Option<Timestamp>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        const SELECT: &str = "SELECT held_until, id FROM message WHERE held_until IS NOT NULL \
             ORDER BY held_until LIMIT ?1";
        let limit = to_i64(self.skipped.len() + 1);
        for mut row in x.rows(SELECT, &[limit.into()]).await? {
            if !self.skipped.contains(&row.text(1)?) {
                return row.instant(0).map(Some);
            }
        }
        Ok(None)
    }
}

/// The decision on hold, for the page of its author.
pub struct HeldDecision(pub MessageId);

impl Op for HeldDecision {
    type Out = Option<Resolution>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Resolution>, StoreError> {
        const SELECT: &str = "SELECT h.body FROM message m JOIN hold h ON h.seq = m.seq WHERE m.id = ?1";
        let Some(mut row) = x.row(SELECT, &[self.0.as_str().into()]).await? else {
            return Ok(None);
        };
        Ok(Some(serde_json::from_str(&row.text(0)?)?))
    }
}

/// The undo time that the person has set, if any.
pub struct UndoSeconds {
    pub person: String,
}

impl Op for UndoSeconds {
    type Out = Option<u32>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<u32>, StoreError> {
        undo_seconds(x, &self.person).await
    }
}

async fn undo_seconds<X: Exec>(x: &mut X, person: &str) -> Result<Option<u32>, StoreError> {
    let row = x
        .row("SELECT undo_seconds FROM person WHERE name = ?1", &[person.into()])
        .await?;
    let seconds = row.map(|mut row| row.opt_int(0)).transpose()?.flatten();
    Ok(seconds.and_then(|seconds| u32::try_from(seconds).ok()))
}

/// Takes effect with the person's next decision; one that is on hold keeps its time.
pub struct SetUndoSeconds {
    pub person: String,
    pub seconds: u32,
}

impl Op for SetUndoSeconds {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<(), StoreError> {
        const SET: &str = "UPDATE person SET undo_seconds = ?1 WHERE name = ?2";
        let params = [i64::from(self.seconds).into(), (&self.person).into()];
        x.exec(SET, &params).await.map(drop)
    }
}

//! Imports cues that were asked and answered before this hub.

use countersign_core::Resolution;
use countersign_protocol::time::Timestamp;

use super::join::CueAdmission;
use super::model::{ExceededQuota, ImportOutcome, NewCue};
use super::quota::TerminalQuota;
use super::{find, join, submit as cue_submit};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::ops::message::apply::{self, Loaded};
use crate::ops::message::submit;

/// Imports a cue once per idempotency key. An answer that its agent already had counts as collected, so that asking the
/// same again makes a new cue. An import uses no type-ahead text and supersedes nothing. The audit trail records the
/// time of the import; the message itself says when it was asked and answered.
pub struct ImportCue {
    pub cue: NewCue,
    pub quota: TerminalQuota,
    pub resolution: Option<Resolution>,
    /// In the order of the resolution.
    pub files: Vec<Vec<u8>>,
    /// The agent already had the answer.
    pub collected: bool,
}

impl Op for ImportCue {
    type Out = ImportOutcome;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<ImportOutcome, StoreError> {
        let message = &self.cue.message;
        let notes = self.resolution.as_ref().map_or(&[][..], |resolution| &resolution.files);
        apply::check_files(notes, &self.files).map_err(|refusal| StoreError::Corrupt(refusal.to_string()))?;
        match join::admit(x, &self.cue, &self.quota, now).await? {
            CueAdmission::Admitted => {}
            CueAdmission::NotYours => return Ok(ImportOutcome::NotYours),
            CueAdmission::TooManyJoined => return Ok(ImportOutcome::QuotaExceeded(ExceededQuota::Joined)),
            CueAdmission::TooManyOpen => return Ok(ImportOutcome::QuotaExceeded(ExceededQuota::OpenOfPerson)),
        }
        if let Some(key) = &message.idempotency_key
            && let Some(earlier) = submit::find(x, &message.agent_id, key).await?
        {
            return Ok(ImportOutcome::Known(earlier.id));
        }
        // A resolved cue releases its slots at once.
        let ending = if self.resolution.is_some() { i64::MAX } else { 0 };
        if let Some(refusal) = cue_submit::reserve_slots(x, &self.cue, &self.quota, ending).await? {
            return Ok(ImportOutcome::QuotaExceeded(refusal));
        }
        let seq = cue_submit::insert(x, &self.cue, &message.source).await?;
        if let Some(resolution) = &self.resolution {
            self.resolve(x, resolution, now).await?;
            restart_retention(x, seq, now).await?;
            if self.collected {
                find::collected(x, seq, resolution.resolved_at).await?;
            }
        }
        Ok(ImportOutcome::New)
    }
}

/// Retention counts from the import, or old history would be purged at once. The resolution keeps the time of the
/// answer.
async fn restart_retention<X: Exec>(x: &mut X, seq: i64, now: Timestamp) -> Result<(), StoreError> {
    x.exec(
        "UPDATE message SET resolved_at = ?1 WHERE seq = ?2",
        &[now.into(), seq.into()],
    )
    .await
    .map(drop)
}

impl ImportCue {
    async fn resolve<X: Exec>(&self, x: &mut X, resolution: &Resolution, now: Timestamp) -> Result<(), StoreError> {
        match apply::load(x, &self.cue.message.id).await? {
            Loaded::Message(loaded) => apply::write(x, &loaded, resolution, &self.files, now).await,
            Loaded::Nothing | Loaded::Purged => Err(StoreError::Corrupt(
                "the message that was just imported is missing".to_owned(),
            )),
        }
    }
}

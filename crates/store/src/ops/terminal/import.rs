//! Cues that were asked and answered elsewhere, before this hub.

use countersign_core::Resolution;
use countersign_protocol::time::Timestamp;

use super::model::{Imported, NewCue};
use super::{find, join, submit as cue_submit};
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};
use crate::ops::apply::{self, Loaded};
use crate::ops::submit;

/// Once per idempotency key. An answer that comes with it counts as collected: whoever asks the same again wants a new one.
/// No text typed ahead is used up, and nothing is superseded.
pub struct ImportCue {
    pub cue: NewCue,
    pub resolution: Option<Resolution>,
    /// In the order in which the resolution names them.
    pub files: Vec<Vec<u8>>,
}

impl Op for ImportCue {
    type Out = Imported;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Imported, StoreError> {
        let message = &self.cue.message;
        let notes = self.resolution.as_ref().map_or(&[][..], |resolution| &resolution.files);
        apply::check_files(notes, &self.files).map_err(|refusal| StoreError::Corrupt(refusal.to_string()))?;
        if !join::admit(x, &self.cue, now).await? {
            return Ok(Imported::NotYours);
        }
        if let Some(key) = &message.idempotency_key
            && let Some(earlier) = submit::find(x, &message.agent_id, key).await?
        {
            return Ok(Imported::Known(earlier.id));
        }
        submit::take_place(x, &message.agent_id, i64::MAX).await?;
        let seq = cue_submit::insert(x, &self.cue, &message.source).await?;
        if let Some(resolution) = &self.resolution {
            self.resolve(x, resolution).await?;
            keep_from(x, seq, now).await?;
            find::collected(x, seq, resolution.resolved_at).await?;
        }
        Ok(Imported::New)
    }
}

/// The time for which it is kept begins now, or old history would go as soon as it came. When it was answered stands in the
/// resolution.
async fn keep_from<X: Exec>(x: &mut X, seq: i64, now: Timestamp) -> Result<(), StoreError> {
    x.exec("UPDATE message SET resolved_at = ?1 WHERE seq = ?2", &[now.into(), seq.into()]).await.map(drop)
}

impl ImportCue {
    async fn resolve<X: Exec>(&self, x: &mut X, resolution: &Resolution) -> Result<(), StoreError> {
        match apply::load(x, &self.cue.message.id).await? {
            Loaded::Message(loaded) => apply::write(x, &loaded, resolution, &self.files).await,
            Loaded::Nothing | Loaded::Purged => Err(StoreError::Corrupt("what was just imported is gone".to_owned())),
        }
    }
}

//! Cues that were asked and answered elsewhere, before this hub.

use countersign_core::Resolution;
use countersign_protocol::time::Timestamp;

use super::bounds::Bounds;
use super::join::Admission;
use super::model::{Imported, NewCue, TooMany};
use super::{find, join, submit as cue_submit};
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};
use crate::ops::apply::{self, Loaded};
use crate::ops::submit;

/// Once per idempotency key. An answer that its agent has had counts as collected: whoever asks the same again wants a new
/// one. No text typed ahead is used up, and nothing is superseded. The trail says when it came here; when it was asked and
/// answered is what it says of itself.
pub struct ImportCue {
    pub cue: NewCue,
    pub most: Bounds,
    pub resolution: Option<Resolution>,
    /// In the order in which the resolution names them.
    pub files: Vec<Vec<u8>>,
    /// Its agent has had the answer.
    pub collected: bool,
}

impl Op for ImportCue {
    type Out = Imported;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Imported, StoreError> {
        let message = &self.cue.message;
        let notes = self.resolution.as_ref().map_or(&[][..], |resolution| &resolution.files);
        apply::check_files(notes, &self.files).map_err(|refusal| StoreError::Corrupt(refusal.to_string()))?;
        match join::admit(x, &self.cue, &self.most, now).await? {
            Admission::Admitted => {}
            Admission::NotYours => return Ok(Imported::NotYours),
            Admission::TooManyJoined => return Ok(Imported::TooMany(TooMany::Joined)),
            Admission::TooManyOpen => return Ok(Imported::TooMany(TooMany::OpenOfPerson)),
        }
        if let Some(key) = &message.idempotency_key
            && let Some(earlier) = submit::find(x, &message.agent_id, key).await?
        {
            return Ok(Imported::Known(earlier.id));
        }
        // What is over gives its places back at once.
        let ending = if self.resolution.is_some() { i64::MAX } else { 0 };
        if let Some(refusal) = cue_submit::take_places(x, &self.cue, &self.most, ending).await? {
            return Ok(Imported::TooMany(refusal));
        }
        let seq = cue_submit::insert(x, &self.cue, &message.source).await?;
        if let Some(resolution) = &self.resolution {
            self.resolve(x, resolution, now).await?;
            keep_from(x, seq, now).await?;
            if self.collected {
                find::collected(x, seq, resolution.resolved_at).await?;
            }
        }
        Ok(Imported::New)
    }
}

/// The time for which it is kept begins now, or old history would go as soon as it came. When it was answered stands in the
/// resolution.
async fn keep_from<X: Exec>(x: &mut X, seq: i64, now: Timestamp) -> Result<(), StoreError> {
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
            Loaded::Nothing | Loaded::Purged => Err(StoreError::Corrupt("what was just imported is gone".to_owned())),
        }
    }
}

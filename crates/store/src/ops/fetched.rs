//! That an agent has its answer: it came and fetched it.

use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// Of each message the first time counts. What has no resolution cannot have been fetched. Says for which this was the
/// first time.
pub struct RecordFetched {
    pub ids: Vec<MessageId>,
}

impl Op for RecordFetched {
    type Out = Vec<MessageId>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<MessageId>, StoreError> {
        let mut recorded = Vec::new();
        for id in &self.ids {
            if x.exec(X::DIALECT.note_fetched, &[id.as_str().into(), now.into()])
                .await?
                == 1
            {
                recorded.push(id.clone());
            }
        }
        Ok(recorded)
    }
}

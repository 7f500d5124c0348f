//! Records that an agent has fetched its answer.

use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// Only the first fetch of a message counts, and only if it is resolved. Returns the ids for which this was the first.
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

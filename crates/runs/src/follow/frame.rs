use std::sync::Arc;

use countersign_protocol::runs::{Event, mark_resolved};
use countersign_store::ops::run::StoredEvent;

/// The text of a frame. All subscribers share it.
pub type FrameText = Arc<str>;

/// One serialized event of a run.
#[derive(Debug, Clone)]
pub struct EventFrame {
    pub seq: u64,
    pub text: FrameText,
    /// May be dropped for a slow client.
    pub is_droppable: bool,
    /// The event asks for an answer.
    pub is_ask: bool,
}

impl EventFrame {
    pub fn of(event: &Event, seq: u64, text: impl Into<FrameText>) -> Self {
        let is_ask = is_ask(event.kind());
        Self {
            seq,
            text: text.into(),
            is_droppable: event.is_droppable(),
            is_ask,
        }
    }

    /// The frame of an ask that was answered before this subscriber joined.
    pub fn resolved(&self) -> FrameText {
        mark_resolved(&self.text).into()
    }
}

/// Stored events are never dropped for a slow client.
impl From<StoredEvent> for EventFrame {
    fn from(event: StoredEvent) -> Self {
        let is_ask = is_ask(&event.kind);
        Self {
            seq: event.seq,
            text: event.body.into(),
            is_droppable: false,
            is_ask,
        }
    }
}

fn is_ask(kind: &str) -> bool {
    matches!(kind, "request_input" | "request_permission" | "request_question")
}

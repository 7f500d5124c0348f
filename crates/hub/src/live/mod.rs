//! Live events for open pages and API streams. The code that changes something publishes the change; each change is
//! rendered once, numbered, and kept in a replay buffer for clients that reconnect.

mod broadcaster;
mod event;
mod listener;
mod listener_count;
mod replay;
mod stream;

pub use broadcaster::{LiveBroadcaster, RowRenderer, run};
pub use event::{LiveChange, LiveEvent, RenderedEvent, record};
pub use listener::LiveListener;
pub use stream::{SseSource, StreamFormat, last_event_id, stream, stream_from};

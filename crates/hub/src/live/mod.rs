//! Live events for open pages and API streams. The code that changes something publishes the change; each change is
//! rendered once, numbered, and kept in a replay buffer for clients that reconnect.

mod broadcaster;
pub mod event;
pub mod listener;
mod listener_count;
mod replay;

pub use broadcaster::{LiveBroadcaster, LiveRenderer};
pub use event::{EventDraft, LiveEvent, RenderedEvent, record};
pub use listener::LiveListener;

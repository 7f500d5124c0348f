//! What has just happened, for everybody who looks on: told by whoever caused it, rendered once, numbered, and kept for
//! a while for those who were away.

mod audience;
mod event;
mod listener;
mod ring;
mod stream;
mod teller;

pub use event::{LiveChange, LiveEvent, RenderedEvent, record};
pub use listener::LiveListener;
pub use stream::{SseSource, StreamFormat, last_event_id, stream, stream_from};
pub use teller::{LiveBroadcaster, run};

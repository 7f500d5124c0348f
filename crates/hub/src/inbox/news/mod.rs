//! What has just happened, for everybody who looks on: told by whoever caused it, rendered once, numbered, and kept for
//! a while for those who were away.

mod audience;
mod event;
mod listener;
mod ring;
mod stream;
mod teller;

pub use event::{Change, Event, Heard, record};
pub use listener::Listener;
pub use stream::{Format, Origin, last_event_id, stream, stream_of};
pub use teller::{News, RowRenderer, run};

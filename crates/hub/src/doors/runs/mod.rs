//! The door for runs over a WebSocket: admission, messages, replies.

mod dispatch;
mod frame_splitter;
mod gate;
mod refusal;
mod same_user;
mod session;
mod upgrade;

pub use refusal::refusal_text;
pub use upgrade::upgrade;

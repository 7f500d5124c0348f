//! The door for runs over a WebSocket: admission, messages, replies.

mod dispatch;
mod gate;
mod session;
mod upgrade;

pub use upgrade::upgrade;

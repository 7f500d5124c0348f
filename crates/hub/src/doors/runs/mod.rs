//! The door for runs over a WebSocket: admission, messages, replies.

mod dispatch;
mod frame_header;
mod frame_splitter;
mod gate;
mod same_user;
mod session;
mod upgrade;

pub use upgrade::upgrade;

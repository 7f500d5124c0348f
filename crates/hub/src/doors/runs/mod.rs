//! Runs over a WebSocket: who may connect, what they say, what they hear.

mod dispatch;
mod gate;
mod session;
mod upgrade;

pub use upgrade::upgrade;

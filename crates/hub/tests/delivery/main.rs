//! The outbox against real sockets and a real store.

mod guard;
mod lanes;
mod names;
mod receiver;
mod retry;
mod signature;
mod stage;

//! The outbox against real sockets and a real store.

#![cfg(test)]

mod guard;
mod host_workers;
mod names;
mod receiver;
mod retry;
mod signature;
mod stage;

//! The load generator: it shares the machine with the server it measures, so everything here is built to cost little.
//! Requests are rendered once and patched in place, replies are read by hand, one thread drives every connection.

mod answers;
mod board;
mod closed_loop;
mod connection;
mod head;
mod histogram;
mod request;
mod sockets;
mod streams;
mod work;

pub use answers::{Pace, answer};
pub use board::{Board, Question};
pub use closed_loop::{Sample, Window, drain, measure};
pub use connection::Connection;
pub use head::Head;
pub use histogram::Histogram;
pub use request::{PLACEHOLDER, Slot, Template, render};
pub use sockets::wait_on_sockets;
pub use streams::wait_on_streams;
pub use work::{Slots, Work};

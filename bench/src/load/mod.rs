//! The load generator. It shares the machine with the server it measures, so everything here is built to be cheap.
//! Requests are rendered once and patched in place, replies are parsed by hand, one thread drives every connection.

mod answers;
mod closed_loop;
mod connection;
mod head;
mod histogram;
mod meter;
mod request;
mod scoreboard;
mod sockets;
mod spread;
mod streams;
mod web_socket;
mod work;

pub use answers::{Pace, answer};
pub use closed_loop::{drain, measure};
pub use connection::Connection;
pub use head::Head;
pub use histogram::Histogram;
pub use meter::{Meter, Sample, Window, in_window};
pub use request::{PLACEHOLDER, Slot, Template, render};
pub use scoreboard::{LongPolls, Scoreboard};
pub use sockets::wait_on_sockets;
pub use spread::{Worker, drain_spread, measure_spread};
pub use streams::wait_on_streams;
pub use web_socket::WebSocket;
pub use work::{Slots, Work};

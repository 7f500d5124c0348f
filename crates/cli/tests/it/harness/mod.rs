//! Test harness that drives the real binary from outside: a hub per test, its HTTP API and command line, a scripted
//! callback receiver, a fault-injecting proxy, and an independent signature check.

mod api;
mod dedicated_postgres;
mod envelope;
mod hub;
mod postgres;
mod process;
mod proxy;
mod qr_code;
mod receiver;
mod scratch;
mod signature;
mod terminal;
mod wait;

pub use api::{Api, Reply, http_client};
pub use dedicated_postgres::{OwnPostgres, PASSWORD};
pub use envelope::*;
pub use hub::{Agent, Hub, Setup, ready};
pub use postgres::{Database, Wire, WireState};
pub use process::{CommandOutput, Process, countersign, cueme_binary};
pub use proxy::{Fault, Proxy};
pub use qr_code::qr_text;
pub use receiver::{Push, PushReply, Receiver};
pub use scratch::Scratch;
pub use signature::{Signed, ed25519_holds, sign, signed, standard_webhooks_holds};
pub use terminal::Terminal;
pub use wait::{eventually, within};

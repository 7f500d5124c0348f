//! The domain rules. Pure code: timestamps and ids are arguments; no clock, file or socket access.

pub mod access;
pub mod audit;
pub mod calendar;
pub mod decide;
pub mod delivery;
pub mod envelope;
pub mod form;
pub mod hap;
pub mod hold;
pub mod limits;
pub mod message;
pub mod question;
pub mod rejection;
pub mod retention;
pub mod runs;
pub mod schema;
pub mod search;
mod words;

pub use access::Actor;
pub use audit::Digest;
pub use decide::{Command, Verdict, decide};
pub use message::{Content, Message, Outcome, Payload, Resolution, Source, State};
pub use question::Question;
pub use rejection::Rejection;
pub use words::language::Language;
pub use words::{agent_name, asker, excerpt, kind, outcome, vocabulary};

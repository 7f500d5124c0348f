//! The agent SDK: ask a person, wait for the answer, act on it at most once.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use countersign_agent::{Answer, Ask, Client, Identity, Journal, Outcome, Progress, Timestamp, WaitUntil};
//!
//! # async fn gate(now: Timestamp, token: String) -> Result<bool, Box<dyn std::error::Error>> {
//! let client = Client::new("https://hub.example".parse()?, token)?;
//! let journal = Journal::open(Path::new("journal.db"))?;
//! let ask = Ask::confirm("Ship 1.4 to production?").key("ship-1.4").to(["human:alice"]);
//! let draft = ask.draft(&Identity::new("deploybot"), client.version().await?, now)?;
//! let ticket = client.submit(&journal, &draft).await?;
//! let Progress::Ended(resolved) = client.wait(&ticket, WaitUntil::Ended).await? else { return Ok(false) };
//! Ok(match resolved.outcome {
//!     Outcome::Answered { value, edited: false } => value == Answer::Choice("approve".to_owned()),
//!     Outcome::Answered { edited: true, .. } | Outcome::Declined | Outcome::Cancelled => false,
//!     Outcome::Expired { .. } => false,
//!     Outcome::Completed { .. } | Outcome::Dismissed { .. } => false,
//! })
//! # }
//! ```

#![warn(missing_docs)]

mod client;
mod discovery;
mod draft;
mod error;
mod identity;
mod journal;
mod outcome;
mod push;
mod seal;
mod ticket;

pub use client::{Client, Progress, WaitUntil};
pub use countersign_protocol::a2h::{AuthScheme, CallbackAuth, CheckItem, Family, Kind, Priority, Version};
pub use countersign_protocol::time::Timestamp;
pub use draft::{Addressed, Ask, Callback, Choice, Draft, Notify, Part, TEXT_FIELD, Task, Unaddressed, text_schema};
pub use error::Error;
pub use identity::Identity;
pub use journal::{Action, ActionState, Claim, Journal, JournalError, Reservation, StoredDraft};
pub use outcome::{Answer, Outcome, Resolved};
pub use push::{MAX_PUSH_BYTES, ReceiverLayer, Refusal, Verified, Verifier, verify};
pub use seal::{Binding, SealError, SealKey, open, open_state, seal, sealed_state};
pub use ticket::Ticket;

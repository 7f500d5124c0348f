//! The commands of an agent: ask, wait for the answer, act on it once.

mod exec;
mod follow;
mod receive;
mod seal;
mod send;
mod span;

use clap::Subcommand;

pub use exec::ExecArgs;
pub use follow::{CancelArgs, JournalArgs, JournalCommand, WaitArgs};
pub use receive::{KeyArgs, ReceiveArgs, VerifyArgs};
pub use seal::{OpenArgs, SealArgs, SealFamily, SealKeyArgs};
pub use send::{AskArgs, ContentArgs, NotifyArgs, RequestArgs, TaskArgs, callback_auth};
pub use span::Span;
use span::When;

#[derive(Debug, Subcommand)]
pub enum AgentSideCommand {
    /// Ask a person something and wait for the answer; the exit code says which it was.
    Ask(Box<AskArgs>),
    /// Tell people something; nobody has to answer.
    Notify(Box<NotifyArgs>),
    /// Give a person something to do and wait until it is done.
    Task(Box<TaskArgs>),
    /// Come back to a message that was sent before, and wait for its outcome.
    Wait(WaitArgs),
    /// Take an ask back.
    Cancel(CancelArgs),
    /// Check the signature of a pushed answer; its body is read from standard input.
    Verify(VerifyArgs),
    /// Seal a JSON value from standard input, to travel as the state of an ask.
    Seal(SealArgs),
    /// Open a sealed state from standard input.
    Open(OpenArgs),
    /// Receive pushed answers: verify each one and run a command for it, once.
    Receive(ReceiveArgs),
    /// What was sent from here, and what was acted on.
    Journal(JournalArgs),
}

//! The commands of an agent: ask, wait for the answer, act on it once.

mod exec;
mod follow;
mod receive;
mod seal;
mod send;
mod span;

use clap::Subcommand;

use super::help;

pub use exec::ExecArgs;
pub use follow::{CancelArgs, JournalArgs, JournalCommand, WaitArgs};
pub use receive::{KeyArgs, ReceiveArgs, VerifyArgs};
pub use seal::{OpenArgs, SealArgs, SealFamily, SealKeyArgs};
pub use send::{AskArgs, ContentArgs, NotifyArgs, RequestArgs, TaskArgs, callback_auth};
pub use span::Span;
use span::When;

#[derive(Debug, Subcommand)]
pub enum AgentSideCommand {
    /// Ask a person and wait for the answer; the exit code says which it was.
    #[command(after_help = help::ASK)]
    Ask(Box<AskArgs>),
    /// Tell people something; no answer is needed.
    #[command(after_help = help::NOTIFY)]
    Notify(Box<NotifyArgs>),
    /// Give a person a task and wait until it is done.
    #[command(after_help = help::TASK)]
    Task(Box<TaskArgs>),
    /// Resume waiting for the outcome of a message.
    #[command(after_help = help::WAIT)]
    Wait(WaitArgs),
    /// Withdraw an ask.
    #[command(after_help = help::CANCEL)]
    Cancel(CancelArgs),
    /// Verify the signature of a pushed answer, read from standard input.
    #[command(after_help = help::VERIFY)]
    Verify(VerifyArgs),
    /// Encrypt a JSON value from standard input, as the state of an ask.
    #[command(after_help = help::SEAL)]
    Seal(SealArgs),
    /// Decrypt a sealed state from standard input.
    #[command(after_help = help::OPEN)]
    Open(OpenArgs),
    /// Receive pushed answers, verify them and run a command for each.
    #[command(after_help = help::RECEIVE)]
    Receive(ReceiveArgs),
    /// List messages sent from here and outcomes acted on.
    #[command(after_help = help::JOURNAL)]
    Journal(JournalArgs),
}

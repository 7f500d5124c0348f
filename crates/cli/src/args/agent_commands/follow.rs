//! `wait`, `cancel` and `journal`: commands on messages that were already sent.

use clap::{Args, Subcommand};

use super::{ExecArgs, Span};

#[derive(Debug, Args)]
pub struct WaitArgs {
    /// The message, or the idempotency key it was sent with.
    #[arg(value_name = "ID|KEY")]
    pub id: String,
    /// Stop waiting after this long; the message stays open.
    #[arg(long, value_name = "SPAN", value_parser = Span::read)]
    pub timeout: Option<Span>,
    /// The agent that sent it, if it was not sent from here.
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    #[command(flatten)]
    pub exec: ExecArgs,
}

#[derive(Debug, Args)]
pub struct CancelArgs {
    /// The message, or the idempotency key it was sent with.
    #[arg(value_name = "ID|KEY")]
    pub id: String,
    /// The agent that sent it, if it was not sent from here.
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
}

#[derive(Debug, Args)]
pub struct JournalArgs {
    #[command(subcommand)]
    pub command: Option<JournalCommand>,
}

#[derive(Debug, Subcommand)]
pub enum JournalCommand {
    /// List what was sent and what was acted on, the latest first.
    List {
        /// At most so many of each.
        #[arg(long, value_name = "N", default_value_t = JournalCommand::LIMIT)]
        limit: usize,
    },
    /// Let an outcome be acted on again, after its act was interrupted or went wrong.
    Forget {
        /// The message.
        id: String,
    },
}

impl JournalCommand {
    const LIMIT: usize = 50;

    pub fn list() -> Self {
        Self::List { limit: Self::LIMIT }
    }
}

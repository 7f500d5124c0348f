//! `countersign ahead`: a text typed ahead for an agent in a terminal.

use clap::Args;

#[derive(Debug, Args)]
pub struct AheadArgs {
    /// The agent, as `countersign terminals` lists it.
    pub agent_id: String,
    /// The text, or `-` to read it from standard input. Without one, the queue is listed.
    #[arg(conflicts_with = "drop")]
    pub text: Option<String>,
    /// Take back the text with this number.
    #[arg(long, value_name = "NUMBER")]
    pub drop: Option<i64>,
}

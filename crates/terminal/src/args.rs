//! `countersign inbox`: filters and display options.

use clap::Args;

#[derive(Debug, Default, Args)]
pub struct InboxArgs {
    /// Ask line by line instead of drawing a live list. A terminal that cannot draw gets this anyway.
    #[arg(long)]
    pub plain: bool,
    /// Ring the terminal's bell when something new waits.
    #[arg(long)]
    pub bell: bool,
    /// Only what this agent asks.
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// Only what belongs to this project.
    #[arg(long)]
    pub project: Option<String>,
    /// Only what carries this tag.
    #[arg(long)]
    pub tag: Option<String>,
    /// Only this kind of thing.
    #[arg(long, value_parser = ["confirm", "select", "many", "text", "form", "task"])]
    pub kind: Option<String>,
}

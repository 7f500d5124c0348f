//! `countersign inbox`: filters and display options.

use clap::Args;

#[derive(Debug, Default, Args)]
pub struct InboxArgs {
    /// Prompt line by line instead of drawing a live list. This is the default on a terminal that cannot draw.
    #[arg(long)]
    pub plain: bool,
    /// Print a table with numbered rows and exit. `answer` accepts the numbers.
    #[arg(long, conflicts_with_all = ["plain", "bell"])]
    pub table: bool,
    /// Print at most N items, as a table or as JSON.
    #[arg(long, value_name = "N", conflicts_with_all = ["plain", "bell"], value_parser = limit)]
    pub limit: Option<usize>,
    /// Ring the terminal's bell when a new item arrives.
    #[arg(long)]
    pub bell: bool,
    /// Only items from this agent.
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// Only items of this project.
    #[arg(long)]
    pub project: Option<String>,
    /// Only items with this tag.
    #[arg(long)]
    pub tag: Option<String>,
    /// Only this kind of item.
    #[arg(long, value_parser = ["confirm", "select", "many", "text", "form", "task"])]
    pub kind: Option<String>,
}

fn limit(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=10_000).contains(number));
    number.ok_or_else(|| "give a number from 1 to 10000".to_owned())
}

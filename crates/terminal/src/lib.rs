//! `inbox`: the open items, in the order of the hub. A live list on a terminal, prompts if the
//! terminal cannot draw, a table or JSON otherwise.

mod answer;
mod args;
mod browser;
mod content;
mod delivery_progress;
mod draw;
mod feed;
mod filter;
mod hub_calls;
mod inbox_entry;
mod live;
mod local_time;
mod plain;
mod presets;
mod state;
mod table;
mod text_input;

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::Result;
use countersign_client::hub::HubClient;
use filter::InboxFilter;

pub use args::InboxArgs;
pub use table::waiting_items;

/// The presentation of the inbox.
#[derive(Debug, PartialEq)]
enum OutputMode {
    Json,
    Table,
    Prompts,
    Live,
}

/// How the inbox is printed.
pub struct InboxOutput {
    /// Where the rows of a printed table are stored.
    pub data: Option<PathBuf>,
    pub json: bool,
    pub colours: bool,
}

pub async fn run(args: &InboxArgs, client: &HubClient, output: InboxOutput) -> Result<String> {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let filter = InboxFilter::of(args);
    match output_mode(args, output.json, is_terminal, std::env::var("TERM").ok().as_deref()) {
        OutputMode::Json => table::json(client, &filter, args.limit).await,
        OutputMode::Table => table::text(client, &filter, args.limit, output.data.as_deref()).await,
        OutputMode::Prompts => plain::run(client, &filter).await,
        OutputMode::Live => live::run(client, filter, args.bell, output.colours).await,
    }
}

fn output_mode(args: &InboxArgs, json: bool, is_terminal: bool, term: Option<&str>) -> OutputMode {
    match term.unwrap_or_default() {
        _ if json => OutputMode::Json,
        _ if args.table || args.limit.is_some() || !is_terminal => OutputMode::Table,
        "" | "dumb" => OutputMode::Prompts,
        _ if args.plain => OutputMode::Prompts,
        _ => OutputMode::Live,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_cannot_draw_gets_prompts() {
        let xterm = Some("xterm-256color");
        let default = InboxArgs::default();
        let plain = InboxArgs {
            plain: true,
            ..InboxArgs::default()
        };
        let table = InboxArgs {
            table: true,
            ..InboxArgs::default()
        };
        let first = InboxArgs {
            limit: Some(5),
            ..InboxArgs::default()
        };
        assert_eq!(output_mode(&default, false, true, xterm), OutputMode::Live);
        assert_eq!(output_mode(&plain, false, true, xterm), OutputMode::Prompts);
        assert_eq!(output_mode(&default, false, true, Some("dumb")), OutputMode::Prompts);
        assert_eq!(output_mode(&default, false, true, None), OutputMode::Prompts);
        assert_eq!(output_mode(&default, false, false, xterm), OutputMode::Table);
        assert_eq!(output_mode(&table, false, true, xterm), OutputMode::Table);
        assert_eq!(output_mode(&first, false, true, xterm), OutputMode::Table);
        assert_eq!(output_mode(&plain, true, true, xterm), OutputMode::Json);
    }
}

//! `inbox`: the open items, urgent first, then the longest waiting. A live list on a terminal, prompts if the
//! terminal cannot draw, a table or JSON otherwise.

mod answer;
mod args;
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

use anyhow::Result;
use countersign_client::hub::HubClient;
use filter::InboxFilter;

pub use args::InboxArgs;

/// The presentation of the inbox.
#[derive(Debug, PartialEq)]
enum OutputMode {
    Json,
    Table,
    Prompts,
    Live,
}

pub async fn run(args: &InboxArgs, client: &HubClient, json: bool) -> Result<String> {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let filter = InboxFilter::of(args);
    match output_mode(args.plain, json, is_terminal, std::env::var("TERM").ok().as_deref()) {
        OutputMode::Json => table::json(client, &filter).await,
        OutputMode::Table => table::text(client, &filter).await,
        OutputMode::Prompts => plain::run(client, &filter).await,
        OutputMode::Live => live::run(client, filter, args.bell).await,
    }
}

fn output_mode(plain: bool, json: bool, is_terminal: bool, term: Option<&str>) -> OutputMode {
    match term.unwrap_or_default() {
        _ if json => OutputMode::Json,
        _ if !is_terminal => OutputMode::Table,
        "" | "dumb" => OutputMode::Prompts,
        _ if plain => OutputMode::Prompts,
        _ => OutputMode::Live,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_cannot_draw_gets_prompts() {
        let xterm = Some("xterm-256color");
        assert_eq!(output_mode(false, false, true, xterm), OutputMode::Live);
        assert_eq!(output_mode(true, false, true, xterm), OutputMode::Prompts);
        assert_eq!(output_mode(false, false, true, Some("dumb")), OutputMode::Prompts);
        assert_eq!(output_mode(false, false, true, None), OutputMode::Prompts);
        assert_eq!(output_mode(false, false, false, xterm), OutputMode::Table);
        assert_eq!(output_mode(true, true, true, xterm), OutputMode::Json);
    }
}

//! `inbox`: what waits for a person, urgent first, then the longest waiting. On a terminal a live list that answers by
//! keys; prompts where the terminal cannot draw; a table or JSON for everything else.

mod answer;
mod content;
mod draw;
mod feed;
mod filter;
mod hub;
mod plain;
mod presets;
mod run;
mod seen;
mod state;
mod table;
mod track;
mod typing;
mod zone;

use std::io::IsTerminal;

use anyhow::Result;

use crate::args::InboxArgs;
use crate::client::Client;
use filter::Filter;

/// How to talk to whoever reads.
#[derive(Debug, PartialEq)]
enum Manner {
    Json,
    Table,
    Prompts,
    Live,
}

pub async fn run(args: &InboxArgs, client: &Client, json: bool) -> Result<String> {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let filter = Filter::of(args);
    match manner(args.plain, json, is_terminal, std::env::var("TERM").ok().as_deref()) {
        Manner::Json => table::json(client, &filter).await,
        Manner::Table => table::words(client, &filter).await,
        Manner::Prompts => plain::run(client, &filter).await,
        Manner::Live => run::run(client, filter, args.bell).await,
    }
}

fn manner(plain: bool, json: bool, is_terminal: bool, term: Option<&str>) -> Manner {
    match term.unwrap_or_default() {
        _ if json => Manner::Json,
        _ if !is_terminal => Manner::Table,
        "" | "dumb" => Manner::Prompts,
        _ if plain => Manner::Prompts,
        _ => Manner::Live,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_drawn_on_is_not_drawn_on() {
        let xterm = Some("xterm-256color");
        assert_eq!(manner(false, false, true, xterm), Manner::Live);
        assert_eq!(manner(true, false, true, xterm), Manner::Prompts);
        assert_eq!(manner(false, false, true, Some("dumb")), Manner::Prompts);
        assert_eq!(manner(false, false, true, None), Manner::Prompts);
        assert_eq!(manner(false, false, false, xterm), Manner::Table);
        assert_eq!(manner(true, true, true, xterm), Manner::Json);
    }
}

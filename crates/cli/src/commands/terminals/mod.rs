//! `terminals`: agents in terminals, with their directory and presence.

pub mod ahead;

use anyhow::Result;
use countersign_client::hub::HubClient;
use countersign_client::screen::{TextTable, duration_label};

use countersign_protocol::api::terminals::ListedTerminal;

use super::present;

pub async fn run(client: &HubClient, json: bool) -> Result<String> {
    let reply = client.get_field(&["v1", "terminals"], &[], "terminals").await?;
    present(&reply, json, |terminals: Vec<ListedTerminal>| {
        render(terminals, jiff::Timestamp::now())
    })
}

fn render(terminals: Vec<ListedTerminal>, now: jiff::Timestamp) -> String {
    let mut table = TextTable::new(&[
        "AGENT", "NAME", "STATE", "OPEN", "AHEAD", "SEEN", "PERSON", "RUNTIME", "TERMINAL", "PROJECT",
    ]);
    for one in terminals {
        let seen = one.seen_at.unwrap_or(one.joined_at).age(now);
        table.row([
            one.agent_id,
            one.name,
            one.presence.state.unwrap_or_else(|| "-".to_owned()),
            one.open.to_string(),
            one.ahead.to_string(),
            format!("{} ago", duration_label(seen)),
            one.person,
            one.runtime,
            one.terminal,
            one.project_dir,
        ]);
    }
    table.render_or("No agent has joined from a terminal yet.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_terminal_is_one_line_with_any_directory_name() {
        let terminal = json!({
            "agent_id": "brisk-otter", "name": "Codex · a", "runtime": "codex", "project_dir": "/srv/a\n\u{1b}[2J", "terminal": "zsh",
            "person": "ann", "joined_at": "2026-06-04T14:00:00.000Z", "seen_at": "2026-06-04T14:59:00.000Z", "open": 1,
            "ahead": 0, "last_cue_id": "msg_1", "presence": {"state": "waiting", "since": null},
        });
        let text = render(
            vec![serde_json::from_value(terminal).unwrap()],
            "2026-06-04T15:00:00Z".parse().unwrap(),
        );
        assert_eq!(text.lines().count(), 2, "{text}");
        let cells: Vec<&str> = text.lines().nth(1).unwrap().split("  ").map(str::trim).collect();
        let cells: Vec<&str> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        let expected = [
            "brisk-otter",
            "Codex · a",
            "waiting",
            "1",
            "0",
            "1m ago",
            "ann",
            "codex",
            "zsh",
            "/srv/a\\n\\u{1b}[2J",
        ];
        assert_eq!(cells, expected);
    }
}

//! The inbox for scripts and pipes: all items at once, as a table or as JSON.

use std::fmt::Write;

use anyhow::Result;
use countersign_client::hub::{HubClient, typed};
use countersign_client::item::ClientItem;
use countersign_client::screen::{self, TextTable, duration_label};
use serde_json::Value;

use super::filter::InboxFilter;

const MAX_ITEMS: usize = 10_000;
const PAGE_SIZE: &str = "100";

pub async fn json(client: &HubClient, filter: &InboxFilter) -> Result<String> {
    Ok(screen::json(&Value::Array(read_all(client, filter).await?)))
}

pub async fn text(client: &HubClient, filter: &InboxFilter) -> Result<String> {
    let items = read_all(client, filter).await?;
    let items: Vec<ClientItem> = items.iter().map(typed).collect::<Result<_, _>>()?;
    Ok(render(&items, jiff::Timestamp::now()))
}

async fn read_all(client: &HubClient, filter: &InboxFilter) -> Result<Vec<Value>> {
    let mut items = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut query = vec![("limit", PAGE_SIZE)];
        query.extend(filter.query());
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let mut page = client.get(&["v1", "inbox"], &query).await?;
        items.append(&mut typed(&page["items"].take())?);
        let next = page["next_cursor"].as_str().map(str::to_owned);
        // A repeated cursor would loop forever.
        if next.is_none() || next == cursor || items.len() >= MAX_ITEMS {
            break;
        }
        cursor = next;
    }
    items.truncate(MAX_ITEMS);
    Ok(items)
}

fn render(items: &[ClientItem], now: jiff::Timestamp) -> String {
    let mut table = TextTable::new(&[
        "ID",
        "PRIORITY",
        "WAITING",
        "AGENT",
        "KIND",
        "TITLE",
        "WITHOUT AN ANSWER",
    ]);
    for item in items {
        table.row([
            item.id.clone(),
            item.priority.clone(),
            duration_label(item.created_at.age(now)),
            item.asker().to_owned(),
            item.kind().to_owned(),
            item.title.clone(),
            item.expiry_text(now),
        ]);
    }
    let mut text = table.render_or("Nothing waits for you.");
    if items.len() == MAX_ITEMS {
        let _ = writeln!(text, "\nThese are the first {MAX_ITEMS}; there may be more.");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_item_is_one_line_with_any_title() {
        let item: ClientItem = serde_json::from_value(json!({
            "id": "msg_1", "type": "ask", "status": "open", "title": "Deploy?\n\u{1b}[2K\u{202e}", "priority": "urgent",
            "agent": {"id": "bot", "run_id": "r", "runtime": "cli"}, "created_at": "2026-06-04T14:50:00.000Z",
            "question": {"kind": "confirm", "options": [], "allow_edit": false},
        }))
        .unwrap();
        let text = render(&[item], "2026-06-04T15:00:00Z".parse().unwrap());
        let line = text.lines().nth(1).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert_eq!(
            line.split("  ")
                .filter(|cell| !cell.is_empty())
                .map(str::trim)
                .collect::<Vec<_>>(),
            [
                "msg_1",
                "urgent",
                "10m",
                "bot",
                "confirm",
                "Deploy?\\n\\u{1b}[2K\\u{202e}",
                "waits until answered"
            ]
        );
    }

    #[test]
    fn an_empty_inbox_says_so() {
        assert_eq!(render(&[], jiff::Timestamp::now()), "Nothing waits for you.\n");
    }
}

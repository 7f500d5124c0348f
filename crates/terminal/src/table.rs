//! The inbox for scripts and pipes: all items at once, as a table or as JSON.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use countersign_client::hub::{HubClient, typed};
use countersign_client::item::ClientItem;
use countersign_client::last_table::LastTable;
use countersign_client::screen::{self, TextTable, duration_label};
use serde_json::Value;

use super::filter::InboxFilter;

const MAX_ITEMS: usize = 10_000;
const PAGE_SIZE: usize = 100;
/// In a narrower terminal the numbers stand for the ids, and the titles get their room.
const MIN_WIDTH_WITH_IDS: usize = 120;

pub async fn json(client: &HubClient, filter: &InboxFilter, limit: Option<usize>) -> Result<String> {
    Ok(screen::json(&Value::Array(read(client, filter, limit).await?)))
}

/// The ids of the rows are stored in `data`, so that `answer` accepts their numbers.
pub async fn text(
    client: &HubClient,
    filter: &InboxFilter,
    limit: Option<usize>,
    data: Option<&Path>,
) -> Result<String> {
    let items = read(client, filter, limit).await?;
    let items: Vec<ClientItem> = items.iter().map(typed).collect::<Result<_, _>>()?;
    let now = jiff::Timestamp::now();
    let ids = items.iter().map(|item| item.id.clone());
    // A number that could not be stored would later mean the row of an older table.
    let has_numbers = data.is_some_and(|data| LastTable::store(data, ids, now).is_ok());
    let is_narrow = screen::terminal_width().is_some_and(|width| width < MIN_WIDTH_WITH_IDS);
    let columns = Columns {
        numbers: has_numbers,
        ids: !(has_numbers && is_narrow),
    };
    let mut text = render(&items, columns, now, &filter.text());
    if limit.is_none() && items.len() == MAX_ITEMS {
        let _ = writeln!(text, "\nThese are the first {MAX_ITEMS}; there may be more.");
    }
    Ok(text)
}

/// The items that wait for this person, as the hub orders them.
pub async fn waiting_items(client: &HubClient) -> Result<Vec<ClientItem>> {
    let items = read(client, &InboxFilter::default(), None).await?;
    Ok(items.iter().map(typed).collect::<Result<_, _>>()?)
}

async fn read(client: &HubClient, filter: &InboxFilter, limit: Option<usize>) -> Result<Vec<Value>> {
    let limit = limit.unwrap_or(MAX_ITEMS).min(MAX_ITEMS);
    let size = PAGE_SIZE.min(limit).to_string();
    let mut items = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut query = vec![("limit", size.as_str())];
        query.extend(filter.query());
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let mut page = client.get(&["v1", "inbox"], &query).await?;
        items.append(&mut typed(&page["items"].take())?);
        let next = page["next_cursor"].as_str().map(str::to_owned);
        // A repeated cursor would loop forever.
        if next.is_none() || next == cursor || items.len() >= limit {
            break;
        }
        cursor = next;
    }
    items.truncate(limit);
    Ok(items)
}

#[derive(Clone, Copy)]
struct Columns {
    numbers: bool,
    ids: bool,
}

impl Columns {
    /// The cells of a row that are shown.
    fn cells<T>(self, number: T, id: T, rest: [T; 6]) -> impl Iterator<Item = T> {
        let number = Some(number).filter(|_| self.numbers);
        let id = Some(id).filter(|_| self.ids);
        number.into_iter().chain(id).chain(rest)
    }
}

fn render(items: &[ClientItem], columns: Columns, now: jiff::Timestamp, filter: &str) -> String {
    let names = ["PRIORITY", "WAITING", "AGENT", "KIND", "TITLE", "EXPIRES"];
    let mut table = TextTable::new(&columns.cells("#", "ID", names).collect::<Vec<_>>());
    for (index, item) in items.iter().enumerate() {
        let rest = [
            item.priority.clone(),
            duration_label(item.created_at.age(now)),
            item.asker().to_owned(),
            item.kind().to_owned(),
            item.title.clone(),
            item.held_text().unwrap_or_else(|| item.expiry_cell(now)),
        ];
        table.row(columns.cells((index + 1).to_string(), item.id.clone(), rest));
    }
    if filter.is_empty() {
        table.render_or("Nothing waits for you.")
    } else {
        table.render_or(&format!("Nothing waits for you with {}.", screen::escape(filter)))
    }
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
        let columns = Columns {
            numbers: true,
            ids: true,
        };
        let now = "2026-06-04T15:00:00Z".parse().unwrap();
        let text = render(std::slice::from_ref(&item), columns, now, "");
        let line = text.lines().nth(1).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert_eq!(
            line.split("  ")
                .filter(|cell| !cell.is_empty())
                .map(str::trim)
                .collect::<Vec<_>>(),
            [
                "1",
                "msg_1",
                "urgent",
                "10m",
                "bot",
                "confirm",
                "Deploy?\\n\\u{1b}[2K\\u{202e}",
                "–"
            ]
        );
        let narrow = Columns { ids: false, ..columns };
        assert!(!render(&[item], narrow, now, "").contains("msg_1"));
    }

    #[test]
    fn an_empty_inbox_says_so_with_its_filter() {
        let columns = Columns {
            numbers: false,
            ids: true,
        };
        let empty = |filter| render(&[], columns, jiff::Timestamp::now(), filter);
        assert_eq!(empty(""), "Nothing waits for you.\n");
        assert_eq!(empty("agent bot"), "Nothing waits for you with agent bot.\n");
    }
}

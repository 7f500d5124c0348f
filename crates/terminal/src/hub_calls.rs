//! The inbox's calls to the hub.

use std::sync::Arc;

use countersign_client::hub::{ClientError, HubClient, typed};
use countersign_protocol::api::inbox::ItemsPage;
use serde_json::{Value, json};

use super::browser;
use super::filter::InboxFilter;
use super::inbox_entry::InboxEntry;
use super::presets;
use super::state::{Effect, EntriesPage, InboxReply, Listing, SnoozeAction};

const PAGE_SIZE: usize = 100;

/// Carries out an effect of the state. `Ring` and `Quit` do not involve the hub.
pub async fn perform(client: &HubClient, filter: &InboxFilter, effect: Effect) -> Option<InboxReply> {
    Some(match effect {
        Effect::Load { listing, after, want } => {
            let page = load(client, filter, &listing, after.clone(), want).await;
            InboxReply::Loaded {
                listing,
                appends: after.is_some(),
                page,
            }
        }
        Effect::Read { id, fresh } => {
            let entry = read(client, &id).await.map(Arc::new);
            InboxReply::Read { id, fresh, entry }
        }
        Effect::Resolve { id, mut body } => {
            body["hold"] = true.into();
            let done = client.post(&["v1", "messages", &id, "resolve"], &body).await;
            let status = done.map(|reply| reply["status"].as_str().unwrap_or_default().to_owned());
            InboxReply::Resolved { id, status }
        }
        Effect::Put { id, away } => {
            let done = put(client, &id, &away).await.map(drop);
            InboxReply::Put { id, away, done }
        }
        Effect::Undo { id } => {
            let done = client.post(&["v1", "inbox", &id, "undo"], &json!({})).await.map(drop);
            InboxReply::Undone { id, done }
        }
        Effect::Retry { id } => {
            let done = client
                .post(&["v1", "admin", "deliveries", "retry"], &json!({ "id": id }))
                .await
                .map(drop);
            InboxReply::Retried { id, done }
        }
        Effect::Ahead { agent_id, text } => {
            let done = ahead(client, &agent_id, &text).await.map(drop);
            InboxReply::Ahead { agent_id, text, done }
        }
        Effect::Count => InboxReply::Counted(count(client).await),
        Effect::Presets => InboxReply::Presets(presets::read(client).await),
        Effect::Browse { id } => InboxReply::Browsed(browser::open(client, &id).await),
        Effect::Ring | Effect::Quit => return None,
    })
}

/// Answers the agent's next cue.
pub async fn ahead(client: &HubClient, agent_id: &str, text: &str) -> Result<Value, ClientError> {
    client
        .post(&["v1", "terminals", agent_id, "ahead"], &json!({ "text": text }))
        .await
}

pub async fn read(client: &HubClient, id: &str) -> Result<InboxEntry, ClientError> {
    InboxEntry::read(&client.get(&["v1", "inbox", id], &[]).await?)
}

async fn put(client: &HubClient, id: &str, away: &SnoozeAction) -> Result<Value, ClientError> {
    match away {
        SnoozeAction::Until(until) => {
            client
                .post(
                    &["v1", "inbox", id, "aside"],
                    &json!({ "until": format!("{until:.3}") }),
                )
                .await
        }
        SnoozeAction::Archived => client.post(&["v1", "inbox", id, "archive"], &json!({})).await,
        SnoozeAction::Back => client.post(&["v1", "inbox", id, "return"], &json!({})).await,
    }
}

/// A short page has the number of all items, too.
async fn count(client: &HubClient) -> Result<Option<i64>, ClientError> {
    let page: ItemsPage<Value> = typed(&client.get(&["v1", "inbox"], &[("limit", "1")]).await?)?;
    Ok(page.total)
}

/// Reads pages until there are `want` items, or no more.
pub async fn load(
    client: &HubClient,
    filter: &InboxFilter,
    listing: &Listing,
    mut after: Option<String>,
    want: usize,
) -> Result<EntriesPage, ClientError> {
    let mut items = Vec::new();
    let mut total = None;
    loop {
        // A page may be empty without being the last: the hub scans a bounded number of items per page.
        let page = one_page(client, filter, listing, after.as_deref()).await?;
        // A repeated cursor would loop forever.
        let is_stuck = page.next_cursor.is_some() && page.next_cursor == after;
        items.extend(page.items);
        total = total.or(page.total);
        after = page.next_cursor.filter(|_| !is_stuck);
        if after.is_none() || items.len() >= want {
            let items = with_presence(client, listing, items).await;
            return Ok(EntriesPage {
                items: items.into_iter().map(Arc::new).collect(),
                next_cursor: after,
                total,
            });
        }
    }
}

/// Adds the presence that lists omit. The terminals give it for each terminal's newest cue; for other cues it is read
/// when they are opened.
async fn with_presence(client: &HubClient, listing: &Listing, mut items: Vec<InboxEntry>) -> Vec<InboxEntry> {
    let lacks_presence = |entry: &InboxEntry| entry.item.is_cue() && entry.item.presence.is_none();
    if *listing != Listing::Waiting || !items.iter().any(lacks_presence) {
        return items;
    }
    // The presence is optional for the list.
    let Ok(terminals) = client.terminals().await else {
        return items;
    };
    for entry in items.iter_mut().filter(|entry| lacks_presence(entry)) {
        let terminal = terminals
            .iter()
            .find(|terminal| terminal.last_cue_id.as_deref() == Some(entry.id()));
        entry.item.presence = terminal.map(|terminal| terminal.presence.clone());
    }
    items
}

async fn one_page(
    client: &HubClient,
    filter: &InboxFilter,
    listing: &Listing,
    after: Option<&str>,
) -> Result<ItemsPage<InboxEntry>, ClientError> {
    let size = PAGE_SIZE.to_string();
    let mut query = vec![("limit", size.as_str())];
    query.extend(after.map(|cursor| ("cursor", cursor)));
    let path: &[&str] = match listing {
        Listing::Waiting => {
            query.extend(filter.query());
            &["v1", "inbox"]
        }
        Listing::Notices => &["v1", "notices"],
        Listing::Snoozed => {
            query.clear();
            &["v1", "inbox", "aside"]
        }
        Listing::Decided => {
            query.extend(filter.query());
            &["v1", "decided"]
        }
        Listing::Found(text) => {
            query.push(("q", text));
            &["v1", "search"]
        }
    };
    let page: ItemsPage<Value> = typed(&client.get(path, &query).await?)?;
    Ok(ItemsPage {
        items: page.items.iter().filter_map(InboxEntry::read_or_name).collect(),
        next_cursor: page.next_cursor,
        total: page.total,
    })
}

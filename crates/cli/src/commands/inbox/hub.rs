//! What the inbox asks of the hub, call by call.

use std::sync::Arc;

use serde_json::{Value, json};

use super::filter::Filter;
use super::presets;
use super::seen::Seen;
use super::state::{Away, Effect, Listing, Page, Reply};
use crate::client::{Client, HubError, typed};

const PAGE_SIZE: usize = 100;

/// Does what the state asked for. Ringing and ending are not the hub's.
pub async fn perform(client: &Client, filter: &Filter, effect: Effect) -> Option<Reply> {
    Some(match effect {
        Effect::Load { listing, after, want } => {
            let page = load(client, filter, &listing, after.clone(), want).await;
            Reply::Loaded { listing, appends: after.is_some(), page }
        }
        Effect::Read { id, fresh } => {
            let seen = read(client, &id).await.map(Arc::new);
            Reply::Read { id, fresh, seen }
        }
        Effect::Resolve { id, body } => {
            let done = client.post(&["v1", "messages", &id, "resolve"], &body).await;
            let status = done.map(|reply| reply["status"].as_str().unwrap_or_default().to_owned());
            Reply::Resolved { id, status }
        }
        Effect::Put { id, away } => {
            let done = put(client, &id, &away).await.map(drop);
            Reply::Put { id, away, done }
        }
        Effect::Retry { id } => {
            let done = client.post(&["v1", "admin", "deliveries", "retry"], &json!({ "id": id })).await.map(drop);
            Reply::Retried { id, done }
        }
        Effect::Presets => Reply::Presets(presets::read(client).await),
        Effect::Ring | Effect::Quit => return None,
    })
}

pub async fn read(client: &Client, id: &str) -> Result<Seen, HubError> {
    Seen::read(&client.get(&["v1", "inbox", id], &[]).await?)
}

async fn put(client: &Client, id: &str, away: &Away) -> Result<Value, HubError> {
    match away {
        Away::Until(until) => {
            client.post(&["v1", "inbox", id, "aside"], &json!({ "until": format!("{until:.3}") })).await
        }
        Away::Archived => client.post(&["v1", "inbox", id, "archive"], &json!({})).await,
        Away::Back => client.post(&["v1", "inbox", id, "return"], &json!({})).await,
    }
}

/// Reads on until there are `want` items, or no more.
pub async fn load(
    client: &Client,
    filter: &Filter,
    listing: &Listing,
    mut after: Option<String>,
    want: usize,
) -> Result<Page, HubError> {
    let mut items = Vec::new();
    loop {
        // A page may be empty and not the last: the hub looks at a bounded number of items for each.
        let page = one_page(client, filter, listing, after.as_deref()).await?;
        // A cursor that comes back would never end.
        let is_stuck = page.next.is_some() && page.next == after;
        items.extend(page.items);
        after = page.next.filter(|_| !is_stuck);
        if after.is_none() || items.len() >= want {
            return Ok(Page { items, next: after });
        }
    }
}

async fn one_page(client: &Client, filter: &Filter, listing: &Listing, after: Option<&str>) -> Result<Page, HubError> {
    let size = PAGE_SIZE.to_string();
    let mut query = vec![("limit", size.as_str())];
    query.extend(after.map(|cursor| ("cursor", cursor)));
    let path: &[&str] = match listing {
        Listing::Waiting => {
            query.extend(filter.query());
            &["v1", "inbox"]
        }
        Listing::Notices => &["v1", "notices"],
        Listing::Aside => {
            query.clear();
            &["v1", "inbox", "aside"]
        }
        Listing::Decided => {
            query.extend(filter.query());
            &["v1", "decided"]
        }
        Listing::Found(words) => {
            query.push(("q", words));
            &["v1", "search"]
        }
    };
    page(&client.get(path, &query).await?)
}

fn page(reply: &Value) -> Result<Page, HubError> {
    let values: Vec<Value> = typed(&reply["items"])?;
    let items = values.iter().filter_map(Seen::read_or_name).map(Arc::new).collect();
    Ok(Page { items, next: reply["next_cursor"].as_str().map(str::to_owned) })
}

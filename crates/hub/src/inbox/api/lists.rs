//! GET /v1/inbox, /v1/notices, /v1/search, /v1/decided and /v1/messages

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_core::access::Principal;
use countersign_protocol::api::inbox::{ItemsPage, MessagesPage};
use countersign_protocol::time::Timestamp;
use countersign_store::model::{InboxOrder, ListEntry, entry_seq};
use countersign_store::ops::list::{Decided, History, Inbox, Notices, WaitingCount};
use countersign_store::ops::search::{Search, SearchOrder};

use super::query::ListQuery;
use crate::Hub;
use crate::http::callers::{AnyCaller, PersonCaller, not_for_terminals};
use crate::http::extract::Params;
use crate::inbox::cursor::inbox_cursor_text;
use crate::inbox::item::{HubItem, render_entry, shown_presence};
use crate::problem::Problem;

/// Open asks and tasks: those that expire within an hour, then those whose agent waits right now, then by priority and
/// age; without the items that the caller snoozed.
pub async fn list(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    Params(query): Params<ListQuery>,
) -> Result<Json<ItemsPage<HubItem>>, Problem> {
    let limit = query.limit()?;
    let filter = query.filter()?;
    let after = query.open_cursor()?;
    let viewer = person.name.clone();
    let total = match after {
        Some(_) => None,
        None => Some(hub.store.run(WaitingCount { person: viewer.clone() }).await?),
    };
    let found = hub
        .store
        .run(Inbox {
            viewer: Some(viewer),
            filter,
            order: InboxOrder::Smart,
            waiting: hub.cue_waiters.waiting(),
            after,
            limit,
        })
        .await?;
    let next = found.next.as_ref().map(inbox_cursor_text);
    let viewer = person.into();
    let items = found.items.into_iter().map(|entry| {
        let presence = entry
            .as_ref()
            .ok()
            .map(|item| hub.cue_waiters.presence_of(&item.message));
        HubItem {
            presence: presence.map(shown_presence),
            ..render_entry(entry, &viewer)
        }
    });
    Ok(Json(ItemsPage {
        items: items.collect(),
        next_cursor: next,
        total,
    }))
}

/// Notifies the caller has not archived, newest first.
pub async fn notices(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    Params(query): Params<ListQuery>,
) -> Result<Json<ItemsPage<HubItem>>, Problem> {
    let limit = query.limit()?;
    let before = query.seq_cursor()?;
    let found = hub
        .store
        .run(Notices {
            person: Some(person.name.clone()),
            before,
            limit,
        })
        .await?;
    Ok(page(found.items, &person.into(), found.next.map(|seq| seq.to_string())))
}

/// Messages that match the words and filters, newest first.
pub async fn search(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    Params(query): Params<ListQuery>,
) -> Result<Json<ItemsPage<HubItem>>, Problem> {
    let search = Search {
        query: query.search()?,
        order: SearchOrder::Arrived,
        before: query.seq_cursor()?.map(|seq| (Timestamp::from_millis(0), seq)),
        limit: usize::try_from(query.limit()?).unwrap_or_default(),
        is_counted: false,
    };
    hub.background.indexer.wait_until_caught_up().await;
    let found = hub.store.run(search).await?;
    Ok(page(
        found.items,
        &person.into(),
        found.next.map(|(_, seq)| seq.to_string()),
    ))
}

/// Resolved asks and tasks, the latest decision first.
pub async fn decided(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    Params(query): Params<ListQuery>,
) -> Result<Json<ItemsPage<HubItem>>, Problem> {
    let limit = query.limit()?;
    let filter = query.filter()?;
    let before = query.decided_cursor()?;
    let found = hub
        .store
        .run(Decided {
            filter,
            status: query.final_status()?,
            before,
            limit,
        })
        .await?;
    let next = found
        .next
        .map(|(resolved_at, seq)| format!("{}.{seq}", resolved_at.as_millis()));
    Ok(page(found.items, &person.into(), next))
}

/// All messages, newest first. An agent gets its own messages, a person those of all agents.
pub async fn history(
    State(hub): State<Arc<Hub>>,
    AnyCaller(viewer): AnyCaller,
    Params(query): Params<ListQuery>,
) -> Result<Json<MessagesPage<HubItem>>, Problem> {
    let limit = query.limit()?;
    let before = query.seq_cursor()?;
    let status = query.status()?.map(|status| status.as_str().to_owned());
    let agent_id = match &viewer {
        Principal::Agent { id } => Some(id.clone()),
        Principal::Person { .. } => None,
        Principal::Terminal { .. } => return Err(not_for_terminals()),
    };
    let items = hub
        .store
        .run(History {
            agent_id,
            status,
            before,
            limit,
        })
        .await?;
    let next_cursor = last_of_full_page(&items, limit).map(|entry| entry_seq(entry).to_string());
    Ok(Json(MessagesPage {
        messages: rendered(items, &viewer),
        next_cursor,
    }))
}

fn last_of_full_page(items: &[ListEntry], limit: i64) -> Option<&ListEntry> {
    let is_full = i64::try_from(items.len()).is_ok_and(|count| count == limit);
    items.last().filter(|_| is_full)
}

fn page(items: Vec<ListEntry>, viewer: &Principal, next_cursor: Option<String>) -> Json<ItemsPage<HubItem>> {
    let items = rendered(items, viewer);
    Json(ItemsPage {
        items,
        next_cursor,
        total: None,
    })
}

fn rendered(items: Vec<ListEntry>, viewer: &Principal) -> Vec<HubItem> {
    items.into_iter().map(|entry| render_entry(entry, viewer)).collect()
}

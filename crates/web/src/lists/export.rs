//! GET /inbox/history/export: the decided items that a search finds, as CSV or as JSON lines.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use axum::routing::get;
use countersign_core::State as MessageState;
use countersign_core::outcome::{ENGLISH, detail, ending};
use countersign_core::search::SearchQuery;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::model::PersonView;
use countersign_store::ops::search::{Search, SearchOrder, SearchPage};
use futures_util::stream;
use serde::Serialize;

use super::history::narrowed;
use super::open::FilterForm;
use super::query::TypedSearch;
use crate::layout::form::FormFields;
use crate::layout::page::PageError;
use crate::layout::signed_in_user::SignedInUser;
use crate::layout::zone::ReaderZone;

pub const ADDRESS: &str = "/inbox/history/export";
const CHUNK_ITEMS: usize = 200;
/// A longer history is saved in parts, with `before:`.
const MAX_EXPORTED: usize = 50_000;

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route(ADDRESS, get(export))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExportFormat {
    Csv,
    JsonLines,
}

impl ExportFormat {
    fn of(text: &str) -> Result<Self, Problem> {
        match text {
            "csv" => Ok(Self::Csv),
            "jsonl" => Ok(Self::JsonLines),
            _ => Err(Problem::validation("format", "format must be csv or jsonl")),
        }
    }

    fn headers(self) -> [(header::HeaderName, HeaderValue); 2] {
        let (media_type, disposition) = match self {
            Self::Csv => ("text/csv; charset=utf-8", "attachment; filename=\"history.csv\""),
            Self::JsonLines => ("application/jsonl", "attachment; filename=\"history.jsonl\""),
        };
        [
            (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
            (header::CONTENT_DISPOSITION, HeaderValue::from_static(disposition)),
        ]
    }

    /// The lines of some items. The column names stand before the first one.
    fn lines(self, items: &[ExportedItem], is_first: bool) -> Result<Vec<u8>, ExportError> {
        match self {
            Self::Csv => {
                let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
                if is_first {
                    writer.write_record(ExportedItem::COLUMNS)?;
                }
                for item in items {
                    writer.serialize(item.for_spreadsheet())?;
                }
                writer
                    .into_inner()
                    .map_err(|error| ExportError::Csv(error.into_error().into()))
            }
            Self::JsonLines => {
                let mut lines = Vec::new();
                for item in items {
                    serde_json::to_writer(&mut lines, item)?;
                    lines.push(b'\n');
                }
                Ok(lines)
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Csv(#[from] csv::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

#[derive(Debug, Clone, Serialize)]
struct ExportedItem {
    id: String,
    kind: &'static str,
    agent: String,
    agent_name: String,
    project: String,
    tags: String,
    title: String,
    received_at: String,
    decided_at: String,
    seconds: u64,
    outcome: &'static str,
    ending: &'static str,
    answer: String,
    actor: String,
    comment: String,
}

impl ExportedItem {
    const COLUMNS: [&str; 15] = [
        "id",
        "kind",
        "agent",
        "agent_name",
        "project",
        "tags",
        "title",
        "received_at",
        "decided_at",
        "seconds",
        "outcome",
        "ending",
        "answer",
        "actor",
        "comment",
    ];

    /// Returns `None` for a message without a decision. A sensitive message has neither answer nor comment.
    fn of(item: &PersonView) -> Option<Self> {
        let message = &item.message;
        let content = &message.content;
        let MessageState::Resolved(resolution) = &message.state else {
            return None;
        };
        let shown = |text: Option<String>| text.filter(|_| !content.sensitive).unwrap_or_default();
        Some(Self {
            id: message.id.to_string(),
            kind: content.kind_word(),
            agent: content.agent.id.clone(),
            agent_name: item.agent_name.clone(),
            project: content.agent.project.clone().unwrap_or_default(),
            tags: content.tags.join(" "),
            title: content.title.clone(),
            received_at: message.received_at.to_string(),
            decided_at: resolution.resolved_at.to_string(),
            seconds: resolution.resolved_at.since(message.received_at).as_secs(),
            outcome: resolution.outcome.as_str(),
            ending: ending(resolution, content).label,
            answer: shown(detail(resolution, content, ENGLISH)),
            actor: resolution.actor.to_string(),
            comment: shown(resolution.comment.clone()),
        })
    }

    /// Spreadsheets run a cell that begins like a formula; an apostrophe makes it a text.
    fn for_spreadsheet(&self) -> Self {
        let text = |text: &String| match text.chars().next() {
            Some('=' | '+' | '-' | '@' | '\t' | '\r') => format!("'{text}"),
            _ => text.clone(),
        };
        Self {
            agent: text(&self.agent),
            agent_name: text(&self.agent_name),
            project: text(&self.project),
            tags: text(&self.tags),
            title: text(&self.title),
            answer: text(&self.answer),
            comment: text(&self.comment),
            ..self.clone()
        }
    }
}

/// The position of an export in the history.
struct ExportCursor {
    before: Option<(Timestamp, i64)>,
    exported: usize,
    is_first: bool,
}

async fn export(
    State(hub): State<Arc<Hub>>,
    _user: SignedInUser,
    reader: ReaderZone,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let fields = FormFields::parse(query.unwrap_or_default().as_bytes());
    let format = ExportFormat::of(fields.text("format"))?;
    let form = FilterForm::of(&fields);
    let typed = TypedSearch::of(&form.q, &reader.zone);
    if let Some(error) = typed.error {
        return Err(Problem::validation("q", error).into());
    }
    let query = narrowed(&typed, &form)?;
    hub.background.indexer.wait_until_caught_up().await;
    let start = ExportCursor {
        before: None,
        exported: 0,
        is_first: true,
    };
    let chunks = stream::try_unfold(Some(start), move |cursor| {
        let (hub, query) = (Arc::clone(&hub), query.clone());
        async move {
            let Some(cursor) = cursor else { return Ok(None) };
            chunk(&hub, query, format, cursor).await.map(Some)
        }
    });
    let mut response = Response::new(Body::from_stream(chunks));
    response.headers_mut().extend(format.headers());
    Ok(response)
}

/// The next lines, and the position behind them unless they are the last.
async fn chunk(
    hub: &Hub,
    query: SearchQuery,
    format: ExportFormat,
    cursor: ExportCursor,
) -> Result<(Vec<u8>, Option<ExportCursor>), ExportError> {
    let search = Search {
        query,
        order: SearchOrder::Decided,
        before: cursor.before,
        limit: CHUNK_ITEMS,
        is_counted: false,
    };
    let SearchPage { items, next, .. } = hub.store.run(search).await?;
    let items: Vec<ExportedItem> = items.iter().flatten().filter_map(ExportedItem::of).collect();
    let lines = format.lines(&items, cursor.is_first)?;
    let exported = cursor.exported + items.len();
    let rest = next.filter(|_| exported < MAX_EXPORTED).map(|before| ExportCursor {
        before: Some(before),
        exported,
        is_first: false,
    });
    Ok((lines, rest))
}

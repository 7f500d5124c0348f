//! GET /inbox/history: decided items, with actor, time, duration and delivery.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use countersign_core::asker::RunOrigin;
use countersign_core::delivery::DeliveryState as Delivered;
use countersign_core::message::Status;
use countersign_core::outcome::{detail, ending, start_of};
use countersign_core::search::{SearchQuery, StateFilter};
use countersign_core::{Actor, Outcome, Resolution, State as MessageState};
use countersign_hub::Hub;
use countersign_hub::inbox::cursor::parse_pair;
use countersign_hub::problem::Problem;
use countersign_protocol::time::Timestamp;
use countersign_store::model::PersonView;
use countersign_store::ops::search::{Search, SearchOrder, SearchPage};

use super::export::ADDRESS as EXPORT;
use super::open::{ActiveFilter, FilterForm, FilterSuggestions, PAGE_SIZE};
use super::query::{TypedSearch, total_text};
use super::row::{DeliveryLabel, ListKind, MessageRow, RowOutcome, rows};
use crate::agents::KnownNames;
use crate::language::t;
use crate::layout::filters;
use crate::layout::form::FormFields;
use crate::layout::formatting;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::layout::zone::ReaderZone;

const ADDRESS: &str = "/inbox/history";

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route(ADDRESS, get(history))
}

#[derive(Template)]
#[template(path = "history.html")]
struct HistoryPage {
    layout: PageLayout,
    rows: Vec<MessageRow>,
    filter_form: FilterForm,
    active: Vec<ActiveFilter>,
    suggestions: FilterSuggestions,
    error: Option<String>,
    total: Option<String>,
    /// The links that save the list: CSV and JSON lines.
    exports: [String; 2],
    first: Option<String>,
    next: Option<String>,
}

async fn history(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
    reader: ReaderZone,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = FormFields::parse(query.unwrap_or_default().as_bytes());
    let filter_form = FilterForm::of(&query);
    let typed = TypedSearch::of(&filter_form.q, &reader.zone);
    let before = query
        .get("before")
        .filter(|text| !text.is_empty())
        .map(parse_cursor)
        .transpose()?;
    let page = found(&hub, &typed, &filter_form, before).await?;
    let names = KnownNames::of(&hub, [filter_form.agent.as_str()]).await?;
    let now = hub.store.clock().now();
    let next = page
        .next
        .map(|(at, seq)| ("before", format!("{}.{seq}", at.as_millis())));
    let row = |item: &PersonView| MessageRow {
        marks: typed.marks(item),
        ..row(&hub, item, ListKind::History, now, &user)
    };
    let page = HistoryPage {
        layout: PageLayout::of(&hub, &user, &request, PageSection::History, t("History")).await?,
        rows: rows(&page.items, now, row),
        active: filter_form.active(ADDRESS, &names),
        suggestions: FilterSuggestions::by(page.items.iter().flatten()),
        error: typed.error,
        total: page.total.filter(|total| total.count > 0).map(total_text),
        exports: ["csv", "jsonl"].map(|format| filter_form.address(EXPORT, None, Some(("format", format.to_owned())))),
        first: before.map(|_| filter_form.address(ADDRESS, None, None)),
        next: next.map(|next| filter_form.address(ADDRESS, None, Some(next))),
        filter_form,
    };
    Ok(render(StatusCode::OK, &page))
}

/// A search that cannot be read finds nothing.
async fn found(
    hub: &Hub,
    typed: &TypedSearch,
    form: &FilterForm,
    before: Option<(Timestamp, i64)>,
) -> Result<SearchPage, PageError> {
    if typed.error.is_some() {
        return Ok(SearchPage::default());
    }
    hub.background.indexer.wait_until_caught_up().await;
    let search = Search {
        query: narrowed(typed, form)?,
        order: SearchOrder::Decided,
        before,
        limit: usize::try_from(PAGE_SIZE).unwrap_or_default(),
        is_counted: true,
    };
    Ok(hub.store.run(search).await?)
}

/// The typed search together with the filter form, which stands above it.
pub fn narrowed(typed: &TypedSearch, form: &FilterForm) -> Result<SearchQuery, Problem> {
    let filter = form.filter();
    let mut query = typed.query.clone();
    query.agent = filter.agent.or(query.agent);
    query.project = filter.project.or(query.project);
    query.kind = filter.kind.or(query.kind);
    query.tags.extend(filter.tag);
    query.state = status_of(&form.status)?.map(StateFilter::Status).or(query.state);
    Ok(query)
}

fn status_of(text: &str) -> Result<Option<Status>, Problem> {
    let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == text);
    match outcome {
        Some(outcome) => Ok(Some(Status::Resolved(outcome))),
        None if text.is_empty() => Ok(None),
        None => Err(Problem::validation("status", "status must be an outcome from the list")),
    }
}

fn parse_cursor(text: &str) -> Result<(Timestamp, i64), Problem> {
    let (at, seq) = parse_pair(text)
        .ok_or_else(|| Problem::validation("before", "before is not valid; start again at the first page"))?;
    Ok((Timestamp::from_millis(at), seq))
}

/// A row that shows the outcome of its message.
pub fn row(hub: &Hub, item: &PersonView, list: ListKind, now: Timestamp, user: &SignedInUser) -> MessageRow {
    let outcome = match &item.message.state {
        MessageState::Resolved(resolution) => Some(outcome(item, resolution)),
        MessageState::Open | MessageState::Delivered => None,
    };
    MessageRow {
        outcome,
        ..MessageRow::seen_by(hub, item, list, now, user)
    }
}

fn outcome(item: &PersonView, resolution: &Resolution) -> RowOutcome {
    let message = &item.message;
    RowOutcome {
        ending: ending(resolution, &message.content),
        text: detail(resolution, &message.content, t).map(start_of),
        actor: formatting::actor_name(&resolution.actor).to_owned(),
        at: formatting::display_time(resolution.resolved_at),
        took: formatting::span(resolution.resolved_at.since(message.received_at)),
        delivery_label: delivery_label(item, resolution),
    }
}

/// Returns `None` if no delivery is needed: the agent cancelled or decided itself, or the asker is a run in this hub.
pub fn delivery_label(item: &PersonView, resolution: &Resolution) -> Option<DeliveryLabel> {
    let is_of_run = RunOrigin::of(&item.message.source).is_some();
    if is_of_run || resolution.actor == Actor::agent(&item.message.content.agent.id) {
        return None;
    }
    let (text, badge_class) = match (&item.delivery, item.fetched_at) {
        (_, Some(_)) => ("fetched by the agent", "good"),
        (None, None) => ("waiting for the agent", ""),
        (Some(delivery), None) => match (delivery.state, delivery.attempts) {
            (Delivered::Delivered, _) => ("delivered", "good"),
            (Delivered::Failed, _) => ("not delivered", "bad"),
            (Delivered::Pending, 0) => ("on its way", ""),
            (Delivered::Pending, _) => ("delivery failing, will try again", "warn"),
        },
    };
    Some(DeliveryLabel { text, badge_class })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(next: Option<&str>) -> String {
        let page = HistoryPage {
            layout: PageLayout::anonymous(&PageRequest::default(), PageSection::History, "History"),
            rows: Vec::new(),
            filter_form: FilterForm::of(&FormFields::parse(b"tag=rare")),
            active: Vec::new(),
            suggestions: FilterSuggestions::default(),
            error: None,
            total: None,
            exports: Default::default(),
            first: None,
            next: next.map(str::to_owned),
        };
        page.render().expect("a page")
    }

    #[test]
    fn empty_page_of_an_unfinished_scan_points_to_the_next_page() {
        let over = empty(None);
        let further = empty(Some("/inbox/history?tag=rare&before=1.1"));
        assert!(
            over.contains("Nothing decided matches these filters") && !over.contains("looks further"),
            "{over}"
        );
        assert!(
            !further.contains("matches these filters") && further.contains("The next page looks further"),
            "{further}"
        );
    }
}

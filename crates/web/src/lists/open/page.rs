//! GET /inbox: open items, urgent first, then the longest waiting.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use countersign_hub::Hub;
use countersign_hub::inbox::cursor::parse_pair;
use countersign_hub::problem::Problem;
use countersign_store::model::Cursor;
use countersign_store::ops::list::{Inbox, ListSnoozed};

use super::filter_form::{ActiveFilter, FilterForm, FilterSuggestions};
use crate::layout::filters;
use crate::layout::form::FormFields;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::{ListKind, MessageRow, rows};

/// Rows on one page.
pub const PAGE_SIZE: i64 = 30;

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox", get(list))
}

#[derive(Template)]
#[template(path = "list.html")]
struct ListPage {
    layout: PageLayout,
    rows: Vec<MessageRow>,
    filter_form: FilterForm,
    active: Vec<ActiveFilter>,
    suggestions: FilterSuggestions,
    /// When the first snoozed item returns.
    returns_at: Option<i64>,
    may_decide: bool,
    /// Link to the first page, on later pages.
    first: Option<String>,
    next: Option<String>,
}

async fn list(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = FormFields::parse(query.unwrap_or_default().as_bytes());
    let filter_form = FilterForm::of(&query);
    let after = query
        .get("cursor")
        .filter(|text| !text.is_empty())
        .map(parse_cursor)
        .transpose()?;
    let is_first = after.is_none();
    let viewer = Some(user.name.clone());
    let page = hub
        .store
        .run(Inbox {
            viewer,
            filter: filter_form.filter(),
            after,
            limit: PAGE_SIZE,
        })
        .await?;
    let soonest = hub
        .store
        .run(ListSnoozed {
            person: user.name.clone(),
            limit: 1,
        })
        .await?;
    let now = hub.store.clock().now();
    let next = page
        .next
        .map(|Cursor { rank, seq }| ("cursor", format!("{rank}.{seq}")));
    let page = ListPage {
        layout: PageLayout::of(&hub, &user, &request, PageSection::List, "Inbox").await?,
        rows: rows(&page.items, now, |item| {
            MessageRow::seen_by(&hub, item, ListKind::Open, now, &user)
        }),
        active: filter_form.active("/inbox"),
        suggestions: FilterSuggestions::by(page.items.iter().flatten()),
        returns_at: soonest.first().map(|snoozed| snoozed.until.as_millis()),
        may_decide: user.may_decide(),
        first: (!is_first).then(|| filter_form.address("/inbox", None, None)),
        next: next.map(|next| filter_form.address("/inbox", None, Some(next))),
        filter_form,
    };
    Ok(render(StatusCode::OK, &page))
}

fn parse_cursor(text: &str) -> Result<Cursor, Problem> {
    let (rank, seq) = parse_pair(text)
        .ok_or_else(|| Problem::validation("cursor", "cursor is not valid; start again at the first page"))?;
    Ok(Cursor { rank, seq })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(next: Option<&str>) -> String {
        let page = ListPage {
            layout: PageLayout::anonymous(&PageRequest::default(), PageSection::List, "Inbox"),
            rows: Vec::new(),
            filter_form: FilterForm::of(&FormFields::parse(b"tag=rare")),
            active: Vec::new(),
            suggestions: FilterSuggestions::default(),
            returns_at: None,
            may_decide: true,
            first: None,
            next: next.map(str::to_owned),
        };
        page.render().expect("a page")
    }

    #[test]
    fn empty_page_of_an_unfinished_scan_points_to_the_next_page() {
        let over = empty(None);
        let further = empty(Some("/inbox?tag=rare&cursor=1.1"));
        assert!(
            over.contains("Nothing open fits these filters") && !over.contains("looks further"),
            "{over}"
        );
        assert!(
            !further.contains("fits these filters") && further.contains("The next page looks further"),
            "{further}"
        );
    }
}

//! GET /inbox: open items, by default those the user may answer: what ends soon first, then what an agent waits for,
//! then by priority and age.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use countersign_hub::Hub;
use countersign_hub::inbox::cursor::{inbox_cursor_text, parse_inbox_cursor, walk_text};
use countersign_hub::problem::Problem;
use countersign_store::model::{Cursor, PersonView};
use countersign_store::ops::list::{Inbox, ListSnoozed};

use super::filter_form::{ActiveFilter, FilterForm, FilterSuggestions, MenuEntry};
use super::groups::{group_of, with_headings};
use super::views;
use crate::agents::KnownNames;
use crate::item::item_query;
use crate::language::t;
use crate::layout::filters;
use crate::layout::form::FormFields;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::onboarding::{FirstStep, Onboarding};
use crate::lists::row::{ListKind, MessageRow, RowForm, rows};

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
    /// What the scripts need to continue the order: the walk of this page, as in a cursor.
    walk: String,
    /// The query of item links, for rows that arrive later.
    item_query: String,
    views: Vec<MenuEntry>,
    /// The query of this list, for a new view.
    view_query: String,
    /// Link to the first page, on later pages.
    first: Option<String>,
    next: Option<String>,
    /// The first steps of a new person, on the first page.
    onboarding: Option<Onboarding>,
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
            filter: filter_form.filter_for(&user),
            order: filter_form.order(),
            waiting: hub.cue_waiters.waiting(),
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
    let onboarding = if is_first && !filter_form.is_on() {
        Onboarding::of(&hub, &user, !page.items.is_empty()).await?
    } else {
        None
    };
    let names = KnownNames::of(&hub, [filter_form.agent.as_str()]).await?;
    let next = page.next.as_ref().map(|cursor| ("cursor", inbox_cursor_text(cursor)));
    let item_query = item_query(&filter_form, &page.walk);
    let row = |item: &PersonView| MessageRow {
        item_query: item_query.clone(),
        form: RowForm {
            csrf: user.csrf.clone(),
            back: request.path.clone(),
        },
        group: group_of(item, filter_form.order(), &page.walk),
        ..MessageRow::seen_by(&hub, item, ListKind::Open, now, &user)
    };
    let page = ListPage {
        onboarding,
        layout: PageLayout::of(&hub, &user, &request, PageSection::List, t("Inbox")).await?,
        rows: with_headings(rows(&page.items, now, row)),
        active: filter_form.active("/inbox", &names),
        suggestions: FilterSuggestions::by(page.items.iter().flatten()),
        returns_at: soonest.first().map(|snoozed| snoozed.until.as_millis()),
        may_decide: user.may_decide(),
        walk: walk_text(&page.walk),
        item_query: item_query.clone(),
        views: views::entries(&hub, &user, &filter_form).await?,
        view_query: filter_form.address("", None, None),
        first: (!is_first).then(|| filter_form.address("/inbox", None, None)),
        next: next.map(|next| filter_form.address("/inbox", None, Some(next))),
        filter_form,
    };
    Ok(render(StatusCode::OK, &page))
}

fn parse_cursor(text: &str) -> Result<Cursor, Problem> {
    parse_inbox_cursor(text)
        .ok_or_else(|| Problem::validation("cursor", "cursor is not valid; start again at the first page"))
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
            walk: String::new(),
            item_query: String::new(),
            views: Vec::new(),
            view_query: String::new(),
            first: None,
            next: next.map(str::to_owned),
            onboarding: None,
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

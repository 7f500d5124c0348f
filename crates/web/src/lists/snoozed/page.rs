//! GET /inbox/aside: the user's snoozed items, the soonest to return first.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_store::model::SnoozedItem;
use countersign_store::ops::list::ListSnoozed;

use crate::language::t;
use crate::layout::filters;
use crate::layout::formatting;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::{ListKind, MessageRow, RowForm};

/// Far more than a person snoozes in practice; the soonest to return are shown.
const MAX_SHOWN_ITEMS: i64 = 200;

#[derive(Template)]
#[template(path = "aside.html")]
struct SnoozedPage {
    layout: PageLayout,
    rows: Vec<MessageRow>,
    returns_at: Option<i64>,
}

pub async fn snoozed(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
) -> Result<Response, PageError> {
    let found = hub
        .store
        .run(ListSnoozed {
            person: user.name.clone(),
            limit: MAX_SHOWN_ITEMS,
        })
        .await?;
    let now = hub.store.clock().now();
    let row = |SnoozedItem { item, until }: &SnoozedItem| match item {
        Ok(item) => MessageRow {
            until: Some(formatting::display_time(*until)),
            form: RowForm {
                csrf: user.csrf.clone(),
                back: request.path.clone(),
            },
            ..MessageRow::seen_by(&hub, item, ListKind::Snoozed, now, &user)
        },
        Err(damaged) => MessageRow::unreadable(damaged, now),
    };
    let page = SnoozedPage {
        layout: PageLayout::of(&hub, &user, &request, PageSection::Snoozed, t("Snoozed")).await?,
        rows: found.iter().map(row).collect(),
        returns_at: found.first().map(|snoozed_item| snoozed_item.until.as_millis()),
    };
    Ok(render(StatusCode::OK, &page))
}

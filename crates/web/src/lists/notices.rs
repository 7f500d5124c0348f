//! GET /inbox/notices: notifies, which people read and archive. They need no decision, so they have a list of their
//! own.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use countersign_hub::Hub;
use countersign_hub::http::extract::MessagePath;
use countersign_hub::inbox::snooze;
use countersign_hub::problem::Problem;
use countersign_store::model::PersonView;
use countersign_store::ops::list::Notices;

use super::batch::{BatchAction, BatchResult};
use super::open::PAGE_SIZE;
use super::row::{ListKind, MessageRow, RowForm, rows};
use crate::language::t;
use crate::layout::filters;
use crate::layout::form::{FormFields, PostedForm};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, back, render, see_other};
use crate::layout::signed_in_user::SignedInUser;

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/inbox/notices", get(notices))
        .route("/inbox/items/{id}/archive", post(archive))
}

#[derive(Template)]
#[template(path = "notices.html")]
struct NoticesPage {
    layout: PageLayout,
    rows: Vec<MessageRow>,
    first: Option<String>,
    next: Option<String>,
}

async fn notices(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = FormFields::parse(query.unwrap_or_default().as_bytes());
    let before = seq_of(&query)?;
    let page = hub
        .store
        .run(Notices {
            person: Some(user.name.clone()),
            before,
            limit: PAGE_SIZE,
        })
        .await?;
    let now = hub.store.clock().now();
    let row = |item: &PersonView| {
        let form = RowForm {
            csrf: user.csrf.clone(),
            back: request.path.clone(),
        };
        MessageRow {
            form,
            ..MessageRow::seen_by(&hub, item, ListKind::Notices, now, &user)
        }
    };
    let page = NoticesPage {
        layout: PageLayout::of(&hub, &user, &request, PageSection::Notices, t("Notices")).await?,
        rows: rows(&page.items, now, row),
        first: before.map(|_| "/inbox/notices".to_owned()),
        next: page.next.map(|seq| format!("/inbox/notices?before={seq}")),
    };
    Ok(render(StatusCode::OK, &page))
}

/// Parses the cursor of a newest-first list.
pub fn seq_of(query: &FormFields) -> Result<Option<i64>, Problem> {
    let text = query.get("before").filter(|text| !text.is_empty());
    let refused = |_| Problem::validation("before", "before is not valid; start again at the first page");
    text.map(|text| text.parse().map_err(refused)).transpose()
}

/// Archives a notice for this user only; other people still see it.
async fn archive(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    request: PageRequest,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let MessagePath(id) = path?;
    snooze::archive(&hub, &posted.user.name, &id).await?;
    // A script shows the result in a toast, with its undo.
    if request.fragment {
        let result = BatchResult::put_away(&hub, BatchAction::Archive, id, None).await?;
        return result.page(&hub, &posted.user, &request).await;
    }
    Ok(see_other(back(posted.fields.text("back"))))
}

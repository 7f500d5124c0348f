//! GET /inbox: what waits, urgent first, then the longest waiting.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use countersign_hub::Hub;
use countersign_hub::inbox::cursor::pair;
use countersign_hub::problem::Problem;
use countersign_store::model::Cursor;
use countersign_store::ops::list::{Aside, Inbox};

use super::narrow::{Active, Narrow, Offered};
use crate::frame::filters;
use crate::frame::form::Fields;
use crate::frame::page::{Asked, Failure, Here, Shell, render};
use crate::frame::signed_in::Visitor;
use crate::lists::row::{List, Row};

/// How many rows stand on one page.
pub const PAGE: i64 = 30;

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox", get(list))
}

#[derive(Template)]
#[template(path = "list.html")]
struct ListPage {
    shell: Shell,
    rows: Vec<Row>,
    narrow: Narrow,
    active: Vec<Active>,
    offered: Offered,
    /// When the first of what was set aside comes back.
    returns_at: Option<i64>,
    may_decide: bool,
    /// Where the list begins, for a reader who is further down.
    first: Option<String>,
    next: Option<String>,
}

async fn list(
    State(hub): State<Arc<Hub>>,
    visitor: Visitor,
    asked: Asked,
    RawQuery(query): RawQuery,
) -> Result<Response, Failure> {
    let query = Fields::parse(query.unwrap_or_default().as_bytes());
    let narrow = Narrow::of(&query);
    let after = query
        .get("cursor")
        .filter(|text| !text.is_empty())
        .map(parse_cursor)
        .transpose()?;
    let is_first = after.is_none();
    let viewer = Some(visitor.name.clone());
    let page = hub
        .store
        .run(Inbox {
            viewer,
            filter: narrow.filter(),
            after,
            limit: PAGE,
        })
        .await?;
    let soonest = hub
        .store
        .run(Aside {
            person: visitor.name.clone(),
            limit: 1,
        })
        .await?;
    let now = hub.store.clock().now();
    let next = page
        .next
        .map(|Cursor { rank, seq }| ("cursor", format!("{rank}.{seq}")));
    let page = ListPage {
        shell: Shell::of(&hub, &visitor, &asked, Here::List, "Inbox").await?,
        rows: page
            .items
            .iter()
            .map(|item| Row::seen_by(&hub, item, List::Open, now, &visitor))
            .collect(),
        active: narrow.active("/inbox"),
        offered: Offered::by(page.items.iter()),
        returns_at: soonest.first().map(|aside| aside.until.as_millis()),
        may_decide: visitor.may_decide(),
        first: (!is_first).then(|| narrow.address("/inbox", None, None)),
        next: next.map(|next| narrow.address("/inbox", None, Some(next))),
        narrow,
    };
    Ok(render(StatusCode::OK, &page))
}

fn parse_cursor(text: &str) -> Result<Cursor, Problem> {
    let (rank, seq) =
        pair(text).ok_or_else(|| Problem::validation("cursor", "cursor: begin again at the first page"))?;
    Ok(Cursor { rank, seq })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(next: Option<&str>) -> String {
        let page = ListPage {
            shell: Shell::anonymous(&Asked::default(), Here::List, "Inbox"),
            rows: Vec::new(),
            narrow: Narrow::of(&Fields::parse(b"tag=rare")),
            active: Vec::new(),
            offered: Offered::default(),
            returns_at: None,
            may_decide: true,
            first: None,
            next: next.map(str::to_owned),
        };
        page.render().expect("a page")
    }

    #[test]
    fn a_page_that_stopped_looking_says_that_the_next_one_goes_on() {
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

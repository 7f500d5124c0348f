//! The result of a batch: what was done, what was not and why, and a form that takes all of it back.

use std::time::Duration;

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::inbox::find::find;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::action::BatchAction;
use super::review::BatchLine;
use crate::language::t;
use crate::layout::filters;
use crate::layout::formatting::{self, DisplayTime};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;

/// How long scripts offer to take back a snooze or an archived notice.
const OFFER_TTL: Duration = Duration::from_secs(20);

#[derive(Template)]
#[template(path = "batch_done.html")]
struct DonePage {
    layout: PageLayout,
    action: BatchAction,
    /// What happened: `Denied`.
    past: &'static str,
    until: Option<DisplayTime>,
    done: Vec<BatchLine>,
    failed: Vec<BatchLine>,
    undo: Option<UndoOffer>,
}

/// The form that takes the batch back.
struct UndoOffer {
    ids: Vec<MessageId>,
    until: Timestamp,
    left: String,
}

pub struct BatchResult {
    pub action: BatchAction,
    pub past: &'static str,
    /// The end of a snooze.
    pub until: Option<Timestamp>,
    pub done: Vec<BatchLine>,
    pub failed: Vec<BatchLine>,
    /// The items that can be taken back.
    pub undoable: Vec<MessageId>,
    /// The end of the last hold; `None` for items that can be taken back at any time.
    pub held_until: Option<Timestamp>,
}

impl BatchResult {
    pub fn of(action: BatchAction) -> Self {
        Self {
            action,
            past: action.past(),
            until: None,
            done: Vec::new(),
            failed: Vec::new(),
            undoable: Vec::new(),
            held_until: None,
        }
    }

    /// The result of one item that was just snoozed or archived.
    pub async fn put_away(
        hub: &Hub,
        action: BatchAction,
        id: MessageId,
        until: Option<Timestamp>,
    ) -> Result<Self, PageError> {
        let item = find(hub, &id).await?;
        Ok(Self {
            until,
            done: vec![BatchLine::of_item(&item, action.past())],
            undoable: vec![id],
            ..Self::of(action)
        })
    }

    pub async fn page(self, hub: &Hub, user: &SignedInUser, request: &PageRequest) -> Result<Response, PageError> {
        let now = hub.store.clock().now();
        let undo_until = self.held_until.unwrap_or_else(|| now.plus(OFFER_TTL));
        let page = DonePage {
            layout: PageLayout::of(hub, user, request, self.action.section(), t("Done")).await?,
            action: self.action,
            past: self.past,
            until: self.until.map(formatting::display_time),
            done: self.done,
            failed: self.failed,
            undo: (!self.undoable.is_empty()).then(|| UndoOffer {
                ids: self.undoable,
                until: undo_until,
                left: formatting::span(undo_until.since(now)),
            }),
        };
        Ok(render(StatusCode::OK, &page))
    }
}

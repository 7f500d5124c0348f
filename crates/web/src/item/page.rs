//! The whole page of one item, put together.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_core::{Message, Outcome, State};
use countersign_hub::Hub;
use countersign_hub::inbox::presets::presets;
use countersign_hub::terminals::CueState;
use countersign_store::model::Item;

use super::answer::control::Shape;
use super::answer::faults::Faults;
use super::answer::typed::typed;
use super::answer::{Again, Wanted};
use super::cue::Cue;
use super::head::{Head, Said};
use super::neighbours::Neighbours;
use super::outcome::{Cell, Told};
use super::panel::{Panel, Seen};
use super::part::Shown;
use super::presence::Presence;
use super::trail::{Entry, trail};
use crate::frame::filters;
use crate::frame::form::Fields;
use crate::frame::page::{Asked, Failure, Here, Shell, render};
use crate::frame::signed_in::Visitor;

/// Why the page is shown.
pub enum Occasion<'a> {
    Look,
    /// What was sent does not fit the question.
    Refused {
        sent: &'a Fields,
        faults: Faults,
    },
    /// Somebody, or the clock, was first.
    Late {
        sent: &'a Fields,
    },
    NotAllowed {
        sent: &'a Fields,
    },
}

impl Occasion<'_> {
    fn status(&self) -> StatusCode {
        match self {
            Self::Look => StatusCode::OK,
            Self::Refused { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Late { .. } => StatusCode::CONFLICT,
            Self::NotAllowed { .. } => StatusCode::FORBIDDEN,
        }
    }

    /// What must be said first.
    fn notice(&self, message: &Message, visitor: &Visitor) -> &'static str {
        match (self, &message.state) {
            (Self::Look, _) => "",
            (Self::Refused { .. }, _) => "Nothing was sent. Look at what is marked, then send it again.",
            (Self::NotAllowed { .. }, _) => "Nothing was sent: this is not yours to answer.",
            (Self::Late { .. }, State::Resolved(first)) if first.actor == visitor.actor() => {
                "You had decided this already. What you sent now was not used."
            }
            (Self::Late { .. }, State::Resolved(first)) if first.outcome == Outcome::Expired => {
                "Its time was over before your answer came. What you sent was not used."
            }
            (Self::Late { .. }, _) => "Somebody was first. What you sent was not used.",
        }
    }
}

#[derive(Template)]
#[template(path = "item.html")]
struct ItemPage {
    shell: Shell,
    head: Head,
    said: Said,
    panel: Panel,
    notice: &'static str,
    /// What was sent in vain.
    typed: String,
    trail: Vec<Entry>,
    beside: Neighbours,
}

pub async fn page(
    hub: &Hub,
    visitor: &Visitor,
    asked: &Asked,
    item: &Item,
    occasion: Occasion<'_>,
) -> Result<Response, Failure> {
    let message = &item.message;
    let now = hub.store.clock().now();
    let presence = Presence::of(hub, message, now).await?;
    let status = occasion.status();
    let notice = occasion.notice(message, visitor);
    let (sent, faults) = match occasion {
        Occasion::Look => (None, Faults::default()),
        Occasion::Refused { sent, faults } => (Some(sent), faults),
        Occasion::Late { sent } | Occasion::NotAllowed { sent } => (Some(sent), Faults::default()),
    };
    let presets = if message.state == State::Open {
        presets(hub).await?
    } else {
        Vec::new()
    };
    let seen = Seen {
        item,
        visitor,
        presence: presence.clone(),
        presets,
        now,
    };
    let panel = Panel::of(seen, &Again { sent, faults: &faults });
    // What was sent stands in the form again, or is told where there is none.
    let lost = sent.filter(|_| !panel.is_answer());
    let page = ItemPage {
        shell: Shell::of(hub, visitor, asked, Here::Item, message.content.title.clone()).await?,
        head: Head::of(message, presence, Cue::of(hub, message, visitor).await?, now),
        said: Said::of(&message.content),
        panel,
        notice,
        typed: lost.map(|sent| typed(&message.content, sent)).unwrap_or_default(),
        trail: trail(hub, item).await?,
        beside: Neighbours::of(hub, visitor, item).await?,
    };
    Ok(render(status, &page))
}

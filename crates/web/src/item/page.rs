//! Puts the page of one item together.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_core::{Message, Outcome, State};
use countersign_hub::Hub;
use countersign_hub::inbox::presets::presets;
use countersign_hub::messages::cue_waiters::CueState;
use countersign_store::model::PersonView;

use super::answer::control::ControlShape;
use super::answer::discarded_input::discarded_input;
use super::answer::form_errors::FormErrors;
use super::answer::{AnswerInput, RefusedAttempt};
use super::cue::CueDetails;
use super::head::{Head, MessageText};
use super::neighbours::Neighbours;
use super::outcome::{AnswerView, FormAnswerCell};
use super::panel::{Panel, PanelInput};
use super::part::PartContent;
use super::presence::AgentPresence;
use super::trail::{TrailView, trail};
use crate::layout::filters;
use crate::layout::form::FormFields;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::may_answer;

/// The state of the panel: a plain view, or the result of a failed decision.
pub enum PanelState<'a> {
    View,
    /// The submitted answer is not valid.
    Refused {
        sent: &'a FormFields,
        faults: FormErrors,
    },
    /// The message was resolved or expired before.
    Late {
        sent: &'a FormFields,
    },
    NotAllowed {
        sent: &'a FormFields,
    },
}

impl PanelState<'_> {
    fn status(&self) -> StatusCode {
        match self {
            Self::View => StatusCode::OK,
            Self::Refused { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Late { .. } => StatusCode::CONFLICT,
            Self::NotAllowed { .. } => StatusCode::FORBIDDEN,
        }
    }

    /// The notice at the top of the panel.
    fn notice(&self, message: &Message, user: &SignedInUser) -> &'static str {
        match (self, &message.state) {
            (Self::View, _) => "",
            (Self::Refused { .. }, _) => "Nothing was sent. Look at what is marked, then send it again.",
            (Self::NotAllowed { .. }, _) => "Nothing was sent: this is not yours to answer.",
            (Self::Late { .. }, State::Resolved(first)) if first.actor == user.actor() => {
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
struct ItemDetailPage {
    layout: PageLayout,
    head: Head,
    message_text: MessageText,
    panel: Panel,
    notice: &'static str,
    /// The input of a decision that was not applied.
    typed: String,
    trail: TrailView,
    neighbours: Neighbours,
}

pub async fn page(
    hub: &Hub,
    user: &SignedInUser,
    request: &PageRequest,
    item: &PersonView,
    panel_state: PanelState<'_>,
) -> Result<Response, PageError> {
    let message = &item.message;
    let now = hub.store.clock().now();
    let presence = AgentPresence::of(hub, message, now).await?;
    let status = panel_state.status();
    let notice = panel_state.notice(message, user);
    let (sent, faults) = match panel_state {
        PanelState::View => (None, FormErrors::default()),
        PanelState::Refused { sent, faults } => (Some(sent), faults),
        PanelState::Late { sent } | PanelState::NotAllowed { sent } => (Some(sent), FormErrors::default()),
    };
    let presets = if message.state == State::Open {
        presets(hub).await?
    } else {
        Vec::new()
    };
    let input = PanelInput {
        item,
        user,
        presence: presence.clone(),
        presets,
        is_stranded: message.state == State::Open
            && !may_answer(item, user)
            && hub.auth.resolvers.is_stranded(&hub.store, &message.content).await?,
        now,
    };
    let panel = Panel::of(input, &RefusedAttempt { sent, faults: &faults });
    // The form shows the submitted input again; without a form the page lists it.
    let lost = sent.filter(|_| !panel.is_answer());
    let page = ItemDetailPage {
        layout: PageLayout::of(hub, user, request, PageSection::Item, message.content.title.clone()).await?,
        head: Head::of(message, presence, CueDetails::of(hub, message, user).await?, now),
        message_text: MessageText::of(&message.content),
        panel,
        notice,
        typed: lost
            .map(|sent| discarded_input(&message.content, sent))
            .unwrap_or_default(),
        trail: trail(hub, item).await?,
        neighbours: Neighbours::of(hub, user, item).await?,
    };
    Ok(render(status, &page))
}

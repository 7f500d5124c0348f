//! Puts the page of one item together.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_core::vocabulary::Action;
use countersign_core::{Message, Outcome, State};
use countersign_hub::Hub;
use countersign_hub::messages::cue_waiters::CueState;
use countersign_store::model::PersonView;

use super::answer::control::ControlShape;
use super::answer::discarded_input::discarded_input;
use super::answer::form_errors::FormErrors;
use super::answer::parse::OPEN_STEPS;
use super::answer::{AnswerInput, RefusedAttempt};
use super::cue::CueDetails;
use super::head::{Head, MessageText};
use super::neighbours::Neighbours;
use super::neighbours::origin::ListOrigin;
use super::outcome::{AnswerView, FormAnswerCell};
use super::panel::{Panel, PanelInput, in_words, why};
use super::part::PartContent;
use super::presence::AgentPresence;
use super::trail::{TrailView, trail};
use super::undo::held::HeldView;
use crate::language::t;
use crate::layout::filters;
use crate::layout::form::FormFields;
use crate::layout::formatting::actor_name;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::snoozed::{SnoozeTime, snooze_times};
use crate::settings::reasons;

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
    /// The answer as the agent would get it. Nothing is decided.
    Preview {
        sent: &'a FormFields,
        answer: String,
    },
    NotAllowed {
        sent: &'a FormFields,
    },
    /// The decision was sent before it could be taken back, or it was taken back before and another person answers.
    NotTakenBack,
}

impl PanelState<'_> {
    fn status(&self) -> StatusCode {
        match self {
            Self::View | Self::Preview { .. } => StatusCode::OK,
            Self::Refused { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Late { .. } | Self::NotTakenBack => StatusCode::CONFLICT,
            Self::NotAllowed { .. } => StatusCode::FORBIDDEN,
        }
    }

    /// The notice at the top of the panel.
    fn notice(&self, message: &Message, user: &SignedInUser) -> &'static str {
        match (self, &message.state) {
            (Self::View | Self::Preview { .. }, _) => "",
            (Self::Refused { faults, .. }, _) if !faults.of(OPEN_STEPS).is_empty() => t("Not sent yet."),
            (Self::Refused { .. }, _) => t("Please fix the marked fields."),
            (Self::NotAllowed { .. }, _) => t("Not sent: only other people can answer this."),
            (Self::NotTakenBack, State::Resolved(first)) if first.actor == user.actor() => {
                t("Too late to undo: the answer was sent.")
            }
            (Self::NotTakenBack, _) => t("There is nothing to undo."),
            (Self::Late { .. }, State::Resolved(first)) if first.actor == user.actor() => {
                t("You already answered this. Your second answer was not used.")
            }
            (Self::Late { .. }, State::Resolved(first)) if first.outcome == Outcome::Expired => {
                t("It expired before your answer arrived. Your answer was not used.")
            }
            (Self::Late { .. }, _) if is_held_by(message, user) => {
                t("You already answered this. Your second answer was not used.")
            }
            (Self::Late { .. }, _) => t("Already answered. Your answer was not used."),
        }
    }
}

fn is_held_by(message: &Message, user: &SignedInUser) -> bool {
    message.hold.as_ref().is_some_and(|hold| hold.by == user.actor())
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
    origin: ListOrigin,
    /// Why this person is asked; empty for an item that is not open.
    why: String,
    /// Those who are asked and cannot answer here, while others can.
    unknown_resolvers: String,
    snooze_times: Vec<SnoozeTime>,
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
    let (sent, faults, preview) = match panel_state {
        PanelState::Preview { sent, answer } => (Some(sent), FormErrors::default(), Some(answer)),
        PanelState::View | PanelState::NotTakenBack => (None, FormErrors::default(), None),
        PanelState::Refused { sent, faults } => (Some(sent), faults, None),
        PanelState::Late { sent } | PanelState::NotAllowed { sent } => (Some(sent), FormErrors::default(), None),
    };
    let presets = if message.state == State::Open {
        reasons(hub).await?
    } else {
        Vec::new()
    };
    let unknown = match message.state {
        State::Open => Some(hub.auth.resolvers.unknown(&hub.store, &message.content).await?),
        State::Resolved(_) | State::Delivered => None,
    };
    let input = PanelInput {
        item,
        user,
        presence: presence.clone(),
        presets,
        held: HeldView::of(hub, message, user, now).await?,
        is_stranded: unknown.as_ref().is_some_and(|unknown| unknown.is_stranded),
        now,
    };
    let panel = Panel::of(input, &RefusedAttempt { sent, faults: &faults }).with_preview(preview);
    let origin = ListOrigin::of(&request.query());
    // The form shows the submitted input again; without a form the page lists it.
    let lost = sent.filter(|_| !panel.is_answer());
    let page = ItemDetailPage {
        layout: PageLayout::of(hub, user, request, PageSection::Item, message.content.title.clone()).await?,
        head: Head::of(item, presence, CueDetails::of(hub, message, user).await?, now),
        message_text: MessageText::of(&message.content),
        panel,
        notice,
        typed: lost
            .map(|sent| discarded_input(&message.content, sent))
            .unwrap_or_default(),
        trail: trail(hub, item).await?,
        neighbours: Neighbours::of(hub, user, &origin, item).await?,
        origin,
        why: match message.state {
            State::Open => why(message, user),
            State::Resolved(_) | State::Delivered => String::new(),
        },
        unknown_resolvers: in_words(
            unknown
                .iter()
                .filter(|unknown| !unknown.is_stranded)
                .flat_map(|unknown| &unknown.names)
                .map(|actor| actor_name(actor)),
        ),
        snooze_times: snooze_times(message.expires_at, now),
    };
    Ok(render(status, &page))
}

//! POST /inbox/items/{id}/decide: the only way from a page to a decision. A GET never decides.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_core::decide::is_overdue_at;
use countersign_core::{Command, Outcome, Payload, Rejection, State as MessageState};
use countersign_hub::Hub;
use countersign_hub::http::attachments::AttachedFiles;
use countersign_hub::http::extract::MessagePath;
use countersign_hub::inbox::find::find;
use countersign_hub::problem::Problem;
use countersign_protocol::id::MessageId;
use countersign_store::model::{ApplyOutcome, HoldOutcome, PersonView};

use super::neighbours::origin::ListOrigin;
use super::{FormErrors, PanelState, ParsedAnswer, missing, page, parse_answer};
use crate::layout::form::FormFields;
use crate::layout::page::{PageError, PageRequest, back, see_other};
use crate::layout::signed_in_user::SignedInUser;
use crate::layout::upload::{AcceptedInput, FILES, SubmittedForm, UnreadForm};
use crate::lists::row::may_answer;

pub async fn submit_decision(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    request: PageRequest,
    unread: UnreadForm,
) -> Result<Response, PageError> {
    let accepted = match &path {
        Ok(MessagePath(id)) if unread.may_be_large() => accepted_input(&hub, id, &unread.user).await,
        Ok(_) | Err(_) => AcceptedInput::default(),
    };
    let SubmittedForm {
        user,
        fields,
        files,
        faults,
        permit: _permit,
    } = unread.read(&hub, accepted).await?;
    let decision = DecisionRequest {
        hub: &hub,
        user: &user,
        request: &request,
        fields: &fields,
        faults: &faults,
    };
    match path {
        Ok(MessagePath(id)) => decision.submit(&id, files).await,
        Err(problem) => decision.missing(problem).await,
    }
}

/// Files and long text are accepted only from a user who may give the answer.
async fn accepted_input(hub: &Hub, id: &MessageId, user: &SignedInUser) -> AcceptedInput {
    let Ok(item) = find(hub, id).await else {
        return AcceptedInput::default();
    };
    match &item.message.content.payload {
        Payload::Ask(ask) if may_answer(&item, user) => AcceptedInput {
            files: ask.open_ended,
            long_text: ask.may_be_empty,
        },
        Payload::Ask(_) | Payload::Task(_) | Payload::Notify => AcceptedInput::default(),
    }
}

/// One submitted decision form of one user.
struct DecisionRequest<'a> {
    hub: &'a Hub,
    user: &'a SignedInUser,
    request: &'a PageRequest,
    fields: &'a FormFields,
    /// Errors in the uploaded files.
    faults: &'a [String],
}

impl DecisionRequest<'_> {
    async fn submit(&self, id: &MessageId, files: AttachedFiles) -> Result<Response, PageError> {
        match find(self.hub, id).await {
            Ok(item) => self.answer(&item, files).await,
            Err(problem) => self.missing(problem).await,
        }
    }

    /// Reports an earlier resolution or a missing permission before any error in the answer itself.
    async fn answer(&self, item: &PersonView, files: AttachedFiles) -> Result<Response, PageError> {
        if matches!(item.message.state, MessageState::Resolved(_)) || item.message.hold.is_some() {
            return self.show(item, PanelState::Late { sent: self.fields }).await;
        }
        if !may_answer(item, self.user) {
            return self.show(item, PanelState::NotAllowed { sent: self.fields }).await;
        }
        if is_overdue_at(item.message.expires_at, self.hub.store.clock().now()) {
            self.hub.messages.decide(&item.message.id, Command::Expire).await?;
            return self.late(&item.message.id).await;
        }
        let ParsedAnswer { verdict, comment } = match self.read(item, &files) {
            Ok(reading) => reading,
            Err(faults) => {
                return self
                    .show(
                        item,
                        PanelState::Refused {
                            sent: self.fields,
                            faults,
                        },
                    )
                    .await;
            }
        };
        let id = &item.message.id;
        let actor = self.user.actor();
        let command = Command::Resolve {
            actor,
            verdict,
            comment,
        };
        match self.hub.messages.hold(id, command, files.bodies).await? {
            HoldOutcome::Held(_) => Ok(see_other(&self.next(id))),
            HoldOutcome::Applied(outcome) => self.applied(item, outcome).await,
        }
    }

    async fn applied(&self, item: &PersonView, outcome: ApplyOutcome) -> Result<Response, PageError> {
        let id = &item.message.id;
        match outcome {
            // The answer came after the expiry and triggered it.
            ApplyOutcome::Resolved(applied) if applied.resolution.outcome == Outcome::Expired => self.late(id).await,
            ApplyOutcome::Resolved(_) => Ok(see_other(&self.next(id))),
            ApplyOutcome::Rejected(rejection) => self.rejected(item, rejection).await,
            ApplyOutcome::Purged => self.missing(Problem::Gone).await,
            ApplyOutcome::NotFound => self.missing(Problem::no_message()).await,
        }
    }

    /// The page to show next: the page with the form, if that is not the item's own.
    fn next(&self, id: &MessageId) -> String {
        let item = format!("/inbox/items/{id}{}", ListOrigin::of(&self.request.query()).query());
        self.fields.get("back").map_or(item, |path| back(path).to_owned())
    }

    /// Parses the answer and collects all errors, including those of the files.
    fn read(&self, item: &PersonView, files: &AttachedFiles) -> Result<ParsedAnswer, FormErrors> {
        let reading = parse_answer(&item.message.content, self.fields, &files.notes);
        if self.faults.is_empty() {
            return reading;
        }
        let mut faults = reading.err().unwrap_or_default();
        self.faults.iter().for_each(|fault| faults.add(FILES, fault));
        Err(faults)
    }

    async fn rejected(&self, item: &PersonView, rejection: Rejection) -> Result<Response, PageError> {
        match rejection {
            Rejection::AlreadyTerminal { .. } | Rejection::Held { .. } => self.late(&item.message.id).await,
            Rejection::NotAuthorized(_) => self.show(item, PanelState::NotAllowed { sent: self.fields }).await,
            Rejection::InvalidField { message, .. } => {
                let faults = FormErrors::single("", message);
                self.show(
                    item,
                    PanelState::Refused {
                        sent: self.fields,
                        faults,
                    },
                )
                .await
            }
            Rejection::NotApplicable(_) | Rejection::NotDue | Rejection::NotHeld => {
                Err(Problem::from(rejection).into())
            }
        }
    }

    /// Shows the earlier resolution, and the input that came too late.
    async fn late(&self, id: &MessageId) -> Result<Response, PageError> {
        match find(self.hub, id).await {
            Ok(item) => self.show(&item, PanelState::Late { sent: self.fields }).await,
            Err(problem) => self.missing(problem).await,
        }
    }

    async fn show(&self, item: &PersonView, panel_state: PanelState<'_>) -> Result<Response, PageError> {
        page(self.hub, self.user, self.request, item, panel_state).await
    }

    async fn missing(&self, why: Problem) -> Result<Response, PageError> {
        missing(self.hub, self.user, self.request, why).await
    }
}

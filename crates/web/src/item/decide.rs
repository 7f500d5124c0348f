//! POST /inbox/items/{id}/decide: the one way from a page to a decision. A GET never takes it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_core::decide::is_overdue_at;
use countersign_core::{Command, Matter, Outcome, Rejection, State as MessageState};
use countersign_hub::Hub;
use countersign_hub::attachments::Attached;
use countersign_hub::extract::MessagePath;
use countersign_hub::inbox::find::find;
use countersign_hub::problem::Problem;
use countersign_protocol::id::MessageId;
use countersign_store::model::{Application, Item};

use super::{Faults, Occasion, Reading, missing, page, read};
use crate::frame::form::Fields;
use crate::frame::page::{Asked, Failure, back, see_other};
use crate::frame::signed_in::Visitor;
use crate::frame::upload::{FILES, Sent, Takes, Unread};
use crate::lists::row::may_answer;

pub async fn decide(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    asked: Asked,
    unread: Unread,
) -> Result<Response, Failure> {
    let takes = match &path {
        Ok(MessagePath(id)) if unread.is_special() => takes(&hub, id, &unread.visitor).await,
        Ok(_) | Err(_) => Takes::default(),
    };
    let Sent {
        visitor,
        fields,
        files,
        faults,
        hold: _hold,
    } = unread.read(&hub, takes).await?;
    let desk = Desk {
        hub: &hub,
        visitor: &visitor,
        asked: &asked,
        fields: &fields,
        faults: &faults,
    };
    match path {
        Ok(MessagePath(id)) => desk.decide(&id, files).await,
        Err(problem) => desk.missing(problem).await,
    }
}

/// Only from somebody who may give the answer that it comes with.
async fn takes(hub: &Hub, id: &MessageId, visitor: &Visitor) -> Takes {
    let Ok(item) = find(hub, id).await else {
        return Takes::default();
    };
    match &item.message.content.matter {
        Matter::Ask(ask) if may_answer(&item, visitor) => Takes {
            files: ask.open_ended,
            long_text: ask.may_be_empty,
        },
        Matter::Ask(_) | Matter::Task(_) | Matter::Notify => Takes::default(),
    }
}

/// One person with one form.
struct Desk<'a> {
    hub: &'a Hub,
    visitor: &'a Visitor,
    asked: &'a Asked,
    fields: &'a Fields,
    /// What is wrong with the files that came.
    faults: &'a [String],
}

impl Desk<'_> {
    async fn decide(&self, id: &MessageId, files: Attached) -> Result<Response, Failure> {
        match find(self.hub, id).await {
            Ok(item) => self.answer(&item, files).await,
            Err(problem) => self.missing(problem).await,
        }
    }

    /// Who was first, and who may, is said before anything about the answer itself.
    async fn answer(&self, item: &Item, files: Attached) -> Result<Response, Failure> {
        if matches!(item.message.state, MessageState::Resolved(_)) {
            return self.show(item, Occasion::Late { sent: self.fields }).await;
        }
        if !may_answer(item, self.visitor) {
            return self.show(item, Occasion::NotAllowed { sent: self.fields }).await;
        }
        if is_overdue_at(item.message.expires_at, self.hub.store.clock().now()) {
            self.hub.decide(&item.message.id, Command::Expire).await?;
            return self.late(&item.message.id).await;
        }
        let Reading { verdict, comment } = match self.read(item, &files) {
            Ok(reading) => reading,
            Err(faults) => {
                return self
                    .show(
                        item,
                        Occasion::Refused {
                            sent: self.fields,
                            faults,
                        },
                    )
                    .await;
            }
        };
        let id = &item.message.id;
        let actor = self.visitor.actor();
        let command = Command::Resolve {
            actor,
            verdict,
            comment,
        };
        match self.hub.decide_with(id, command, files.bodies).await? {
            // The answer came after the expiry and made it happen.
            Application::Resolved(applied) if applied.resolution.outcome == Outcome::Expired => self.late(id).await,
            Application::Resolved(_) => Ok(see_other(&self.next(id))),
            Application::Rejected(rejection) => self.rejected(item, rejection).await,
            Application::Gone => self.missing(Problem::Gone).await,
            Application::NotFound => self.missing(Problem::no_message()).await,
        }
    }

    /// Where one goes on: at the page the form stood on, if that is another one.
    fn next(&self, id: &MessageId) -> String {
        let item = format!("/inbox/items/{id}");
        self.fields.get("back").map_or(item, |place| back(place).to_owned())
    }

    /// Everything that is wrong, with the files too.
    fn read(&self, item: &Item, files: &Attached) -> Result<Reading, Faults> {
        let reading = read(&item.message.content, self.fields, &files.notes);
        if self.faults.is_empty() {
            return reading;
        }
        let mut faults = reading.err().unwrap_or_default();
        self.faults.iter().for_each(|fault| faults.add(FILES, fault));
        Err(faults)
    }

    async fn rejected(&self, item: &Item, rejection: Rejection) -> Result<Response, Failure> {
        match rejection {
            Rejection::AlreadyTerminal { .. } => self.late(&item.message.id).await,
            Rejection::NotAuthorized(_) => self.show(item, Occasion::NotAllowed { sent: self.fields }).await,
            Rejection::InvalidField { message, .. } => {
                let faults = Faults::one("", message);
                self.show(
                    item,
                    Occasion::Refused {
                        sent: self.fields,
                        faults,
                    },
                )
                .await
            }
            Rejection::NotApplicable(_) | Rejection::NotDue => Err(Problem::from(rejection).into()),
        }
    }

    /// Shows who was first, and what came too late.
    async fn late(&self, id: &MessageId) -> Result<Response, Failure> {
        match find(self.hub, id).await {
            Ok(item) => self.show(&item, Occasion::Late { sent: self.fields }).await,
            Err(problem) => self.missing(problem).await,
        }
    }

    async fn show(&self, item: &Item, occasion: Occasion<'_>) -> Result<Response, Failure> {
        page(self.hub, self.visitor, self.asked, item, occasion).await
    }

    async fn missing(&self, why: Problem) -> Result<Response, Failure> {
        missing(self.hub, self.visitor, self.asked, why).await
    }
}

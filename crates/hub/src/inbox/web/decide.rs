//! POST /inbox/items/{id}/decide: the one way from a page to a decision. A GET never takes it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_core::decide::is_overdue_at;
use countersign_core::{Command, Outcome, Rejection, State as MessageState};
use countersign_protocol::id::MessageId;
use countersign_store::model::{Application, Item};

use super::form::{Fields, Posted};
use super::item::{Faults, Occasion, Reading, missing, page, read};
use super::page::{Asked, Failure, see_other};
use super::row::may_answer;
use super::visitor::Visitor;
use crate::app::Hub;
use crate::extract::MessagePath;
use crate::inbox::find::find;
use crate::problem::Problem;

pub async fn decide(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    asked: Asked,
    Posted { visitor, fields }: Posted,
) -> Result<Response, Failure> {
    let desk = Desk { hub: &hub, visitor: &visitor, asked: &asked, fields: &fields };
    match path {
        Ok(MessagePath(id)) => desk.decide(&id).await,
        Err(problem) => desk.missing(problem).await,
    }
}

/// One person with one form.
struct Desk<'a> {
    hub: &'a Hub,
    visitor: &'a Visitor,
    asked: &'a Asked,
    fields: &'a Fields,
}

impl Desk<'_> {
    async fn decide(&self, id: &MessageId) -> Result<Response, Failure> {
        match find(self.hub, id).await {
            Ok(item) => self.answer(&item).await,
            Err(problem) => self.missing(problem).await,
        }
    }

    /// Who was first, and who may, is said before anything about the answer itself.
    async fn answer(&self, item: &Item) -> Result<Response, Failure> {
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
        let Reading { verdict, comment } = match read(&item.message.content, self.fields) {
            Ok(reading) => reading,
            Err(faults) => return self.show(item, Occasion::Refused { sent: self.fields, faults }).await,
        };
        let (id, actor) = (&item.message.id, self.visitor.actor());
        match self.hub.decide(id, Command::Resolve { actor, verdict, comment }).await? {
            // The answer came after the expiry and made it happen.
            Application::Resolved(applied) if applied.resolution.outcome == Outcome::Expired => self.late(id).await,
            Application::Resolved(_) => Ok(see_other(&format!("/inbox/items/{id}"))),
            Application::Rejected(rejection) => self.rejected(item, rejection).await,
            Application::Gone => self.missing(Problem::Gone).await,
            Application::NotFound => self.missing(Problem::no_message()).await,
        }
    }

    async fn rejected(&self, item: &Item, rejection: Rejection) -> Result<Response, Failure> {
        match rejection {
            Rejection::AlreadyTerminal { .. } => self.late(&item.message.id).await,
            Rejection::NotAuthorized(_) => self.show(item, Occasion::NotAllowed { sent: self.fields }).await,
            Rejection::InvalidField { message, .. } => {
                let faults = Faults::one("", message);
                self.show(item, Occasion::Refused { sent: self.fields, faults }).await
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

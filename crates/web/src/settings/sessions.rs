use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::ops::credential::{EndCredential, EndOtherSessions, Kind};

use crate::frame::form::Posted;
use crate::frame::page::{Failure, see_other};

pub async fn end(State(hub): State<Arc<Hub>>, posted: Posted) -> Result<Response, Failure> {
    let Posted { visitor, fields } = posted;
    let id = fields.text("id").to_owned();
    let actor = visitor.actor().to_string();
    if !hub
        .end_credentials(EndCredential {
            person: visitor.name.clone(),
            kind: Kind::Session,
            id,
            actor,
        })
        .await?
    {
        return Err(Problem::NotFound {
            message: "it has ended already".to_owned(),
        }
        .into());
    }
    Ok(see_other("/inbox/settings?done=session"))
}

pub async fn end_others(State(hub): State<Arc<Hub>>, posted: Posted) -> Result<Response, Failure> {
    let visitor = posted.visitor;
    let actor = visitor.actor().to_string();
    hub.end_credentials(EndOtherSessions {
        person: visitor.name.clone(),
        keep: visitor.session,
        actor,
    })
    .await?;
    Ok(see_other("/inbox/settings?done=sessions"))
}

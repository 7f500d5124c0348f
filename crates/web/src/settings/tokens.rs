//! Tokens with which a person uses the hub from a terminal or a script, and those that agents in their terminals have.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::admin::no_randomness;
use countersign_hub::admin::tokens::{check_label, end_token};
use countersign_hub::auth::Token;
use countersign_store::ops::admin::people::AddPersonToken;
use countersign_store::ops::credential::{Kind, NewCredential};

use super::flash::Word;
use super::own;
use crate::frame::form::Posted;
use crate::frame::page::{Asked, Failure, see_other};

pub async fn add(State(hub): State<Arc<Hub>>, asked: Asked, posted: Posted) -> Result<Response, Failure> {
    let Posted { visitor, fields } = posted;
    let label = fields.text("label").trim();
    if let Err(problem) = check_label(label) {
        return own::show(&hub, &visitor, &asked, problem.into()).await;
    }
    let token = Token::new(Kind::Person).map_err(no_randomness)?;
    let credential = NewCredential {
        hash: token.hash,
        kind: Kind::Person,
        subject: visitor.name.clone(),
        label: label.to_owned(),
        expires_at: None,
    };
    let actor = visitor.actor().to_string();
    hub.store
        .run(AddPersonToken {
            name: visitor.name.clone(),
            token: credential,
            actor,
        })
        .await?;
    let lines = vec![
        ("COUNTERSIGN_URL", hub.url().to_owned()),
        ("COUNTERSIGN_TOKEN", token.text),
    ];
    own::show(&hub, &visitor, &asked, Word::once("Your new token", lines)).await
}

pub async fn end(State(hub): State<Arc<Hub>>, posted: Posted) -> Result<Response, Failure> {
    let Posted { visitor, fields } = posted;
    end_token(&hub, &visitor.name, fields.text("id"), visitor.actor().as_str()).await?;
    Ok(see_other("/inbox/settings?done=token"))
}

//! Tokens with which a person uses the hub from a terminal or a script.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_store::ops::admin::people::AddPersonToken;
use countersign_store::ops::credential::{Kind, NewCredential};

use super::own;
use super::sessions::end_credential;
use super::word::Word;
use crate::admin::no_randomness;
use crate::app::Hub;
use crate::auth::Token;
use crate::inbox::web::form::Posted;
use crate::inbox::web::page::{Asked, Failure, see_other};
use crate::problem::Problem;

const LONGEST_LABEL: usize = 60;

pub async fn add(State(hub): State<Arc<Hub>>, asked: Asked, posted: Posted) -> Result<Response, Failure> {
    let Posted { visitor, fields } = posted;
    let label = fields.text("label").trim();
    if label.is_empty() || label.chars().count() > LONGEST_LABEL {
        let problem = Problem::invalid("label", format!("say in 1 to {LONGEST_LABEL} characters what it is for"));
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
    hub.store.run(AddPersonToken { name: visitor.name.clone(), token: credential, actor }).await?;
    let lines = vec![("COUNTERSIGN_URL", hub.url().to_owned()), ("COUNTERSIGN_TOKEN", token.text)];
    own::show(&hub, &visitor, &asked, Word::once("Your new token", lines)).await
}

pub async fn end(State(hub): State<Arc<Hub>>, posted: Posted) -> Result<Response, Failure> {
    end_credential(&hub, &posted, Kind::Person).await?;
    Ok(see_other("/inbox/settings?done=token"))
}

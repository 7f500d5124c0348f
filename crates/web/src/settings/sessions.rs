use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::ops::account::credential::{CredentialKind, EndCredential, EndOtherSessions};

use crate::language::t;
use crate::layout::form::PostedForm;
use crate::layout::page::{PageError, see_other};

pub async fn end(State(hub): State<Arc<Hub>>, posted: PostedForm) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    let id = fields.text("id").to_owned();
    let actor = user.actor().to_string();
    if !hub
        .auth
        .revoke(EndCredential {
            person: user.name.clone(),
            kind: CredentialKind::Session,
            id,
            actor,
        })
        .await?
    {
        return Err(Problem::NotFound {
            message: t("this session has already ended").to_owned(),
        }
        .into());
    }
    Ok(see_other("/inbox/settings?done=session"))
}

pub async fn end_others(State(hub): State<Arc<Hub>>, posted: PostedForm) -> Result<Response, PageError> {
    let user = posted.user;
    let actor = user.actor().to_string();
    hub.auth
        .revoke(EndOtherSessions {
            person: user.name.clone(),
            keep: user.session,
            actor,
        })
        .await?;
    Ok(see_other("/inbox/settings?done=sessions"))
}

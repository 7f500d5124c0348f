use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::ops::passkey::RemovePasskey;

use crate::frame::form::Posted;
use crate::frame::page::{Failure, see_other};

pub async fn remove(State(hub): State<Arc<Hub>>, posted: Posted) -> Result<Response, Failure> {
    let Posted { visitor, fields } = posted;
    let missing = || Problem::NotFound {
        message: "this passkey is not there any more".to_owned(),
    };
    let id = URL_SAFE_NO_PAD.decode(fields.text("id")).map_err(|_| missing())?;
    let removal = RemovePasskey {
        person: visitor.name.clone(),
        id,
        actor: visitor.actor().to_string(),
    };
    if !hub.store.run(removal).await? {
        return Err(missing().into());
    }
    Ok(see_other("/inbox/settings?done=passkey-removed"))
}

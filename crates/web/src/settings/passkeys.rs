use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::ops::account::passkey::RemovePasskey;

use crate::language::t;
use crate::layout::form::PostedForm;
use crate::layout::page::{PageError, see_other};

pub async fn remove(State(hub): State<Arc<Hub>>, posted: PostedForm) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    let missing = || Problem::NotFound {
        message: t("this passkey no longer exists").to_owned(),
    };
    let id = URL_SAFE_NO_PAD.decode(fields.text("id")).map_err(|_| missing())?;
    let removal = RemovePasskey {
        person: user.name.clone(),
        id,
        actor: user.actor().to_string(),
    };
    if !hub.store.run(removal).await? {
        return Err(missing().into());
    }
    Ok(see_other("/inbox/settings?done=passkey-removed"))
}

//! Tokens with which a person uses the hub from a terminal or a script, and tokens of agents in their terminals.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::admin::tokens::{check_label, end_token};
use countersign_hub::auth::Token;
use countersign_hub::problem::no_randomness;
use countersign_store::ops::account::credential::{CredentialKind, NewCredential};
use countersign_store::ops::admin::people::AddPersonToken;

use super::flash::{FlashMessage, ReadyLine};
use super::personal;
use crate::language::t;
use crate::layout::form::PostedForm;
use crate::layout::page::{PageError, PageRequest, see_other};
use crate::lists::onboarding::is_local;

pub async fn add(State(hub): State<Arc<Hub>>, request: PageRequest, posted: PostedForm) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    let label = fields.text("label").trim();
    if let Err(problem) = check_label(label) {
        return personal::show(&hub, &user, &request, problem.into()).await;
    }
    let token = Token::new(CredentialKind::Person).map_err(no_randomness)?;
    let credential = NewCredential {
        hash: token.hash,
        kind: CredentialKind::Person,
        subject: user.name.clone(),
        label: label.to_owned(),
        expires_at: None,
    };
    let actor = user.actor().to_string();
    hub.store
        .run(AddPersonToken {
            name: user.name.clone(),
            token: credential,
            actor,
        })
        .await?;
    let url = hub.agent_url().to_owned();
    let ready = vec![
        ReadyLine::new(
            t("Environment"),
            format!("export COUNTERSIGN_URL={url}\nexport COUNTERSIGN_TOKEN={}", token.text),
        ),
        ReadyLine::new(
            "curl",
            format!("curl -sS {url}/v1/inbox -H 'Authorization: Bearer {}'", token.text),
        ),
    ];
    let lines = vec![("COUNTERSIGN_URL", url), ("COUNTERSIGN_TOKEN", token.text)];
    let flash = FlashMessage::secret(t("Your new token"), lines);
    let flash = flash.with_ready(ready).warn_if(is_local(&hub));
    personal::show(&hub, &user, &request, flash).await
}

pub async fn end(State(hub): State<Arc<Hub>>, posted: PostedForm) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    end_token(&hub, &user.name, fields.text("id"), user.actor().as_str()).await?;
    Ok(see_other("/inbox/settings?done=token"))
}

//! The preset reasons offered when a person rejects.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::inbox::presets::{MAX_PRESET_CHARS, MAX_PRESETS, SETTING, built_in, presets};
use countersign_hub::problem::Problem;
use countersign_store::StoreError;
use countersign_store::model::json_text;
use countersign_store::ops::account::setting::PutSetting;

use super::flash::{DoneQuery, FlashMessage};
use crate::language::{say, t};
use crate::layout::filters;
use crate::layout::form::OwnerForm;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render, see_other};
use crate::layout::signed_in_user::{SignedInOwner, SignedInUser};

/// The reasons that people are offered. The built-in ones are in the language of the reader, who sends what is shown.
pub async fn reasons(hub: &Hub) -> Result<Vec<String>, StoreError> {
    let stored = presets(hub).await?;
    if stored != built_in() {
        return Ok(stored);
    }
    Ok(stored.iter().map(|reason| t(reason).to_owned()).collect())
}

#[derive(Template)]
#[template(path = "settings_presets.html")]
struct PresetsPage {
    layout: PageLayout,
    flash: FlashMessage,
    lines: String,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    SignedInOwner(user): SignedInOwner,
    request: PageRequest,
    query: DoneQuery,
) -> Result<Response, PageError> {
    let lines = reasons(&hub).await?.join("\n");
    show(&hub, &user, &request, lines, FlashMessage::from_query(&query)).await
}

async fn show(
    hub: &Hub,
    user: &SignedInUser,
    request: &PageRequest,
    lines: String,
    flash: FlashMessage,
) -> Result<Response, PageError> {
    let layout = PageLayout::of(hub, user, request, PageSection::Settings, t("Rejection reasons")).await?;
    let page = PresetsPage { layout, flash, lines };
    Ok(render(page.flash.status(), &page))
}

pub async fn save(State(hub): State<Arc<Hub>>, request: PageRequest, posted: OwnerForm) -> Result<Response, PageError> {
    let OwnerForm { user, fields } = posted;
    let typed = fields.text("lines");
    let reasons: Vec<&str> = typed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let too_long = reasons.iter().any(|reason| reason.chars().count() > MAX_PRESET_CHARS);
    if reasons.len() > MAX_PRESETS || too_long {
        let message = say!(
            "give at most {reasons} reasons of at most {characters} characters",
            reasons = MAX_PRESETS,
            characters = MAX_PRESET_CHARS
        );
        return show(
            &hub,
            &user,
            &request,
            typed.to_owned(),
            Problem::invalid("lines", message).into(),
        )
        .await;
    }
    let name = SETTING.to_owned();
    let actor = user.actor().to_string();
    hub.store
        .run(PutSetting {
            name,
            value: json_text(&reasons)?,
            actor,
        })
        .await?;
    Ok(see_other("/inbox/settings/presets?done=presets"))
}

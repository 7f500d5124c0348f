//! The reasons offered to whoever rejects.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::inbox::presets::{LONGEST_CHARS, MOST, SETTING, presets};
use countersign_hub::problem::Problem;
use countersign_store::model::json_text;
use countersign_store::ops::setting::PutSetting;

use super::flash::{DoneQuery, Word};
use crate::frame::filters;
use crate::frame::form::OwnerPosted;
use crate::frame::page::{Asked, Failure, Here, Shell, render, see_other};
use crate::frame::signed_in::{OwnerVisitor, Visitor};

#[derive(Template)]
#[template(path = "settings_presets.html")]
struct PresetsPage {
    shell: Shell,
    word: Word,
    lines: String,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    OwnerVisitor(visitor): OwnerVisitor,
    asked: Asked,
    query: DoneQuery,
) -> Result<Response, Failure> {
    let lines = presets(&hub).await?.join("\n");
    show(&hub, &visitor, &asked, lines, Word::from_query(&query)).await
}

async fn show(hub: &Hub, visitor: &Visitor, asked: &Asked, lines: String, word: Word) -> Result<Response, Failure> {
    let shell = Shell::of(hub, visitor, asked, Here::Settings, "Reasons").await?;
    let page = PresetsPage { shell, word, lines };
    Ok(render(page.word.status(), &page))
}

pub async fn save(State(hub): State<Arc<Hub>>, asked: Asked, posted: OwnerPosted) -> Result<Response, Failure> {
    let OwnerPosted { visitor, fields } = posted;
    let typed = fields.text("lines");
    let reasons: Vec<&str> = typed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let too_long = reasons.iter().any(|reason| reason.chars().count() > LONGEST_CHARS);
    if reasons.len() > MOST || too_long {
        let message = format!("give at most {MOST} reasons of at most {LONGEST_CHARS} characters");
        return show(
            &hub,
            &visitor,
            &asked,
            typed.to_owned(),
            Problem::invalid("lines", message).into(),
        )
        .await;
    }
    let name = SETTING.to_owned();
    let actor = visitor.actor().to_string();
    hub.store
        .run(PutSetting {
            name,
            value: json_text(&reasons)?,
            actor,
        })
        .await?;
    Ok(see_other("/inbox/settings/presets?done=presets"))
}

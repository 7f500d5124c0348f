//! Answers on their way to their agents, those that fail first.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_core::delivery::Track;
use countersign_hub::Hub;
use countersign_hub::admin::deliveries::retry_delivery;
use countersign_store::model::Delivery;
use countersign_store::ops::deliver::Deliveries;

use super::flash::{DoneQuery, Word};
use crate::frame::filters;
use crate::frame::form::OwnerPosted;
use crate::frame::format::{Instant, instant};
use crate::frame::page::{Asked, Failure, Here, Shell, render, see_other};
use crate::frame::signed_in::OwnerVisitor;
use crate::item::why;

const MOST_SHOWN: i64 = 100;

struct DeliveryRow {
    id: String,
    agent_id: String,
    host: String,
    state: &'static str,
    can_retry: bool,
    attempts: u32,
    created_at: Instant,
    next_attempt_at: Option<Instant>,
    last_error: Option<String>,
}

impl From<Delivery> for DeliveryRow {
    fn from(delivery: Delivery) -> Self {
        Self {
            last_error: why(&delivery),
            id: delivery.message_id.to_string(),
            agent_id: delivery.agent_id,
            host: delivery.host,
            state: delivery.track.as_str(),
            can_retry: delivery.attempts > 0 && delivery.track != Track::Delivered,
            attempts: delivery.attempts,
            created_at: instant(delivery.created_at),
            next_attempt_at: delivery.next_attempt_at.map(instant),
        }
    }
}

#[derive(Template)]
#[template(path = "settings_deliveries.html")]
struct DeliveriesPage {
    shell: Shell,
    word: Word,
    deliveries: Vec<DeliveryRow>,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    OwnerVisitor(visitor): OwnerVisitor,
    asked: Asked,
    query: DoneQuery,
) -> Result<Response, Failure> {
    let mut deliveries = Vec::new();
    for track in [Track::Failed, Track::Pending] {
        let found = hub
            .store
            .run(Deliveries {
                track: Some(track),
                limit: MOST_SHOWN,
            })
            .await?;
        deliveries.extend(found.into_iter().map(DeliveryRow::from));
    }
    let shell = Shell::of(&hub, &visitor, &asked, Here::Settings, "Deliveries").await?;
    let page = DeliveriesPage {
        shell,
        word: Word::from_query(&query),
        deliveries,
    };
    Ok(render(page.word.status(), &page))
}

pub async fn retry(State(hub): State<Arc<Hub>>, posted: OwnerPosted) -> Result<Response, Failure> {
    retry_delivery(&hub, posted.fields.text("id"), posted.visitor.actor().to_string()).await?;
    Ok(see_other("/inbox/settings/deliveries"))
}

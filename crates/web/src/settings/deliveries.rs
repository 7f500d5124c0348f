//! Pushes of answers to agents, failed ones first.

use std::collections::BTreeSet;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_core::delivery::DeliveryState;
use countersign_hub::Hub;
use countersign_hub::admin::deliveries::retry_delivery;
use countersign_store::model::Delivery;
use countersign_store::ops::deliver::Deliveries;

use super::flash::{DoneQuery, FlashMessage};
use crate::agents::KnownNames;
use crate::item::failure_reason;
use crate::language::t;
use crate::layout::filters;
use crate::layout::form::OwnerForm;
use crate::layout::formatting::{DisplayTime, display_time};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render, see_other};
use crate::layout::signed_in_user::SignedInOwner;

const MAX_SHOWN_DELIVERIES: i64 = 100;

struct DeliveryRow {
    id: String,
    agent_name: String,
    host: String,
    state: &'static str,
    can_retry: bool,
    attempts: u32,
    created_at: DisplayTime,
    next_attempt_at: Option<DisplayTime>,
    last_error: Option<String>,
}

impl DeliveryRow {
    fn of(delivery: Delivery, names: &KnownNames) -> Self {
        Self {
            last_error: failure_reason(&delivery),
            id: delivery.message_id.to_string(),
            agent_name: names.name(&delivery.agent_id),
            host: delivery.host,
            state: delivery.state.as_str(),
            can_retry: delivery.attempts > 0 && delivery.state != DeliveryState::Delivered,
            attempts: delivery.attempts,
            created_at: display_time(delivery.created_at),
            next_attempt_at: delivery.next_attempt_at.map(display_time),
        }
    }
}

#[derive(Template)]
#[template(path = "settings_deliveries.html")]
struct DeliveriesPage {
    layout: PageLayout,
    flash: FlashMessage,
    deliveries: Vec<DeliveryRow>,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    SignedInOwner(user): SignedInOwner,
    request: PageRequest,
    query: DoneQuery,
) -> Result<Response, PageError> {
    let mut deliveries = Vec::new();
    for state in [DeliveryState::Failed, DeliveryState::Pending] {
        let found = hub
            .store
            .run(Deliveries {
                state: Some(state),
                limit: MAX_SHOWN_DELIVERIES,
            })
            .await?;
        deliveries.extend(found);
    }
    let ids: BTreeSet<&str> = deliveries.iter().map(|delivery| delivery.agent_id.as_str()).collect();
    let names = KnownNames::of(&hub, ids).await?;
    let deliveries = deliveries
        .into_iter()
        .map(|delivery| DeliveryRow::of(delivery, &names))
        .collect();
    let layout = PageLayout::of(&hub, &user, &request, PageSection::Settings, t("Deliveries")).await?;
    let page = DeliveriesPage {
        layout,
        flash: FlashMessage::from_query(&query),
        deliveries,
    };
    Ok(render(page.flash.status(), &page))
}

pub async fn retry(State(hub): State<Arc<Hub>>, posted: OwnerForm) -> Result<Response, PageError> {
    retry_delivery(&hub, posted.fields.text("id"), posted.user.actor().to_string()).await?;
    Ok(see_other("/inbox/settings/deliveries"))
}

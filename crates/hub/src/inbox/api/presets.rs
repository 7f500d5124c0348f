//! GET /v1/presets

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_protocol::api::inbox::Presets;

use crate::Hub;
use crate::http::callers::PersonCaller;
use crate::inbox::presets;
use crate::problem::Problem;

/// The preset reject reasons, the same for all people.
pub async fn presets(State(hub): State<Arc<Hub>>, _person: PersonCaller) -> Result<Json<Presets>, Problem> {
    Ok(Json(Presets {
        reject: presets::presets(&hub).await?,
    }))
}

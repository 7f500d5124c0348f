//! POST /runs/{id}/stop

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_core::asker::run_href;
use countersign_hub::Hub;
use countersign_hub::http::extract::RunPath;
use countersign_hub::inbox::api::stop_run;
use countersign_hub::problem::Problem;

use crate::layout::form::PostedForm;
use crate::layout::page::{PageError, see_other};

pub async fn stop(
    State(hub): State<Arc<Hub>>,
    path: Result<RunPath, Problem>,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let RunPath(run_id) = path?;
    stop_run(&hub, &posted.user.principal(), &run_id).await?;
    Ok(see_other(&run_href(&run_id)))
}

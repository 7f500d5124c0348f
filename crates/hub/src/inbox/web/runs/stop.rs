//! POST /runs/{id}/stop

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use crate::app::Hub;
use crate::extract::RunPath;
use crate::inbox::api::stop_run;
use crate::inbox::asker::run_href;
use crate::inbox::web::form::PostedForm;
use crate::inbox::web::page::{PageError, see_other};
use crate::problem::Problem;

pub async fn stop(
    State(hub): State<Arc<Hub>>,
    path: Result<RunPath, Problem>,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let RunPath(run_id) = path?;
    stop_run(&hub, &posted.user.principal(), &run_id).await?;
    Ok(see_other(&run_href(&run_id)))
}

//! POST /runs/{id}/stop

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use crate::app::Hub;
use crate::extract::RunPath;
use crate::inbox::api::stop_run;
use crate::inbox::asker::run_href;
use crate::inbox::web::form::Posted;
use crate::inbox::web::page::{Failure, see_other};
use crate::problem::Problem;

pub async fn stop(
    State(hub): State<Arc<Hub>>,
    path: Result<RunPath, Problem>,
    posted: Posted,
) -> Result<Response, Failure> {
    let RunPath(run_id) = path?;
    stop_run(&hub, &posted.visitor.principal(), &run_id).await?;
    Ok(see_other(&run_href(&run_id)))
}

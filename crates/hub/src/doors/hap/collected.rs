//! POST /v1/hap/cues/{id}/collected

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use countersign_store::ops::terminal::Collect;

use crate::app::Hub;
use crate::auth::TerminalCaller;
use crate::extract::MessagePath;
use crate::inbox::news::Change;
use crate::problem::Problem;

/// The agent has printed its answer: whoever says the same again asks anew.
pub async fn collected(
    State(hub): State<Arc<Hub>>,
    caller: TerminalCaller,
    MessagePath(id): MessagePath,
) -> Result<StatusCode, Problem> {
    hub.rate_limit.check_terminals(&caller).await?;
    match hub
        .store
        .run(Collect {
            id: id.clone(),
            person: caller.person,
        })
        .await?
    {
        Some(is_first) => {
            if is_first {
                hub.news.tell(Change::Tracked(id));
            }
            Ok(StatusCode::NO_CONTENT)
        }
        None => Err(Problem::NotFound {
            message: "no such cue of yours that has been answered".to_owned(),
        }),
    }
}

//! POST /v1/hap/cues/{id}/collected

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use countersign_store::ops::terminal::Collect;

use crate::Hub;
use crate::cluster::LiveChange;
use crate::http::callers::TerminalCaller;
use crate::http::extract::MessagePath;
use crate::problem::Problem;

/// Acknowledges that the agent printed its answer. The same text submitted again is then a new cue.
pub async fn acknowledge(
    State(hub): State<Arc<Hub>>,
    caller: TerminalCaller,
    MessagePath(id): MessagePath,
) -> Result<StatusCode, Problem> {
    hub.auth.request_limiter.check_terminals(caller.key()).await?;
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
                hub.live.publish(LiveChange::Tracked(id));
            }
            Ok(StatusCode::NO_CONTENT)
        }
        None => Err(Problem::NotFound {
            message: "no answered cue with this id, or it is not yours".to_owned(),
        }),
    }
}

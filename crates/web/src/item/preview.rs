//! POST /inbox/items/{id}/preview: the answer of a form as the agent would get it. Nothing is decided.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_core::Verdict;
use countersign_hub::Hub;
use countersign_hub::http::extract::MessagePath;
use countersign_hub::inbox::find::find;
use countersign_hub::problem::Problem;

use super::{PanelState, missing, page, parse_answer};
use crate::layout::form::PostedForm;
use crate::layout::page::{PageError, PageRequest};
use crate::text;

pub async fn preview(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    request: PageRequest,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    let found = match path {
        Ok(MessagePath(id)) => find(&hub, &id).await,
        Err(problem) => Err(problem),
    };
    let item = match found {
        Ok(item) => item,
        Err(problem) => return missing(&hub, &user, &request, problem).await,
    };
    let state = match parse_answer(&item.message.content, &fields, &[]) {
        Ok(parsed) => PanelState::Preview {
            sent: &fields,
            answer: shown(&parsed.verdict),
        },
        // A script asks on every change, so an unfinished form is no error.
        Err(_) if request.fragment => PanelState::Preview {
            sent: &fields,
            answer: String::new(),
        },
        Err(faults) => PanelState::Refused { sent: &fields, faults },
    };
    page(&hub, &user, &request, &item, state).await
}

fn shown(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Answered(value) | Verdict::AnsweredWith { value, .. } => text::json(value),
        Verdict::Wrote(_) | Verdict::Declined | Verdict::Completed(_) | Verdict::Dismissed(_) => String::new(),
    }
}

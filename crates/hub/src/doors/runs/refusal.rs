//! Refusals in the codes and texts of the protocol.

use std::fmt::Display;

use countersign_protocol::runs::ClientMessage;
use countersign_runs::{RefusalText, RunRefusal};
use countersign_telemetry::request::error_id;

const TOO_MANY_FOLLOWED: &str = "This connection follows too many runs; unsubscribe from some";
const NOT_DONE: &str = "The hub could not do this now. Try again.";
const MAY_BE_DONE: &str = "It is unknown whether this was done. Check the run before you try again.";

pub fn refusal_text(request: &ClientMessage, refusal: RunRefusal) -> RefusalText {
    let run_id = run_id(request).unwrap_or_default();
    let is_start = matches!(
        request,
        ClientMessage::StartRun { .. } | ClientMessage::ContinueRun { .. }
    );
    let message = match refusal {
        RunRefusal::HubStopping if is_start => format!("The hub is stopping and begins nothing: {run_id}"),
        RunRefusal::HubStopping => "The hub is stopping".to_owned(),
        RunRefusal::NotAnOwner => {
            "Only an owner may prepare a run, because it reads files on the hub's machine".to_owned()
        }
        RunRefusal::NotFound => format!("Run not found: {run_id}"),
        RunRefusal::AlreadyExists => format!("Run already exists: {run_id}"),
        RunRefusal::TooManyLiveRuns { limit } => {
            format!("{limit} runs are prepared or running, which is the limit (runs.max_live); stop some first")
        }
        RunRefusal::TooManyReplicas { limit } => format!(
            "{limit} runs of other hubs are followed here, which is the limit (runs.max_live); connect to the hub that runs it"
        ),
        RunRefusal::TooManyFollowedRuns if is_start => format!("{TOO_MANY_FOLLOWED}: {run_id}"),
        RunRefusal::TooManyFollowedRuns => TOO_MANY_FOLLOWED.to_owned(),
        RunRefusal::Strategy(reason) => reason,
        RunRefusal::NotPrepared => format!("Prepared run not found: {run_id}"),
        RunRefusal::AlreadyStarted => format!("Run already started: {run_id}"),
        RunRefusal::PreparedForContinuation => format!("Run was prepared for continuation: {run_id}"),
        RunRefusal::NotPreparedForContinuation => format!("Run was not prepared for continuation: {run_id}"),
        RunRefusal::NoOpenAsk => no_open_ask(request, run_id),
        RunRefusal::Held(message) => return text("HELD", message),
        RunRefusal::NotAResolver(actor) => {
            let message = format!(
                "{actor} is not a resolver of this ask; only the people who could resolve when it was asked may answer"
            );
            return text("NOT_AUTHORIZED", message);
        }
        RunRefusal::NotRunning => match request {
            ClientMessage::SteerRun { .. } => format!("Cannot steer run {run_id}: not running"),
            _ => format!("No active run found for runId {run_id}"),
        },
        RunRefusal::SteeringFull => format!(
            "Cannot steer run {run_id}: too many steering texts are queued; wait until the next agent call takes them"
        ),
        RunRefusal::TooManyRules(error) => return invalid_policy(error),
        RunRefusal::TooManyPolicyChanges => {
            return invalid_policy("the policy of this prepared run was changed too often; start the run first");
        }
        RunRefusal::ByOwningNode(text) => return text,
        RunRefusal::Failed(cause) => return internal_error(Some(run_id), &cause, NOT_DONE),
        RunRefusal::OutcomeUnknown(cause) => return internal_error(Some(run_id), &cause, MAY_BE_DONE),
    };
    text(code(request), message)
}

/// For a message that could not be read at all.
pub fn unread(cause: &str) -> RefusalText {
    internal_error(None, cause, NOT_DONE)
}

/// The cause is only logged; the client gets its id.
fn internal_error(run_id: Option<&str>, cause: &str, what: &str) -> RefusalText {
    let id = error_id();
    let run_id = run_id.filter(|run_id| !run_id.is_empty());
    tracing::error!(error_id = %id, run_id, error = cause, "handling a run request failed");
    let message = format!("{what} The hub's log has the cause under {id}.");
    text("INTERNAL_ERROR", message)
}

fn invalid_policy(error: impl Display) -> RefusalText {
    text("VALIDATION_ERROR", format!("Invalid message: allow: {error}"))
}

fn text(code: &str, message: String) -> RefusalText {
    RefusalText {
        code: code.to_owned(),
        message,
    }
}

/// The usual code of a refused request.
fn code(request: &ClientMessage) -> &'static str {
    match request {
        ClientMessage::PrepareRun(_) => "PREPARE_FAILED",
        ClientMessage::StartRun { .. } => "START_FAILED",
        ClientMessage::ContinueRun { .. } => "CONTINUE_FAILED",
        ClientMessage::UserInput { .. } => "NO_PENDING_INPUT",
        ClientMessage::PermissionDecision { .. } => "NO_PENDING_PERMISSION",
        ClientMessage::QuestionResponse { .. } => "NO_PENDING_QUESTION",
        ClientMessage::SteerRun { .. } => "RUN_NOT_STEERABLE",
        ClientMessage::Subscribe { .. } => "SUBSCRIBE_ERROR",
        _ => "RUN_NOT_FOUND",
    }
}

fn no_open_ask(request: &ClientMessage, run_id: &str) -> String {
    match request {
        ClientMessage::PermissionDecision {
            permission_request_id: id,
            ..
        } => format!("No pending permission request {id} for run {run_id}"),
        ClientMessage::QuestionResponse {
            question_request_id: id,
            ..
        } => format!("No pending question request {id} for run {run_id}"),
        ClientMessage::UserInput { agent_name, .. } => {
            format!("No pending input request for run {run_id} agent {agent_name}")
        }
        _ => format!("Nothing is asked in run {run_id}"),
    }
}

fn run_id(request: &ClientMessage) -> Option<&str> {
    match request {
        ClientMessage::PrepareRun(request) => request.run_id.as_deref(),
        ClientMessage::UpdatePolicy(change) => Some(&change.run_id),
        ClientMessage::StartRun { run_id, .. }
        | ClientMessage::ContinueRun { run_id, .. }
        | ClientMessage::StopRun { run_id }
        | ClientMessage::UserInput { run_id, .. }
        | ClientMessage::PermissionDecision { run_id, .. }
        | ClientMessage::QuestionResponse { run_id, .. }
        | ClientMessage::SteerRun { run_id, .. }
        | ClientMessage::Subscribe { run_id, .. }
        | ClientMessage::Unsubscribe { run_id } => Some(run_id),
        ClientMessage::Ping
        | ClientMessage::ListStrategies
        | ClientMessage::ListRuns { .. }
        | ClientMessage::ListProviders
        | ClientMessage::GetAvailableModels
        | ClientMessage::ListMcpServers
        | ClientMessage::HubList
        | ClientMessage::TrashList
        | ClientMessage::TrashClear => None,
    }
}

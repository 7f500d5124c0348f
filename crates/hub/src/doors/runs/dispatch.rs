//! Dispatches client messages. An error goes only to its sender and does not close the connection.

use std::mem::take;

use bytes::Bytes;
use countersign_protocol::runs::{self, AuthStatus, ClientMessage, Provider, Received, RunReply};
use countersign_runs::settings::{ApiKey, Endpoint, LlmSettings};
use countersign_runs::{AskSelector, PrepareContext, RunRefusal, StartMode};

use super::refusal::{self, refusal_text};
use super::session::Session;
use crate::http::body::offload_if_large;

/// Handles one message; the messages of a client run in order.
pub async fn message(session: &Session, bytes: Bytes) {
    let Received {
        request_id,
        mut message,
    } = match offload_if_large(bytes.len(), move || runs::read(&bytes)).await {
        Ok(Ok(received)) => received,
        Ok(Err(refused)) => return session.reply(&RunReply::from(&refused), refused.request_id.as_deref()),
        Err(_) => return session.refuse(refusal::unread("reading a large message failed"), None),
    };
    // Boxed with its message, because both would enlarge every idle connection.
    Box::pin(async move {
        let request_id = request_id.as_deref();
        if let Err(refusal) = act(session, &mut message, request_id).await {
            session.refuse(refusal_text(&message, refusal), request_id);
        }
    })
    .await;
}

/// Long texts are taken out of the message; a refusal needs only its kind and ids.
async fn act(session: &Session, message: &mut ClientMessage, request_id: Option<&str>) -> Result<(), RunRefusal> {
    let hub = &session.hub;
    let client = session.client();
    let caller = &session.caller;
    match message {
        ClientMessage::Ping => session.reply(&RunReply::Pong, request_id),
        ClientMessage::PrepareRun(request) => {
            let who = PrepareContext {
                client,
                request_id,
                is_owner: caller.is_owner,
            };
            hub.runs.prepare_run(request.clone(), who).await?;
        }
        ClientMessage::StartRun { run_id, input } => {
            hub.runs
                .start_run(StartMode::Start, (run_id, take(input)), request_id, client)
                .await?;
        }
        ClientMessage::ContinueRun { run_id, input } => {
            hub.runs
                .start_run(StartMode::Continue, (run_id, take(input)), request_id, client)
                .await?;
        }
        ClientMessage::StopRun { run_id } => hub.runs.stop_run(run_id).await?,
        ClientMessage::UserInput {
            run_id,
            agent_name,
            text,
            input_id,
        } => {
            let selector = AskSelector::Input {
                agent_name,
                input_id: input_id.as_deref(),
            };
            hub.runs.answer_run(run_id, selector, text, caller.actor()).await?;
        }
        ClientMessage::PermissionDecision {
            run_id,
            permission_request_id: id,
            decision,
        } => {
            hub.runs
                .answer_run(
                    run_id,
                    AskSelector::Permission { id },
                    decision.as_str(),
                    caller.actor(),
                )
                .await?;
        }
        ClientMessage::QuestionResponse {
            run_id,
            question_request_id: id,
            response,
        } => {
            hub.runs
                .answer_run(run_id, AskSelector::Question { id }, response, caller.actor())
                .await?;
        }
        ClientMessage::SteerRun { run_id, text } => hub.runs.steer_run(run_id, take(text)).await?,
        ClientMessage::UpdatePolicy(change) => hub.runs.change_policy(change.clone()).await?,
        ClientMessage::Subscribe {
            run_id,
            after_seq,
            extensions,
        } => {
            hub.runs
                .subscribe(client, run_id, (*after_seq, *extensions), request_id)
                .await?;
        }
        ClientMessage::Unsubscribe { run_id } => hub.runs.unsubscribe(client, run_id),
        ClientMessage::ListStrategies => {
            session.reply(
                &RunReply::StrategyList {
                    runs: hub.runs.live_runs().await?,
                },
                request_id,
            );
        }
        ClientMessage::ListRuns { cwd } => {
            session.reply(
                &RunReply::RunList {
                    runs: hub.runs.stored_runs(cwd.clone()).await?,
                },
                request_id,
            );
        }
        ClientMessage::ListProviders => session.reply(&provider_list(&hub.config.llm), request_id),
        ClientMessage::GetAvailableModels => session.reply(&RunReply::NO_MODELS, request_id),
        ClientMessage::ListMcpServers => session.reply(&RunReply::NO_MCP_SERVERS, request_id),
        ClientMessage::HubList => session.reply(&RunReply::NO_PACKAGES, request_id),
        ClientMessage::TrashList => session.reply(&RunReply::EMPTY_TRASH, request_id),
        ClientMessage::TrashClear => session.reply(&RunReply::NOTHING_CLEARED, request_id),
    }
    Ok(())
}

/// The default endpoint is left out, because its models have no provider in front of their name.
fn provider_list(llm: &LlmSettings) -> RunReply {
    let provider = |(name, endpoint): (&String, &Endpoint)| {
        let auth_status = match endpoint.key {
            ApiKey::None => AuthStatus::None,
            ApiKey::Given(_) | ApiKey::FromEnv(_) => AuthStatus::Configured,
        };
        Provider::configured(name, auth_status)
    };
    RunReply::ProviderList {
        providers: llm.providers.iter().map(provider).collect(),
    }
}

//! From a message to what it does. Whatever goes wrong is told to its sender alone, and never ends the connection.

use bytes::Bytes;
use countersign_protocol::runs::{self, ClientMessage, Received, Reply};

use super::session::Session;
use crate::body::work;
use crate::runs::{How, Preparing, Refusal, Wanted};

/// One after the other: what a client sends is done in its order.
pub async fn message(session: &Session, bytes: Bytes) {
    let Received { request_id, message } = match work(bytes.len(), move || runs::read(&bytes)).await {
        Ok(Ok(received)) => received,
        Ok(Err(refused)) => return session.reply(&Reply::from(&refused), refused.request_id.as_deref()),
        Err(_) => return session.reply(&Refusal::internal(&"a large message could not be read").into(), None),
    };
    let request_id = request_id.as_deref();
    // Boxed: an idle connection would carry the room for it.
    if let Err(refusal) = Box::pin(act(session, message, request_id)).await {
        session.reply(&refusal.into(), request_id);
    }
}

async fn act(session: &Session, message: ClientMessage, request_id: Option<&str>) -> Result<(), Refusal> {
    let hub = &session.hub;
    let client = session.client();
    let caller = &session.caller;
    match message {
        ClientMessage::Ping => session.reply(&Reply::Pong, request_id),
        ClientMessage::PrepareRun(request) => {
            let who = Preparing {
                client,
                request_id,
                is_owner: caller.is_owner,
            };
            hub.prepare_run(request, who).await?;
        }
        ClientMessage::StartRun { run_id, input } => {
            hub.start_run(How::Start, (&run_id, input), request_id, client).await?;
        }
        ClientMessage::ContinueRun { run_id, input } => {
            hub.start_run(How::Continue, (&run_id, input), request_id, client)
                .await?;
        }
        ClientMessage::StopRun { run_id } => hub.stop_run(&run_id).await?,
        ClientMessage::UserInput {
            run_id,
            agent_name,
            text,
            input_id,
        } => {
            let wanted = Wanted::Input {
                agent_name: &agent_name,
                input_id: input_id.as_deref(),
            };
            hub.answer_run(&run_id, wanted, &text, caller.actor()).await?;
        }
        ClientMessage::PermissionDecision {
            run_id,
            permission_request_id: id,
            decision,
        } => {
            hub.answer_run(
                &run_id,
                Wanted::Permission { id: &id },
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
            hub.answer_run(&run_id, Wanted::Question { id: &id }, &response, caller.actor())
                .await?;
        }
        ClientMessage::SteerRun { run_id, text } => hub.steer_run(&run_id, text).await?,
        ClientMessage::UpdatePolicy(change) => hub.change_policy(change).await?,
        ClientMessage::Subscribe {
            run_id,
            after_seq,
            extensions,
        } => {
            hub.subscribe(client, &run_id, (after_seq, extensions), request_id)
                .await?;
        }
        ClientMessage::Unsubscribe { run_id } => hub.unsubscribe(client, &run_id),
        ClientMessage::ListStrategies => {
            session.reply(
                &Reply::StrategyList {
                    runs: hub.live_runs().await?,
                },
                request_id,
            );
        }
        ClientMessage::ListRuns { cwd } => {
            session.reply(
                &Reply::RunList {
                    runs: hub.stored_runs(cwd).await?,
                },
                request_id,
            );
        }
    }
    Ok(())
}

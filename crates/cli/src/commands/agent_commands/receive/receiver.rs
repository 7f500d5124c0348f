//! Handles one push: verify it, check its jti, reserve the outcome, run the command, record the result.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_agent::{ActionState, Journal, MAX_PUSH_BYTES, Refusal, Resolved, Verified};
use countersign_client::screen;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::{HeaderMap, Method, Request, StatusCode};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::StopCount;
use super::owner_check::{Owner, OwnerCheck};
use super::reply::PushReply;
use super::verifier::PushVerifier;
use crate::args::ExecArgs;
use crate::commands::agent_commands::act::{ExecOptions, act};
use crate::commands::agent_commands::outcome::outcome_line;

/// Commands that run at the same time.
const MAX_COMMANDS: u32 = 4;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

pub struct PushReceiver {
    trust: PushVerifier,
    own: OwnerCheck,
    journal: Journal,
    exec: ExecArgs,
    path: String,
    stop_count: StopCount,
    json: bool,
    command_slots: Semaphore,
}

impl PushReceiver {
    pub fn new(
        (trust, own): (PushVerifier, OwnerCheck),
        journal: Journal,
        exec: ExecArgs,
        path: String,
        stop_count: StopCount,
        json: bool,
    ) -> Self {
        Self {
            trust,
            own,
            journal,
            exec,
            path,
            stop_count,
            json,
            command_slots: Semaphore::new(MAX_COMMANDS as usize),
        }
    }

    pub async fn take(self: Arc<Self>, request: Request<Incoming>) -> PushReply {
        if request.uri().path() != self.path {
            return PushReply::problem(
                StatusCode::NOT_FOUND,
                "not_found",
                "pushes are not received on this path: check the callback address",
            );
        }
        if request.method() != Method::POST {
            return PushReply::problem(
                StatusCode::METHOD_NOT_ALLOWED,
                "not_a_push",
                "a push must be a POST request",
            );
        }
        let (parts, body) = request.into_parts();
        match self.check(&parts.headers, body).await {
            Ok(verified) => self.work(verified).await,
            Err(reply) => {
                self.report(&reply, None);
                reply
            }
        }
    }

    fn report(&self, reply: &PushReply, verified: Option<&Resolved>) {
        if self.json
            && let Err(error) = screen::print(&reply.line(verified))
        {
            screen::print_notice(&format!("standard output cannot be written: {error}"));
        }
    }

    async fn check(&self, headers: &HeaderMap, body: Incoming) -> Result<Verified, PushReply> {
        let body = read(body).await?;
        self.trust.verify(headers, &body).await.map_err(|refusal| {
            screen::print_notice(&format!("refused: {refusal}"));
            PushReply::refused(&refusal)
        })
    }

    /// Runs in its own task, so that a hub that disconnects does not cancel the command.
    async fn work(self: Arc<Self>, mut verified: Verified) -> PushReply {
        let working = tokio::spawn(async move {
            let done = self.see_and_act(&mut verified).await;
            let resolved = &verified.resolved;
            let reply = done.unwrap_or_else(|error| {
                screen::print_notice(&format!("{}: {error:#}", resolved.message_id));
                PushReply::problem(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "not_done",
                    "nothing was done; the receiver's output has the reason",
                )
            });
            self.report(&reply, Some(resolved));
            reply
        });
        let lost = |_| {
            PushReply::problem(
                StatusCode::INTERNAL_SERVER_ERROR,
                "lost",
                "the receiver failed while handling this push",
            )
        };
        working.await.unwrap_or_else(lost)
    }

    async fn see_and_act(&self, verified: &mut Verified) -> anyhow::Result<PushReply> {
        let _slot = self.command_slots.acquire().await?;
        if *self.stop_count.borrow() > 0 {
            return Ok(PushReply::problem(
                StatusCode::SERVICE_UNAVAILABLE,
                "stopping",
                "this receiver is stopping",
            ));
        }
        // The owner is checked before the jti is recorded, so that a failed check can be retried by the hub.
        match self.own.owner_of(&self.journal, &verified.resolved.message_id).await? {
            Owner::Own(key) => verified.resolved.idempotency_key = key,
            Owner::Another => return Ok(refuse_another(&verified.resolved.message_id)),
        }
        let resolved = &verified.resolved;
        if !self.journal.see_jti(&verified.jti, verified.signed_until)? {
            return self.seen_before(verified);
        }
        let acted = act(
            &self.journal,
            resolved,
            &self.exec,
            ExecOptions {
                own_group: true,
                to_stderr: self.json,
            },
        )
        .await?;
        screen::print_notice(&format!(
            "{}; {}",
            outcome_line(resolved),
            acted.text(&resolved.message_id)
        ));
        Ok(PushReply::acted(&acted, &resolved.message_id))
    }

    /// A replayed request: answered as a duplicate if its action has ended, refused otherwise.
    fn seen_before(&self, verified: &Verified) -> anyhow::Result<PushReply> {
        let (message_id, resolution_id) = verified.resolved.act_key();
        let action = self
            .journal
            .action(message_id)?
            .filter(|action| action.resolution_id == resolution_id);
        let ended = action.is_some_and(|action| action.state != ActionState::Reserved);
        screen::print_notice(&format!("{message_id}: the same push again, nothing done"));
        Ok(if ended {
            PushReply::duplicate()
        } else {
            PushReply::refused(&Refusal::ReplayedJti)
        })
    }

    /// Returns once no command is running.
    pub async fn idle(&self) {
        drop(self.command_slots.acquire_many(MAX_COMMANDS).await);
    }
}

fn refuse_another(message_id: &str) -> PushReply {
    let message = "this message belongs to another agent: check the callback address, or --agent";
    screen::print_notice(&format!("refused {message_id}: {message}"));
    PushReply::problem(StatusCode::FORBIDDEN, "other_agent", message)
}

async fn read(body: Incoming) -> Result<Bytes, PushReply> {
    match timeout(BODY_TIMEOUT, Limited::new(body, MAX_PUSH_BYTES).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("the body is longer than {MAX_PUSH_BYTES} bytes");
            Err(PushReply::problem(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &message))
        }
        Ok(Err(_)) => Err(PushReply::problem(
            StatusCode::BAD_REQUEST,
            "bad_body",
            "the body could not be read",
        )),
        Err(_) => Err(PushReply::problem(
            StatusCode::REQUEST_TIMEOUT,
            "too_slow",
            "the body did not arrive in time",
        )),
    }
}

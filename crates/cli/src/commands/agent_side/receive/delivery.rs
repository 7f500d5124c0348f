//! One push, from the request to the reply: verify, see its jti, reserve, run the command, write down how it went.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_agent::{ActState, Journal, MAX_PUSH_BYTES, Refusal, Resolved, Verified};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::{HeaderMap, Method, Request, StatusCode};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::super::act::{Manner, act};
use super::super::outcome::words;
use super::Stops;
use super::own::{Own, Whose};
use super::reply::Reply;
use super::trust::Trust;
use crate::args::Exec;
use crate::screen;

/// Commands that run at the same time.
const MOST_COMMANDS: u32 = 4;
const BODY_TIME: Duration = Duration::from_secs(10);

pub struct Receiver {
    trust: Trust,
    own: Own,
    journal: Journal,
    exec: Exec,
    path: String,
    stops: Stops,
    json: bool,
    places: Semaphore,
}

impl Receiver {
    pub fn new(
        (trust, own): (Trust, Own),
        journal: Journal,
        exec: Exec,
        path: String,
        stops: Stops,
        json: bool,
    ) -> Self {
        Self {
            trust,
            own,
            journal,
            exec,
            path,
            stops,
            json,
            places: Semaphore::new(MOST_COMMANDS as usize),
        }
    }

    pub async fn take(self: Arc<Self>, request: Request<Incoming>) -> Reply {
        if request.uri().path() != self.path {
            return Reply::problem(
                StatusCode::NOT_FOUND,
                "not_found",
                "nothing is received here: check the path",
            );
        }
        if request.method() != Method::POST {
            return Reply::problem(StatusCode::METHOD_NOT_ALLOWED, "not_a_push", "a push comes by POST");
        }
        let (parts, body) = request.into_parts();
        match self.check(&parts.headers, body).await {
            Ok(verified) => self.work(verified).await,
            Err(reply) => {
                self.tell(&reply, None);
                reply
            }
        }
    }

    fn tell(&self, reply: &Reply, believed: Option<&Resolved>) {
        if self.json
            && let Err(error) = screen::print(&reply.line(believed))
        {
            screen::remark(&format!("standard output cannot be written: {error}"));
        }
    }

    async fn check(&self, headers: &HeaderMap, body: Incoming) -> Result<Verified, Reply> {
        let body = read(body).await?;
        self.trust.verify(headers, &body).await.map_err(|refusal| {
            screen::remark(&format!("refused: {refusal}"));
            Reply::refused(&refusal)
        })
    }

    /// In a task of its own: a hub that hangs up must not cut a command off.
    async fn work(self: Arc<Self>, mut verified: Verified) -> Reply {
        let working = tokio::spawn(async move {
            let done = self.see_and_act(&mut verified).await;
            let resolved = &verified.resolved;
            let reply = done.unwrap_or_else(|error| {
                screen::remark(&format!("{}: {error:#}", resolved.message_id));
                Reply::problem(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "not_done",
                    "nothing was done; the receiver says why",
                )
            });
            self.tell(&reply, Some(resolved));
            reply
        });
        let lost = |_| Reply::problem(StatusCode::INTERNAL_SERVER_ERROR, "lost", "the receiver lost this push");
        working.await.unwrap_or_else(lost)
    }

    async fn see_and_act(&self, verified: &mut Verified) -> anyhow::Result<Reply> {
        let _place = self.places.acquire().await?;
        if *self.stops.borrow() > 0 {
            return Ok(Reply::problem(
                StatusCode::SERVICE_UNAVAILABLE,
                "stopping",
                "this receiver is stopping",
            ));
        }
        // Before the jti is seen: whoever could not be told is to come again.
        match self.own.whose(&self.journal, &verified.resolved.message_id).await? {
            Whose::Own(key) => verified.resolved.idempotency_key = key,
            Whose::Another => return Ok(refuse_another(&verified.resolved.message_id)),
        }
        let resolved = &verified.resolved;
        if !self.journal.see_jti(&verified.jti, verified.signed_until)? {
            return self.seen_before(verified);
        }
        let acted = act(
            &self.journal,
            resolved,
            &self.exec,
            Manner {
                alone: true,
                aside: self.json,
            },
        )
        .await?;
        screen::remark(&format!("{}; {}", words(resolved), acted.words(&resolved.message_id)));
        Ok(Reply::acted(&acted, &resolved.message_id))
    }

    /// The very same request again: harmless when its act has ended, and not believed otherwise.
    fn seen_before(&self, verified: &Verified) -> anyhow::Result<Reply> {
        let (message_id, resolution_id) = verified.resolved.act_key();
        let act = self
            .journal
            .act(message_id)?
            .filter(|act| act.resolution_id == resolution_id);
        let ended = act.is_some_and(|act| act.state != ActState::Reserved);
        screen::remark(&format!("{message_id}: the same push again, nothing done"));
        Ok(if ended {
            Reply::duplicate()
        } else {
            Reply::refused(&Refusal::ReplayedJti)
        })
    }

    /// Returns once no command runs any more.
    pub async fn idle(&self) {
        drop(self.places.acquire_many(MOST_COMMANDS).await);
    }
}

fn refuse_another(message_id: &str) -> Reply {
    let message = "this is no message of the agent that is received for: check the callback address, or --agent";
    screen::remark(&format!("refused {message_id}: {message}"));
    Reply::problem(StatusCode::FORBIDDEN, "other_agent", message)
}

async fn read(body: Incoming) -> Result<Bytes, Reply> {
    match timeout(BODY_TIME, Limited::new(body, MAX_PUSH_BYTES).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("the body is longer than {MAX_PUSH_BYTES} bytes");
            Err(Reply::problem(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &message))
        }
        Ok(Err(_)) => Err(Reply::problem(
            StatusCode::BAD_REQUEST,
            "bad_body",
            "the body could not be read",
        )),
        Err(_) => Err(Reply::problem(
            StatusCode::REQUEST_TIMEOUT,
            "too_slow",
            "the body did not come in time",
        )),
    }
}

//! One connection from its upgrade to its end: one half reads and acts, the other writes what waits. Neither holds up the other.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use bytes::Bytes;
use countersign_protocol::runs::Reply;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use super::dispatch;
use super::gate::{self, Caller};
use crate::app::Hub;
use crate::intake::Intake;
use crate::problem::Problem;
use crate::runs::{Client, Close, Connected, Next};
use crate::seats::Seat;

const PING_EVERY: Duration = Duration::from_secs(30);
const LONGEST_SILENCE: Duration = Duration::from_secs(90);
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// For the last words in each direction.
const FAREWELL: Duration = Duration::from_secs(5);

pub struct Session {
    pub hub: Arc<Hub>,
    connected: Connected,
    pub caller: Caller,
    endings: watch::Receiver<()>,
    intake: Intake,
    _seat: Seat,
}

/// The other end is gone, or no longer to be understood.
struct Gone;

impl Session {
    pub fn new(
        hub: Arc<Hub>,
        connected: Connected,
        (caller, endings): (Caller, watch::Receiver<()>),
        counted: (Seat, Intake),
    ) -> Self {
        let (_seat, intake) = counted;
        Self { hub, connected, caller, endings, intake, _seat }
    }

    pub fn client(&self) -> &Arc<Client> {
        &self.connected.client
    }

    pub fn reply(&self, reply: &Reply, request_id: Option<&str>) {
        let text = reply.frame(self.hub.store.clock().now(), request_id);
        self.client().push(text.into(), false);
    }

    pub async fn serve(mut self, socket: WebSocket) {
        let (mut sink, mut stream) = socket.split();
        let client = Arc::clone(self.client());
        let closed = tokio::select! {
            closed = write(&client, &mut sink) => closed,
            Gone = self.read(&mut stream) => Err(Gone),
        };
        match closed {
            // The hub waits for those who have to hear it.
            Ok(close @ Close::ShuttingDown) => take_leave(sink, stream, close).await,
            Ok(close @ (Close::TooSlow | Close::NotAllowed | Close::Silent)) => {
                drop(self);
                take_leave(sink, stream, close).await;
            }
            Err(Gone) => {}
        }
    }

    async fn read(&mut self, stream: &mut SplitStream<WebSocket>) -> Gone {
        let mut heard_at = Instant::now();
        // Nobody could say so far whether they may still be here.
        let mut doubt: Option<Instant> = None;
        loop {
            let ask_again = doubt.map_or_else(|| heard_at + LONGEST_SILENCE, |since| since + ASK_AGAIN);
            let message = tokio::select! {
                message = stream.next() => message,
                Ok(()) = self.endings.changed() => {
                    doubt = self.check_again().await;
                    continue;
                }
                () = tokio::time::sleep_until(ask_again), if doubt.is_some() => {
                    doubt = self.check_again().await;
                    continue;
                }
                () = tokio::time::sleep_until(heard_at + LONGEST_SILENCE) => {
                    self.client().close(Close::Silent);
                    std::future::pending().await
                }
            };
            match message {
                Some(Ok(Message::Text(text))) => self.act(text.into()).await,
                Some(Ok(Message::Binary(bytes))) => self.act(bytes).await,
                // What has to be said in return is said by the next read.
                Some(Ok(Message::Ping(payload) | Message::Pong(payload))) => self.intake.passed_over(payload.len()),
                Some(Ok(Message::Close(_))) => {}
                Some(Err(_)) | None => return Gone,
            }
            heard_at = Instant::now();
        }
    }

    async fn act(&self, message: Bytes) {
        dispatch::message(self, message).await;
        self.intake.done();
    }

    /// A store that cannot say so now has taken nobody's right away: then since when it is asked in vain.
    async fn check_again(&mut self) -> Option<Instant> {
        match gate::readmit(&self.hub, &self.caller).await {
            Ok(caller) => self.caller = caller,
            Err(Problem::Unavailable { .. }) => return Some(Instant::now()),
            Err(_) => self.client().close(Close::NotAllowed),
        }
        None
    }
}

async fn take_leave(mut sink: SplitSink<WebSocket, Message>, mut stream: SplitStream<WebSocket>, close: Close) {
    let frame = CloseFrame { code: close.code(), reason: close.reason().into() };
    let said = timeout(FAREWELL, sink.send(Message::Close(Some(frame)))).await;
    if matches!(said, Ok(Ok(()))) {
        // A connection cut before the other end has heard may take the last words with it.
        let _ = timeout(FAREWELL, async { while let Some(Ok(_)) = stream.next().await {} }).await;
    }
}

/// Until the connection is to be closed.
async fn write(client: &Client, sink: &mut SplitSink<WebSocket, Message>) -> Result<Close, Gone> {
    let mut ping_at = Instant::now() + PING_EVERY;
    loop {
        let is_due = Instant::now() >= ping_at;
        let message = if is_due { None } else { timeout_at(ping_at, client.next()).await.ok() };
        let message = match message {
            Some(Next::Send(text)) => Message::Text(text),
            Some(Next::Close(close)) => return Ok(close),
            None => {
                ping_at = Instant::now() + PING_EVERY;
                Message::Ping(Bytes::new())
            }
        };
        tokio::select! {
            sent = sink.send(message) => sent.map_err(|_| Gone)?,
            close = client.cut() => return Ok(close),
        }
    }
}

//! One connection from its upgrade to its end: one half reads and acts, the other writes what waits. Neither holds up the other.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use bytes::Bytes;
use countersign_protocol::runs::Reply;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{Sink, SinkExt, Stream, StreamExt};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::error::ProtocolError;

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
/// For one who does not read: they may come back to it.
const FAREWELL_TO_THE_SLOW: Duration = Duration::from_secs(30);
/// For one who sends what is no message: nothing more is read of it, and a connection cut at once would take the reason along.
const LINGER: Duration = Duration::from_secs(2);

pub struct Session {
    pub hub: Arc<Hub>,
    connected: Connected,
    pub caller: Caller,
    endings: watch::Receiver<()>,
    intake: Intake,
    _seat: Seat,
}

/// The other end is gone, or no longer to be understood.
enum Gone {
    Left,
    /// With the code that says why.
    Unreadable(u16, &'static str),
}

impl Session {
    pub fn new(
        hub: Arc<Hub>,
        connected: Connected,
        (caller, endings): (Caller, watch::Receiver<()>),
        counted: (Seat, Intake),
    ) -> Self {
        let (_seat, intake) = counted;
        Self {
            hub,
            connected,
            caller,
            endings,
            intake,
            _seat,
        }
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
            gone = self.read(&mut stream) => Err(gone),
        };
        match closed {
            // The hub waits for those who have to hear it.
            Ok(close @ Close::ShuttingDown) => take_leave(sink, stream, close).await,
            Ok(close @ (Close::TooSlow | Close::NotAllowed | Close::Silent)) => {
                drop(self);
                take_leave(sink, stream, close).await;
            }
            Err(Gone::Unreadable(code, reason)) => {
                drop(self);
                if say_goodbye(&mut sink, code, reason, FAREWELL).await {
                    sleep(LINGER).await;
                }
            }
            Err(Gone::Left) => {}
        }
    }

    async fn read(&mut self, stream: &mut SplitStream<WebSocket>) -> Gone {
        let mut heard_at = Instant::now();
        // Nobody could say so far whether they may still be here.
        let mut doubt: Option<Instant> = None;
        // And who ended a credential may not have lived to say so.
        let mut checked_at = Instant::now();
        loop {
            let ask_again = doubt.map_or_else(|| checked_at + PING_EVERY, |since| since + ASK_AGAIN);
            let message = tokio::select! {
                message = stream.next() => message,
                Ok(()) = self.endings.changed() => {
                    (doubt, checked_at) = (self.check_again().await, Instant::now());
                    continue;
                }
                () = tokio::time::sleep_until(ask_again), if doubt.is_some() || self.caller.token.is_some() => {
                    (doubt, checked_at) = (self.check_again().await, Instant::now());
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
                Some(Err(error)) => return unreadable(error),
                None => return Gone::Left,
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

/// A connection that broke has nobody to be told; one that sends what is no message is told which rule that was against.
fn unreadable(error: axum::Error) -> Gone {
    match error.into_inner().downcast_ref::<Error>() {
        Some(Error::Capacity(_)) => Gone::Unreadable(1009, "The message is too large"),
        Some(Error::Utf8(_)) => Gone::Unreadable(1007, "The text is not UTF-8"),
        Some(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => Gone::Left,
        Some(Error::Protocol(_)) => Gone::Unreadable(1002, "This is no frame of a WebSocket"),
        Some(_) | None => Gone::Left,
    }
}

async fn take_leave(
    mut sink: impl Sink<Message> + Unpin,
    mut stream: impl Stream<Item = Result<Message, axum::Error>> + Unpin,
    close: Close,
) {
    let patience = match close {
        Close::TooSlow => FAREWELL_TO_THE_SLOW,
        Close::ShuttingDown | Close::NotAllowed | Close::Silent => FAREWELL,
    };
    if say_goodbye(&mut sink, close.code(), close.reason(), patience).await {
        // A connection cut before the other end has heard may take the last words with it.
        let _ = timeout(FAREWELL, async { while let Some(Ok(_)) = stream.next().await {} }).await;
    }
}

/// Says whether it could be said.
async fn say_goodbye(sink: &mut (impl Sink<Message> + Unpin), code: u16, reason: &str, patience: Duration) -> bool {
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    matches!(
        timeout(patience, sink.send(Message::Close(Some(frame)))).await,
        Ok(Ok(()))
    )
}

/// Until the connection is to be closed.
async fn write(client: &Client, sink: &mut SplitSink<WebSocket, Message>) -> Result<Close, Gone> {
    let mut ping_at = Instant::now() + PING_EVERY;
    loop {
        let is_due = Instant::now() >= ping_at;
        let message = if is_due {
            None
        } else {
            timeout_at(ping_at, client.next()).await.ok()
        };
        let message = match message {
            Some(Next::Send(text)) => Message::Text(text),
            Some(Next::Close(close)) => return Ok(close),
            None => {
                ping_at = Instant::now() + PING_EVERY;
                Message::Ping(Bytes::new())
            }
        };
        tokio::select! {
            sent = sink.send(message) => sent.map_err(|_| Gone::Left)?,
            close = client.cut() => return Ok(close),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicU16, Ordering};

    use futures_util::{sink, stream};

    use super::*;

    /// The code that the other end hears, if it reads again after this time.
    async fn heard(close: Close, away: Duration) -> u16 {
        let code = AtomicU16::new(0);
        let reader = sink::unfold(&code, |code, message| async move {
            sleep(away).await;
            if let Message::Close(Some(frame)) = message {
                code.store(frame.code, Ordering::Relaxed);
            }
            Ok::<_, Infallible>(code)
        });
        take_leave(Box::pin(reader), stream::empty(), close).await;
        code.load(Ordering::Relaxed)
    }

    #[tokio::test(start_paused = true)]
    async fn who_read_too_slowly_is_told_so_when_they_come_back() {
        assert_eq!(heard(Close::TooSlow, Duration::from_secs(29)).await, 1013);
        assert_eq!(
            heard(Close::TooSlow, Duration::from_secs(31)).await,
            0,
            "nobody waits for ever"
        );
        assert_eq!(
            heard(Close::ShuttingDown, Duration::from_secs(6)).await,
            0,
            "a hub that stops does not wait as long"
        );
    }
}

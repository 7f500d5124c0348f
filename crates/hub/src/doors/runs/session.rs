//! One run socket from upgrade to close. One half reads and handles messages, the other writes queued ones; neither
//! blocks the other.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_protocol::runs::RunReply;
use countersign_runs::{ClientAction, Close, ConnectedClient, RefusalText, RunClient};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{Sink, SinkExt, Stream, StreamExt};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::dispatch;
use super::frame_splitter::{FrameSplitter, SocketBudget};
use super::gate::{self, SocketCaller};
use crate::Hub;
use crate::limits::connection_limit::ConnectionPermit;
use crate::problem::Problem;

const PING_INTERVAL: Duration = Duration::from_secs(30);
const MAX_SILENCE: Duration = Duration::from_secs(90);
const RECHECK_INTERVAL: Duration = Duration::from_secs(1);
/// For the closing handshake, in each direction.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Longer for a client that was too slow, because it may start to read again.
const SLOW_CLIENT_CLOSE_TIMEOUT: Duration = Duration::from_secs(30);
/// Delay before the connection of a client with invalid frames is dropped: dropped at once, the close reason could be
/// lost.
const DROP_DELAY: Duration = Duration::from_secs(2);

/// For one message over all its frames: the longest answer with every non-ASCII character escaped, plus the fields
/// around it.
const MAX_MESSAGE_BYTES: usize = (3 * 1024 + 64) * 1024;
/// Small, because the default of 128 KiB is held by every idle connection, and `FrameSplitter` has a buffer too.
const READ_BUFFER_BYTES: usize = 512;

type WebSocket = WebSocketStream<FrameSplitter<TokioIo<Upgraded>>>;

pub struct Session {
    pub hub: Arc<Hub>,
    connected: ConnectedClient,
    pub caller: SocketCaller,
    revocations: watch::Receiver<()>,
    budget: SocketBudget,
    _permit: ConnectionPermit,
}

/// Why reading ended.
enum Disconnect {
    Left,
    /// Invalid input, with the close code and reason.
    Unreadable(u16, &'static str),
}

impl Session {
    pub fn new(
        hub: Arc<Hub>,
        connected: ConnectedClient,
        (caller, revocations): (SocketCaller, watch::Receiver<()>),
        counted: (ConnectionPermit, SocketBudget),
    ) -> Self {
        let (_permit, budget) = counted;
        Self {
            hub,
            connected,
            caller,
            revocations,
            budget,
            _permit,
        }
    }

    pub fn client(&self) -> &Arc<RunClient> {
        &self.connected.client
    }

    pub fn reply(&self, reply: &RunReply, request_id: Option<&str>) {
        let text = reply.frame(self.hub.store.clock().now(), request_id);
        self.client().push(text.into(), false);
    }

    pub fn refuse(&self, RefusalText { code, message }: RefusalText, request_id: Option<&str>) {
        self.reply(&RunReply::error(code, message), request_id);
    }

    pub async fn serve(mut self, upgrade: OnUpgrade) {
        let Ok(upgraded) = upgrade.await else { return };
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .write_buffer_size(0)
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let frames = FrameSplitter::new(TokioIo::new(upgraded), self.budget.clone(), MAX_MESSAGE_BYTES);
        let socket = WebSocketStream::from_raw_socket(frames, Role::Server, Some(config)).await;
        let (mut sink, mut stream) = socket.split();
        let client = Arc::clone(self.client());
        let closed = tokio::select! {
            closed = write(&client, &mut sink) => closed,
            disconnect = self.read(&mut stream) => Err(disconnect),
        };
        match closed {
            // Keeps `self` until the close is sent, because the hub waits for its sessions at a stop.
            Ok(close @ Close::ShuttingDown) => close_connection(sink, stream, close).await,
            Ok(close @ (Close::TooSlow | Close::NotAllowed | Close::Silent)) => {
                drop(self);
                close_connection(sink, stream, close).await;
            }
            Err(Disconnect::Unreadable(code, reason)) => {
                drop(self);
                if send_close(&mut sink, code, reason, CLOSE_TIMEOUT).await {
                    sleep(DROP_DELAY).await;
                }
            }
            Err(Disconnect::Left) => {}
        }
    }

    async fn read(&mut self, stream: &mut SplitStream<WebSocket>) -> Disconnect {
        let mut last_received = Instant::now();
        // Set while the store cannot confirm the credential.
        let mut unverified_since: Option<Instant> = None;
        // Rechecked at intervals too, because a node may crash before publishing a revocation.
        let mut checked_at = Instant::now();
        loop {
            let recheck_at =
                unverified_since.map_or_else(|| checked_at + PING_INTERVAL, |since| since + RECHECK_INTERVAL);
            let message = tokio::select! {
                message = stream.next() => message,
                Ok(()) = self.revocations.changed() => {
                    (unverified_since, checked_at) = (self.recheck().await, Instant::now());
                    continue;
                }
                () = tokio::time::sleep_until(recheck_at), if unverified_since.is_some() || self.caller.token.is_some() => {
                    (unverified_since, checked_at) = (self.recheck().await, Instant::now());
                    continue;
                }
                () = tokio::time::sleep_until(last_received + MAX_SILENCE) => {
                    self.client().close(Close::Silent);
                    std::future::pending().await
                }
            };
            match message {
                Some(Ok(Message::Text(text))) => self.act(text.into()).await,
                Some(Ok(Message::Binary(bytes))) => self.act(bytes).await,
                // The next read sends the pong.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_))) => {}
                Some(Err(error)) => return disconnect_reason(&error),
                None => return Disconnect::Left,
            }
            last_received = Instant::now();
        }
    }

    async fn act(&self, message: Bytes) {
        dispatch::message(self, message).await;
        self.budget.message_done();
    }

    /// Checks the credential. While the store is unavailable the session stays open, and the time is returned.
    async fn recheck(&mut self) -> Option<Instant> {
        match gate::readmit(&self.hub, &self.caller).await {
            Ok(caller) => self.caller = caller,
            Err(Problem::Unavailable { .. }) => return Some(Instant::now()),
            Err(_) => self.client().close(Close::NotAllowed),
        }
        None
    }
}

/// A broken connection gets no close frame; a client with invalid input gets one with the reason.
fn disconnect_reason(error: &Error) -> Disconnect {
    match error {
        Error::Capacity(_) => Disconnect::Unreadable(1009, "The message is too large"),
        Error::Utf8(_) => Disconnect::Unreadable(1007, "The text is not UTF-8"),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Disconnect::Left,
        Error::Protocol(_) => Disconnect::Unreadable(1002, "Invalid WebSocket frame"),
        _ => Disconnect::Left,
    }
}

async fn close_connection(
    mut sink: impl Sink<Message> + Unpin,
    mut stream: impl Stream<Item = Result<Message, Error>> + Unpin,
    close: Close,
) {
    let close_timeout = match close {
        Close::TooSlow => SLOW_CLIENT_CLOSE_TIMEOUT,
        Close::ShuttingDown | Close::NotAllowed | Close::Silent => CLOSE_TIMEOUT,
    };
    if send_close(&mut sink, close.code(), close.reason(), close_timeout).await {
        // Waits for the peer, because dropping the connection first could lose the close frame.
        let _ = timeout(CLOSE_TIMEOUT, async { while let Some(Ok(_)) = stream.next().await {} }).await;
    }
}

/// Sends a close frame; returns whether it was sent.
async fn send_close(sink: &mut (impl Sink<Message> + Unpin), code: u16, reason: &str, close_timeout: Duration) -> bool {
    let frame = CloseFrame {
        code: code.into(),
        reason: reason.into(),
    };
    matches!(
        timeout(close_timeout, sink.send(Message::Close(Some(frame)))).await,
        Ok(Ok(()))
    )
}

/// Writes queued messages and pings until the connection has to close.
async fn write(client: &RunClient, sink: &mut SplitSink<WebSocket, Message>) -> Result<Close, Disconnect> {
    let mut ping_at = Instant::now() + PING_INTERVAL;
    loop {
        let is_due = Instant::now() >= ping_at;
        let message = if is_due {
            None
        } else {
            timeout_at(ping_at, client.next()).await.ok()
        };
        let message = match message {
            Some(ClientAction::Send(text)) => Message::Text(Utf8Bytes::from(&*text)),
            Some(ClientAction::Close(close)) => return Ok(close),
            None => {
                ping_at = Instant::now() + PING_INTERVAL;
                Message::Ping(Bytes::new())
            }
        };
        tokio::select! {
            sent = sink.send(message) => sent.map_err(|_| Disconnect::Left)?,
            close = client.aborted() => return Ok(close),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicU16, Ordering};

    use futures_util::{sink, stream};

    use super::*;

    /// The close code that a client gets if it reads again after this time.
    async fn close_code_after(close: Close, away: Duration) -> u16 {
        let code = AtomicU16::new(0);
        let reader = sink::unfold(&code, |code, message| async move {
            sleep(away).await;
            if let Message::Close(Some(frame)) = message {
                code.store(frame.code.into(), Ordering::Relaxed);
            }
            Ok::<_, Infallible>(code)
        });
        close_connection(Box::pin(reader), stream::empty(), close).await;
        code.load(Ordering::Relaxed)
    }

    #[tokio::test(start_paused = true)]
    async fn slow_client_gets_the_close_reason_when_it_reads_again() {
        assert_eq!(close_code_after(Close::TooSlow, Duration::from_secs(29)).await, 1013);
        assert_eq!(
            close_code_after(Close::TooSlow, Duration::from_secs(31)).await,
            0,
            "the wait is bounded"
        );
        assert_eq!(
            close_code_after(Close::ShuttingDown, Duration::from_secs(6)).await,
            0,
            "a stopping hub waits less"
        );
    }
}

//! The WebSocket for runs, opened with the same address, token and certificates as every other request.

use std::time::Duration;

use countersign_protocol::runs::ClientMessage;
use futures_util::{SinkExt, StreamExt};
use reqwest::header::{
    CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use reqwest::{Response, StatusCode, Upgraded};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::{ClientError, HubClient};

const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// The hub sends at least a ping every 30 seconds.
const IDLE_TIMEOUT: Duration = Duration::from_secs(75);
/// Far above the size of any event.
const MAX_FRAME_BYTES: usize = 64 * 1024 * 1024;

pub struct Socket(WebSocketStream<Upgraded>);

/// The connection closed, with the reason.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SocketClosed(pub String);

impl Socket {
    pub async fn open(client: &HubClient) -> Result<Self, ClientError> {
        let url = client.location().shown_url();
        let too_long = || ClientError::Unreachable(format!("the hub at {url} cannot be reached: it took too long"));
        timeout(OPEN_TIMEOUT, upgrade(client))
            .await
            .unwrap_or_else(|_| Err(too_long()))
    }

    pub async fn send(&mut self, message: &ClientMessage, request_id: &str) -> Result<(), SocketClosed> {
        let frame = Message::text(message.frame(Some(request_id)));
        match timeout(SEND_TIMEOUT, self.0.send(frame)).await {
            Ok(sent) => sent.map_err(|error| closed(&error)),
            Err(_) => Err(SocketClosed("the hub stopped reading from the connection".to_owned())),
        }
    }

    /// The next text message from the hub. Cancel-safe: dropping the future loses no message.
    pub async fn next(&mut self) -> Result<String, SocketClosed> {
        loop {
            let message = timeout(IDLE_TIMEOUT, self.0.next()).await;
            match message.map_err(|_| SocketClosed("the hub sent nothing for too long".to_owned()))? {
                Some(Ok(Message::Text(text))) => return Ok(text.to_string()),
                Some(Ok(Message::Close(frame))) => {
                    // The close reply is queued; the flush sends it, and the hub waits for it.
                    let _ = timeout(CLOSE_TIMEOUT, self.0.flush()).await;
                    let why = frame.map(|frame| format!(": {}", frame.reason)).unwrap_or_default();
                    return Err(SocketClosed(format!("the hub closed the connection{why}")));
                }
                None => return Err(SocketClosed("the hub closed the connection".to_owned())),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_))) => {}
                Some(Err(error)) => return Err(closed(&error)),
            }
        }
    }
}

fn closed(error: &Error) -> SocketClosed {
    match error {
        // The operating system's error text would not help the user here.
        Error::Io(_)
        | Error::ConnectionClosed
        | Error::AlreadyClosed
        | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
            SocketClosed("the connection to the hub ended".to_owned())
        }
        error => SocketClosed(format!("the connection to the hub ended: {error}")),
    }
}

async fn upgrade(client: &HubClient) -> Result<Socket, ClientError> {
    let location = client.location();
    let unreachable = |error: reqwest::Error| ClientError::unreachable(&error, location);
    let key = generate_key();
    // An HTTP/2 connection does not support this upgrade.
    let http = location.http().http1_only().build().map_err(unreachable)?;
    let request = http
        .get(client.url(&["ws"]))
        .bearer_auth(&location.token)
        .header(CONNECTION, HeaderValue::from_static("Upgrade"))
        .header(UPGRADE, HeaderValue::from_static("websocket"))
        .header(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"))
        .header(SEC_WEBSOCKET_KEY, &key);
    let response = request.send().await.map_err(unreachable)?;
    let status = response.status();
    if status != StatusCode::SWITCHING_PROTOCOLS {
        let body = response.bytes().await.map_err(unreachable)?;
        return Err(ClientError::refused(status, &body));
    }
    if !accepts(&response, &key) {
        return Err(ClientError::unexpected("its WebSocket handshake is invalid".to_owned()));
    }
    let stream = response.upgrade().await.map_err(unreachable)?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_FRAME_BYTES))
        .max_frame_size(Some(MAX_FRAME_BYTES));
    Ok(Socket(
        WebSocketStream::from_raw_socket(stream, Role::Client, Some(config)).await,
    ))
}

fn accepts(response: &Response, key: &str) -> bool {
    let accepted = response.headers().get(SEC_WEBSOCKET_ACCEPT);
    accepted.is_some_and(|accepted| accepted.as_bytes() == derive_accept_key(key.as_bytes()).as_bytes())
}

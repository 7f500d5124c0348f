use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::response::Response;

use super::serve::{Reply, Shared, commit};
use super::store::Writer;

/// Far more frames than a run keeps for replay.
const MAX_FRAMES: usize = 100_000;
const MAX_FRAME_BYTES: usize = 64 * 1024;

/// Replies to each message once the message is on disk.
pub async fn answers(State(Shared { writer, .. }): State<Shared>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(move |socket| answer(socket, writer))
}

/// Sends `frames` frames of `bytes` bytes for each message and stores nothing.
pub async fn bursts(Path((frames, bytes)): Path<(usize, usize)>, upgrade: WebSocketUpgrade) -> Response {
    let frames = frames.min(MAX_FRAMES);
    let bytes = bytes.min(MAX_FRAME_BYTES);
    upgrade.on_upgrade(move |socket| burst(socket, frames, bytes))
}

/// Ends with the connection, or at a message that is not JSON.
async fn answer(mut socket: WebSocket, writer: Writer) {
    while let Some(Ok(message)) = socket.recv().await {
        let Message::Text(text) = message else { continue };
        let Ok(id) = commit(&writer, text.into()).await else {
            return;
        };
        let reply = Reply { status: "answered", id }.text();
        if socket.send(Message::Text(reply.into())).await.is_err() {
            return;
        }
    }
}

async fn burst(mut socket: WebSocket, frames: usize, bytes: usize) {
    let frame = Message::Text(".".repeat(bytes).into());
    while let Some(Ok(message)) = socket.recv().await {
        let Message::Text(_) = message else { continue };
        for _ in 0..frames {
            if socket.send(frame.clone()).await.is_err() {
                return;
            }
        }
    }
}

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::response::Response;

use super::serve::{Reply, Shared, commit};
use super::store::Writer;

/// Much more than a run keeps.
const MAX_FRAMES: usize = 100_000;
const MAX_FRAME_BYTES: usize = 64 * 1024;

/// A reply to each message, once it is on disk.
pub async fn answers(State(Shared { writer, .. }): State<Shared>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(move |socket| answer(socket, writer))
}

/// So many frames of so many bytes for each message; nothing is stored.
pub async fn bursts(Path((frames, bytes)): Path<(usize, usize)>, upgrade: WebSocketUpgrade) -> Response {
    let frames = frames.min(MAX_FRAMES);
    let bytes = bytes.min(MAX_FRAME_BYTES);
    upgrade.on_upgrade(move |socket| burst(socket, frames, bytes))
}

/// Ends with the connection, or with a message that is no JSON.
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

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::extract::{Path as UrlPath, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use bytes::Bytes;
use http::{StatusCode, header};
use tokio::net::TcpListener;

use super::socket;
use super::store::Writer;
use super::waiters::Waiters;

/// The size of every reply, to the byte.
const REPLY_BYTES: usize = 200;
/// The limit of one long-poll, the same as in the hub.
const MAX_WAIT: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub struct Shared {
    pub writer: Writer,
    waiters: Waiters,
}

/// A reply of the ceiling; `status` is `open` or `answered`.
pub struct Reply {
    pub status: &'static str,
    pub id: i64,
}

/// Serves until the process is killed; prints its address as the first line.
pub async fn run(listen: SocketAddr, database: &Path) -> Result<()> {
    let listener = TcpListener::bind(listen).await?;
    println!("{}", listener.local_addr()?);
    serve(listener, database).await
}

pub async fn serve(listener: TcpListener, database: &Path) -> Result<()> {
    let shared = Shared {
        writer: Writer::open(database)?,
        waiters: Waiters::default(),
    };
    // Without TCP_NODELAY a reply on an HTTP/2 stream waits up to 40 ms for the ACK of the previous one.
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    Ok(axum::serve(listener, routes(shared)).await?)
}

fn routes(shared: Shared) -> Router {
    Router::new()
        .route("/health", get(|| async { StatusCode::OK }))
        .route("/echo", post(echo))
        .route("/submit", post(submit))
        .route("/wait/{name}", get(wait))
        .route("/wake/{name}", post(wake))
        .route("/ws", get(socket::answers))
        .route("/ws/{frames}/{bytes}", get(socket::bursts))
        .with_state(shared)
}

async fn echo(body: Bytes) -> Result<Reply, StatusCode> {
    parse(body)?;
    Ok(Reply { status: "open", id: 0 })
}

async fn submit(State(shared): State<Shared>, body: Bytes) -> Result<Reply, StatusCode> {
    let id = commit(&shared.writer, body).await?;
    Ok(Reply { status: "open", id })
}

async fn wait(State(shared): State<Shared>, UrlPath(name): UrlPath<String>) -> Reply {
    let Some(woken) = shared.waiters.register(name) else {
        return Reply {
            status: "answered",
            id: 0,
        };
    };
    let status = match tokio::time::timeout(MAX_WAIT, woken).await {
        Ok(Ok(())) => "answered",
        Ok(Err(_)) | Err(_) => "open",
    };
    Reply { status, id: 0 }
}

async fn wake(State(shared): State<Shared>, UrlPath(name): UrlPath<String>, body: Bytes) -> Result<Reply, StatusCode> {
    let id = commit(&shared.writer, body).await?;
    shared.waiters.wake(name);
    Ok(Reply { status: "answered", id })
}

pub async fn commit(writer: &Writer, body: Bytes) -> Result<i64, StatusCode> {
    writer
        .append(parse(body)?)
        .await
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

fn parse(body: Bytes) -> Result<String, StatusCode> {
    let value: serde_json::Value = serde_json::from_slice(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
    if !value.is_object() {
        return Err(StatusCode::BAD_REQUEST);
    }
    String::from_utf8(body.into()).map_err(|_| StatusCode::BAD_REQUEST)
}

impl Reply {
    pub fn text(&self) -> String {
        let head = format!(r#"{{"id":"{}","status":"{}","pad":""#, self.id, self.status);
        format!("{head:.<width$}\"}}", width = REPLY_BYTES - 2)
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.text()).into_response()
    }
}

use std::sync::Arc;

use anyhow::{Context, Result};
use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::scoreboard::{LongPolls, Scoreboard};
use crate::process::Target;

/// The default stream limit of the HTTP/2 library, which every server accepts. The hub allows ten times as many.
const STREAMS_PER_CONNECTION: usize = 200;

type Sender = SendRequest<Empty<Bytes>>;

/// Opens one HTTP/2 stream for each id, 200 per connection. Dropping the set closes the connections.
pub async fn wait_on_streams(target: Target, polls: &Arc<LongPolls>, board: &Arc<Scoreboard>) -> Result<JoinSet<()>> {
    let mut tasks = JoinSet::new();
    let all: Vec<usize> = (0..polls.ids.len()).collect();
    for indexes in all.chunks(STREAMS_PER_CONNECTION) {
        let sender = connect(target, &mut tasks).await?;
        for &index in indexes {
            let polls = Arc::clone(polls);
            let board = Arc::clone(board);
            let sender = sender.clone();
            tasks.spawn(async move {
                if let Err(error) = wait(index, &polls, &board, sender).await {
                    board.note_failure(error);
                }
            });
        }
    }
    Ok(tasks)
}

async fn connect(target: Target, tasks: &mut JoinSet<()>) -> Result<Sender> {
    let stream = TcpStream::connect(target.address).await?;
    stream.set_nodelay(true)?;
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.initial_max_send_streams(STREAMS_PER_CONNECTION);
    let (sender, connection) = builder
        .handshake(TokioIo::new(stream))
        .await
        .context("no HTTP/2 handshake")?;
    tasks.spawn(async move {
        // An error of the connection shows up on its streams.
        let _ = connection.await;
    });
    Ok(sender)
}

async fn wait(index: usize, polls: &LongPolls, board: &Scoreboard, mut sender: Sender) -> Result<()> {
    let mut noted = false;
    loop {
        let reply = sender.send_request(request(index, polls)?);
        if !std::mem::replace(&mut noted, true) {
            board.note_waiting();
        }
        let reply = reply.await.context("a stream was refused")?;
        let status = reply.status().as_u16();
        let body = reply.into_body().collect().await?.to_bytes();
        if board.record_reply(index, status, &body)? {
            return Ok(());
        }
    }
}

fn request(index: usize, polls: &LongPolls) -> Result<Request<Empty<Bytes>>> {
    let mut request = Request::get(format!("http://127.0.0.1{}", polls.path_of(index)));
    if let Some(token) = &polls.token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    Ok(request.body(Empty::new())?)
}

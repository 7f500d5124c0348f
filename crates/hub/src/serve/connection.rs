//! One connection, HTTP/1 or HTTP/2.
//!
//! hyper's builders are used directly: the automatic one keeps the state of both protocols, which doubles what an idle
//! waiter costs, and does not notice a client that connects and says nothing.

use std::pin::Pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::timeout;
use tower::util::MapRequest;

use super::prefixed::{Prefixed, Spoken};
use crate::auth::Peer;

const FIRST_BYTES: Duration = Duration::from_secs(10);
const REQUEST_HEAD: Duration = Duration::from_secs(75);
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_PATIENCE: Duration = Duration::from_secs(20);
const STREAMS_PER_CONNECTION: u32 = 2000;
const HEADER_BYTES: u32 = 16 * 1024;

/// Ends when the client goes away, or politely once the hub stops.
pub async fn serve<S>(stream: S, peer: Peer, router: Router, stopping: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Ok(Ok((stream, spoken))) = timeout(FIRST_BYTES, Prefixed::sniff(stream)).await else { return };
    let marked = MapRequest::new(router, move |request| peer.mark(request));
    let (io, service) = (TokioIo::new(stream), TowerToHyperService::new(marked));
    // Boxed, so that a connection takes the memory of the protocol it speaks and not of the larger one.
    match spoken {
        Spoken::Http1 => drive(Box::pin(http1().serve_connection(io, service)), stopping).await,
        Spoken::Http2 => drive(Box::pin(http2().serve_connection(io, service)), stopping).await,
    }
}

fn http1() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(REQUEST_HEAD);
    builder
}

fn http2() -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_PER_CONNECTION)
        .max_header_list_size(HEADER_BYTES)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_PATIENCE);
    builder
}

async fn drive(mut connection: Pin<Box<impl GracefulConnection>>, mut stopping: watch::Receiver<bool>) {
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopping.wait_for(|stop| *stop) => connection.as_mut().graceful_shutdown(),
    }
    drop(connection.await);
}

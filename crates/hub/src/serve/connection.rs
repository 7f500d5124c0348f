//! One connection, HTTP/1 or HTTP/2.
//!
//! hyper's builders are used directly: the automatic one keeps the state of both protocols, which doubles what an idle
//! waiter costs, and does not notice a client that connects and says nothing.

use std::time::Duration;

use axum::Router;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::timeout;

use super::prefixed::{Prefixed, Spoken};

const FIRST_BYTES: Duration = Duration::from_secs(10);
const REQUEST_HEAD: Duration = Duration::from_secs(75);
const STREAMS_PER_CONNECTION: u32 = 2000;
const HEADER_BYTES: u32 = 16 * 1024;

/// Ends when the client goes away, or politely once the hub stops.
pub async fn serve<S>(stream: S, router: Router, mut stopping: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Ok(Ok((stream, spoken))) = timeout(FIRST_BYTES, Prefixed::sniff(stream)).await else { return };
    let (io, service) = (TokioIo::new(stream), TowerToHyperService::new(router));
    let stopped = async move { drop(stopping.wait_for(|stop| *stop).await) };
    match spoken {
        Spoken::Http1 => {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(REQUEST_HEAD);
            let connection = builder.serve_connection(io, service);
            tokio::pin!(connection);
            tokio::select! {
                _ = connection.as_mut() => return,
                () = stopped => connection.as_mut().graceful_shutdown(),
            }
            drop(connection.await);
        }
        Spoken::Http2 => {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder
                .timer(TokioTimer::new())
                .max_concurrent_streams(STREAMS_PER_CONNECTION)
                .max_header_list_size(HEADER_BYTES)
                .keep_alive_interval(Duration::from_secs(30))
                .keep_alive_timeout(Duration::from_secs(20));
            let connection = builder.serve_connection(io, service);
            tokio::pin!(connection);
            tokio::select! {
                _ = connection.as_mut() => return,
                () = stopped => connection.as_mut().graceful_shutdown(),
            }
            drop(connection.await);
        }
    }
}

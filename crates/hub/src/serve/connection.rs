//! One connection, HTTP/1 or HTTP/2.
//!
//! hyper's builders are used directly: the automatic builder keeps the state of both protocols, which doubles the
//! memory of an idle long-poll, and has no time-out for a client that connects and sends nothing. WebSockets are HTTP/1
//! only.

use std::pin::Pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::timeout;
use tower::util::MapRequest;

use super::protocol_sniff::{HttpVersion, SniffedStream};
use super::write_timeout::WriteTimeout;
use crate::http::client_addr::Endpoints;

const FIRST_BYTES_TIMEOUT: Duration = Duration::from_secs(10);
const REQUEST_HEAD_TIMEOUT: Duration = Duration::from_secs(75);
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_STREAMS_PER_CONNECTION: u32 = 2000;
const MAX_HEADER_BYTES: u32 = 16 * 1024;

/// Serves until the client disconnects or stops reading; drains gracefully when the hub stops.
pub async fn serve<S>(stream: S, endpoints: Endpoints, router: Router, stopping: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let stream = WriteTimeout::new(stream);
    let Ok(Ok((stream, version))) = timeout(FIRST_BYTES_TIMEOUT, SniffedStream::sniff(stream)).await else {
        return;
    };
    let with_endpoints = MapRequest::new(router, move |request| endpoints.attach_to(request));
    let io = TokioIo::new(stream);
    let service = TowerToHyperService::new(with_endpoints);
    // Boxed, so that a connection has the size of its own protocol, not of the larger one.
    match version {
        HttpVersion::Http1 => {
            let connection = http1().serve_connection(io, service).with_upgrades();
            drive(Box::pin(connection), stopping, |connection| {
                connection.graceful_shutdown()
            })
            .await;
        }
        HttpVersion::Http2 => {
            let connection = http2().serve_connection(io, service);
            drive(Box::pin(connection), stopping, |connection| {
                connection.graceful_shutdown()
            })
            .await;
        }
    }
}

fn http1() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_HEAD_TIMEOUT);
    builder
}

fn http2() -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS_PER_CONNECTION)
        .max_header_list_size(MAX_HEADER_BYTES)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}

/// `end` starts the graceful shutdown. The one of hyper-util does not cover connections that may be upgraded.
async fn drive<C: Future>(
    mut connection: Pin<Box<C>>,
    mut stopping: watch::Receiver<bool>,
    end: impl FnOnce(Pin<&mut C>),
) {
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopping.wait_for(|stop| *stop) => end(connection.as_mut()),
    }
    drop(connection.await);
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::task::JoinHandle;

    use super::*;

    const LARGE_REPLY_BYTES: usize = 1024 * 1024;

    fn router() -> Router {
        let late = async || {
            tokio::time::sleep(Duration::from_secs(600)).await;
            "at last"
        };
        Router::new()
            .route("/large", get(async || "x".repeat(LARGE_REPLY_BYTES)))
            .route("/late", get(late))
    }

    /// A client that has sent a request, and the task that serves it.
    async fn send_request(path: &str) -> (DuplexStream, JoinHandle<()>) {
        let (mut client, stream) = duplex(4096);
        let (sender, stopping) = watch::channel(false);
        let served = tokio::spawn(async move {
            let loopback = ([127, 0, 0, 1], 7422).into();
            let endpoints = Endpoints {
                client: loopback,
                hub: loopback,
            };
            serve(stream, endpoints, router(), stopping).await;
            drop(sender);
        });
        let request = format!("GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        (client, served)
    }

    #[tokio::test(start_paused = true)]
    async fn client_that_reads_nothing_is_disconnected() {
        let (client, served) = send_request("/large").await;
        let cut = timeout(Duration::from_secs(61), served).await;
        assert!(cut.is_ok(), "the connection is still open");
        drop(client);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_reader_gets_the_whole_reply() {
        let (mut client, _served) = send_request("/large").await;
        let mut received = 0;
        let mut chunk = vec![0; 64 * 1024];
        loop {
            tokio::time::sleep(Duration::from_secs(50)).await;
            match client.read(&mut chunk).await.unwrap() {
                0 => break,
                read => received += read,
            }
        }
        assert!(received > LARGE_REPLY_BYTES, "{received}");
    }

    #[tokio::test(start_paused = true)]
    async fn late_reply_does_not_time_out() {
        let (mut client, _served) = send_request("/late").await;
        let mut reply = String::new();
        client.read_to_string(&mut reply).await.unwrap();
        assert!(reply.ends_with("at last"), "{reply}");
    }
}

//! Accepts connections, serves each as HTTP/1 or HTTP/2, and drains them at a stop.
//!
//! hyper's builders are used directly: the automatic builder keeps the state of both protocols, which doubles the
//! memory of an idle long-poll, and has no time-out for a client that connects and sends nothing. WebSockets are HTTP/1
//! only.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use countersign_config::{Config, TlsFiles};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::front::Front;
use super::stream::{BoundedStream, HttpVersion, RequestPhase};
use super::tls;
use crate::http::client_addr::Endpoints;

const MAX_CONNECTIONS: usize = 100_000;
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Without file descriptors, retrying at once would only burn CPU.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);
const FIRST_BYTES_TIMEOUT: Duration = Duration::from_secs(10);
/// Between two requests of one connection; longer than the minute for which proxies keep theirs.
const IDLE_TIMEOUT: Duration = Duration::from_secs(75);
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_STREAMS_PER_CONNECTION: u32 = 2000;
const MAX_HEADER_BYTES: u32 = 16 * 1024;
/// Bounds the head of a request, and the memory that an unknown client can make a connection hold: hyper's buffer grows
/// with the bytes that arrive.
const MAX_HTTP1_BUFFER_BYTES: usize = 32 * 1024;

pub struct Acceptor {
    tls: Option<TlsAcceptor>,
}

impl Acceptor {
    pub fn from_config(config: &Config) -> anyhow::Result<Self> {
        Ok(Self {
            tls: config.tls.as_ref().map(tls::acceptor).transpose()?,
        })
    }

    pub fn with_tls(files: &TlsFiles) -> anyhow::Result<Self> {
        Ok(Self {
            tls: Some(tls::acceptor(files)?),
        })
    }

    pub fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// Accepts until the hub stops, then waits up to `grace` for open connections.
    pub async fn serve(self, listener: TcpListener, front: Front, stopping: watch::Receiver<bool>, grace: Duration) {
        let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut stop = stopping.clone();
        loop {
            let accepted = tokio::select! {
                accepted = accept(&listener, &slots) => accepted,
                _ = stop.wait_for(|stop| *stop) => break,
            };
            let Some((stream, endpoints, slot)) = accepted else {
                continue;
            };
            let front = front.clone();
            let stopping = stopping.clone();
            match self.tls.clone() {
                None => tokio::spawn(serve_connection(stream, endpoints, front, stopping, slot)),
                Some(tls) => tokio::spawn(serve_tls(tls, stream, endpoints, front, stopping, slot)),
            };
        }
        drop(listener);
        let all_slots = u32::try_from(MAX_CONNECTIONS).unwrap_or(u32::MAX);
        if timeout(grace, slots.acquire_many(all_slots)).await.is_err() {
            tracing::warn!("closing connections that did not finish within the shutdown grace");
        }
    }
}

async fn serve_tls(
    tls: TlsAcceptor,
    stream: TcpStream,
    endpoints: Endpoints,
    front: Front,
    stopping: watch::Receiver<bool>,
    slot: OwnedSemaphorePermit,
) {
    if let Ok(Ok(stream)) = timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
        serve_connection(stream, endpoints, front, stopping, slot).await;
    }
}

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> Option<(TcpStream, Endpoints, OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, client)) => {
            // Small responses should not wait for a full packet.
            drop(stream.set_nodelay(true));
            // A client that has reset its connection already leaves no address.
            let hub = stream.local_addr().ok()?;
            Some((stream, Endpoints { client, hub }, slot))
        }
        Err(error) => {
            tracing::warn!(%error, "accepting a connection failed");
            tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            None
        }
    }
}

/// Serves until the client disconnects or stops reading; drains gracefully when the hub stops.
async fn serve_connection<S>(
    stream: S,
    endpoints: Endpoints,
    mut front: Front,
    stopping: watch::Receiver<bool>,
    _slot: OwnedSemaphorePermit,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let phase = RequestPhase::default();
    let sniffed = timeout(FIRST_BYTES_TIMEOUT, BoundedStream::sniff(stream, phase.clone())).await;
    let Ok(Ok((stream, version))) = sniffed else { return };
    let io = TokioIo::new(stream);
    front.is_from_proxy = front.proxies.contains(endpoints.client.ip());
    // Boxed, so that a connection has the size of its own protocol, not of the larger one.
    match version {
        HttpVersion::Http1 => {
            let service = service_fn(move |request| front.serve_http1(endpoints.attach_to(request), phase.clone()));
            let connection = http1().serve_connection(io, service).with_upgrades();
            drive(Box::pin(connection), stopping, |connection| {
                connection.graceful_shutdown()
            })
            .await;
        }
        HttpVersion::Http2 => {
            // Many requests share the connection, so it has no phases; pings find out whether the client is there.
            phase.advance();
            let service = service_fn(move |request| front.serve_http2(endpoints.attach_to(request)));
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
        .max_buf_size(MAX_HTTP1_BUFFER_BYTES)
        .header_read_timeout(IDLE_TIMEOUT);
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
    use axum::Router;
    use axum::routing::{get, post};
    use countersign_telemetry::metrics::{Durations, Metrics};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use tokio::task::JoinHandle;

    use super::*;
    use crate::http::host::AllowedHosts;
    use countersign_config::{Config, ConfigFile, Overrides};

    const LARGE_REPLY_BYTES: usize = 1024 * 1024;

    fn router() -> Router {
        let late = async || {
            tokio::time::sleep(Duration::from_secs(600)).await;
            "at last"
        };
        Router::new()
            .route("/large", get(async || "x".repeat(LARGE_REPLY_BYTES)))
            .route("/late", get(late))
            .route("/refuse", post(async || "refused"))
            .route("/take", post(async |body: String| body))
    }

    fn front() -> Front {
        let config = Config::resolve(ConfigFile::default(), Overrides::default()).unwrap();
        Front {
            router: router(),
            hosts: Arc::new(AllowedHosts::from_config(&config)),
            has_tls: false,
            metrics: Arc::new(Metrics::new(Durations::default())),
            proxies: Arc::default(),
            is_from_proxy: false,
        }
    }

    /// A client that has connected, and the task that serves it.
    fn connect() -> (DuplexStream, JoinHandle<()>) {
        let (client, stream) = duplex(4096);
        let (sender, stopping) = watch::channel(false);
        let served = tokio::spawn(async move {
            let loopback = ([127, 0, 0, 1], 7422).into();
            let endpoints = Endpoints {
                client: loopback,
                hub: loopback,
            };
            let slot = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
            serve_connection(stream, endpoints, front(), stopping, slot).await;
            drop(sender);
        });
        (client, served)
    }

    /// A client that has sent a request, and the task that serves it.
    async fn send_request(path: &str) -> (DuplexStream, JoinHandle<()>) {
        let (mut client, served) = connect();
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
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

    /// Posts a body of which `sent` is the beginning, and returns the head of the reply.
    async fn post_body(client: &mut DuplexStream, path: &str, length: usize, sent: &str) -> String {
        let request = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{sent}");
        client.write_all(request.as_bytes()).await.unwrap();
        let mut reply = Vec::new();
        while !reply.ends_with(b"\r\n\r\n") {
            reply.push(client.read_u8().await.unwrap());
        }
        let reply = String::from_utf8(reply).unwrap();
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
        reply
    }

    #[tokio::test(start_paused = true)]
    async fn slow_head_is_cut_after_thirty_seconds_in_all() {
        let (mut client, served) = connect();
        let begun = tokio::time::Instant::now();
        let head = "GET /late HTTP/1.1\r\nhost: localhost\r\nx-slow: "
            .bytes()
            .chain(std::iter::repeat(b'x'));
        for byte in head {
            tokio::time::sleep(Duration::from_secs(2)).await;
            if client.write_all(&[byte]).await.is_err() {
                break;
            }
        }
        served.await.unwrap();
        assert!((30..=34).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_head_is_cut_after_thirty_seconds() {
        let (mut client, served) = connect();
        client.write_all(b"GET /late HTTP/1.1\r\nhost:").await.unwrap();
        let begun = tokio::time::Instant::now();
        served.await.unwrap();
        assert_eq!(begun.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn idle_connection_and_slow_body_outlast_the_head_timeout() {
        let (mut client, _served) = connect();
        for _ in 0..3 {
            post_body(&mut client, "/refuse", 0, "").await;
            let mut reply = [0; 7];
            client.read_exact(&mut reply).await.unwrap();
            assert_eq!(&reply, b"refused");
            tokio::time::sleep(Duration::from_secs(70)).await;
        }
        let (mut reading, mut writing) = tokio::io::split(client);
        let head = b"POST /take HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 9\r\n\r\n";
        writing.write_all(head).await.unwrap();
        for byte in *b"slow body" {
            tokio::time::sleep(Duration::from_secs(20)).await;
            writing.write_all(&[byte]).await.unwrap();
        }
        let mut reply = String::new();
        reading.read_to_string(&mut reply).await.unwrap();
        assert!(reply.ends_with("slow body"), "{reply}");
    }

    #[tokio::test]
    async fn reply_before_the_body_announces_the_close() {
        let (mut client, served) = connect();
        let reply = post_body(&mut client, "/refuse", 1024 * 1024, "the beginning").await;
        assert!(reply.contains("connection: close"), "{reply}");
        drop(client);
        served.await.unwrap();
    }

    #[tokio::test]
    async fn small_unread_body_keeps_the_connection() {
        let (mut client, _served) = connect();
        for _ in 0..3 {
            let reply = post_body(&mut client, "/refuse", 13, "the whole one").await;
            assert!(!reply.contains("connection: close"), "{reply}");
            client.read_exact(&mut [0; 7]).await.unwrap();
        }
    }
}

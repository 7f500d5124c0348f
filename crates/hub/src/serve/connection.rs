//! One connection, HTTP/1 or HTTP/2.
//!
//! hyper's builders are used directly: the automatic one keeps the state of both protocols, which doubles what an idle
//! waiter costs, and does not notice a client that connects and says nothing. Sockets are HTTP/1 only.

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

use super::patient::Patient;
use super::prefixed::{Prefixed, Spoken};
use crate::auth::Peer;
use crate::intake::Intake;

const FIRST_BYTES: Duration = Duration::from_secs(10);
const REQUEST_HEAD: Duration = Duration::from_secs(75);
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_PATIENCE: Duration = Duration::from_secs(20);
const STREAMS_PER_CONNECTION: u32 = 2000;
const HEADER_BYTES: u32 = 16 * 1024;

/// Ends when the client goes away or takes nothing of what it asked for, or politely once the hub stops.
pub async fn serve<S>(stream: S, peer: Peer, router: Router, stopping: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let intake = Intake::default();
    let patient = Patient::new(stream, intake.clone());
    let Ok(Ok((stream, spoken))) = timeout(FIRST_BYTES, Prefixed::sniff(patient)).await else {
        return;
    };
    let marked = MapRequest::new(router, move |request| intake.mark(peer.mark(request)));
    let io = TokioIo::new(stream);
    let service = TowerToHyperService::new(marked);
    // Boxed, so that a connection takes the memory of the protocol it speaks and not of the larger one.
    match spoken {
        Spoken::Http1 => {
            let connection = http1().serve_connection(io, service).with_upgrades();
            drive(Box::pin(connection), stopping, |connection| {
                connection.graceful_shutdown()
            })
            .await;
        }
        Spoken::Http2 => {
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

/// `end` asks for a polite end. hyper-util knows how for all connections but those that may become sockets.
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

    const LARGE: usize = 1024 * 1024;

    fn router() -> Router {
        let late = async || {
            tokio::time::sleep(Duration::from_secs(600)).await;
            "at last"
        };
        Router::new()
            .route("/large", get(async || "x".repeat(LARGE)))
            .route("/late", get(late))
    }

    /// A client that has asked for something, and the connection that serves it.
    async fn asked(path: &str) -> (DuplexStream, JoinHandle<()>) {
        let (mut client, stream) = duplex(4096);
        let (sender, stopping) = watch::channel(false);
        let served = tokio::spawn(async move {
            serve(stream, Peer([127, 0, 0, 1].into()), router(), stopping).await;
            drop(sender);
        });
        let request = format!("GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        (client, served)
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_nothing_of_a_reply_is_cut_off() {
        let (client, served) = asked("/large").await;
        let cut = timeout(Duration::from_secs(61), served).await;
        assert!(cut.is_ok(), "the connection is still there");
        drop(client);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_it_slowly_gets_all_of_it() {
        let (mut client, _served) = asked("/large").await;
        let mut taken = 0;
        let mut piece = vec![0; 64 * 1024];
        loop {
            tokio::time::sleep(Duration::from_secs(50)).await;
            match client.read(&mut piece).await.unwrap() {
                0 => break,
                read => taken += read,
            }
        }
        assert!(taken > LARGE, "{taken}");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_for_a_late_reply_is_not_cut_off() {
        let (mut client, _served) = asked("/late").await;
        let mut reply = String::new();
        client.read_to_string(&mut reply).await.unwrap();
        assert!(reply.ends_with("at last"), "{reply}");
    }
}

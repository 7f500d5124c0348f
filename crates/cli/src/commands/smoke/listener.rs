//! The test's own callback: accepts the hub's pushes, and answers the first with an error.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use countersign_agent::MAX_PUSH_BYTES;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::fresh_name;
use super::plan::SmokePlan;
use crate::commands::skill::host_of;

const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(10);
/// More deliveries than the hub makes during the test.
const MAX_QUEUED_DELIVERIES: usize = 16;

pub struct CallbackListener {
    /// The exact URL given to the hub.
    pub url: String,
    deliveries: mpsc::Receiver<ReceivedPush>,
    serving: JoinHandle<()>,
}

pub struct ReceivedPush {
    pub headers: HeaderMap,
    pub body: Bytes,
}

struct ListenerState {
    /// A random path, so that only the hub can push here.
    path: String,
    taken: AtomicUsize,
    sender: mpsc::Sender<ReceivedPush>,
}

impl CallbackListener {
    pub async fn open(plan: &SmokePlan) -> Result<Self> {
        let address = plan.listen.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}"))?;
        let base = match &plan.callback {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => format!("http://{}", listener.local_addr()?),
        };
        let name = fresh_name();
        let (sender, deliveries) = mpsc::channel(MAX_QUEUED_DELIVERIES);
        let state = Arc::new(ListenerState {
            path: format!("/{name}"),
            taken: AtomicUsize::new(0),
            sender,
        });
        Ok(Self {
            url: format!("{base}/{name}"),
            deliveries,
            serving: tokio::spawn(serve(listener, state)),
        })
    }

    /// The host as the owner approves it.
    pub fn host(&self) -> Result<String> {
        host_of(&self.url)
    }

    pub async fn next(&mut self) -> Option<ReceivedPush> {
        self.deliveries.recv().await
    }
}

impl Drop for CallbackListener {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, state: Arc<ListenerState>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(stream, Arc::clone(&state)));
    }
}

async fn converse(stream: TcpStream, state: Arc<ListenerState>) {
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        async move {
            let mut response = Response::new(Empty::<Bytes>::new());
            *response.status_mut() = take(&state, request).await;
            Ok::<_, Infallible>(response)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_READ_TIMEOUT);
    // The hub retries a broken connection.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

/// A proxy may add a prefix to the path.
async fn take(state: &ListenerState, request: Request<Incoming>) -> StatusCode {
    if request.method() != Method::POST || !request.uri().path().ends_with(&state.path) {
        return StatusCode::NOT_FOUND;
    }
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_PUSH_BYTES).collect().await else {
        return StatusCode::BAD_REQUEST;
    };
    let delivery = ReceivedPush {
        headers: head.headers,
        body: body.to_bytes(),
    };
    if state.sender.try_send(delivery).is_err() {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    match state.taken.fetch_add(1, Ordering::Relaxed) {
        0 => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    }
}

//! The front of the router: what holds for every request of a connection, before its route and after its reply.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::future::RouteFuture;
use bytes::Bytes;
use countersign_config::TrustedProxies;
use countersign_telemetry::metrics::Metrics;
use countersign_telemetry::request::{self as telemetry, HEADER};
use futures_util::FutureExt;
use futures_util::future::lazy;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::timeout;
use tower::Service;

use super::stream::RequestPhase;
use crate::http::host::{AllowedHosts, is_loopback_name};
use crate::problem::Problem;

/// A year. Without `includeSubDomains`: other hosts below this name are not the hub's.
const STRICT_TRANSPORT: HeaderValue = HeaderValue::from_static("max-age=31536000");
const CLOSE: HeaderValue = HeaderValue::from_static("close");
/// A rest of this size is read and discarded, to keep the connection.
const MAX_DISCARDED_BYTES: usize = 64 * 1024;
/// Enough for a rest that has arrived already; the reply waits no longer for one that has not.
const DISCARD_TIMEOUT: Duration = Duration::from_millis(50);

#[derive(Clone)]
pub struct Front {
    pub router: Router,
    pub hosts: Arc<AllowedHosts>,
    /// The hub itself speaks TLS.
    pub has_tls: bool,
    pub metrics: Arc<Metrics>,
    pub proxies: Arc<TrustedProxies>,
    /// The connection comes from a trusted proxy, whose request ids are taken over.
    pub is_from_proxy: bool,
}

impl Front {
    /// The request is handed on before the future is made, so that a waiting one does not hold it too.
    pub fn serve_http1(
        &self,
        request: Request<Incoming>,
        phase: RequestPhase,
    ) -> impl Future<Output = Result<Response<axum::body::Body>, Infallible>> + use<> {
        phase.advance();
        let unread = (!request.body().is_end_stream()).then(|| UnreadBody::of(&request));
        let left = unread.as_ref().map(|unread| Arc::clone(&unread.left));
        let mut reply = self.reply(request.map(|body| TrackedBody { body: Some(body), left }));
        async move {
            // By reference, so that the future is not moved into this one a second time.
            let mut response = (&mut reply).await;
            if let Some(unread) = unread
                && unread.remains().await
            {
                response.headers_mut().insert(header::CONNECTION, CLOSE);
            }
            // A WebSocket has no further requests.
            if response.status() != StatusCode::SWITCHING_PROTOCOLS {
                phase.advance();
            }
            Ok(response)
        }
    }

    pub fn serve_http2(
        &self,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<axum::body::Body>, Infallible>> + use<> {
        self.reply(request).map(Ok)
    }

    fn reply<B>(&self, request: Request<B>) -> Reply
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let given_id = request.headers().get(HEADER).filter(|_| self.is_from_proxy);
        let checked = self.hosts.check(&request);
        Reply {
            request: telemetry::Request::begin(&self.metrics, request.method(), given_id),
            is_strict: self.has_tls && checked.is_ok() && !is_local(&request),
            // A router is always ready, so it can be called at once.
            routed: match checked {
                Ok(()) => Ok(self.router.clone().call(request)),
                Err(problem) => Err(Some(problem)),
            },
        }
    }
}

/// The future of a reply. Written by hand, so that it holds the future of its route once.
struct Reply {
    request: telemetry::Request,
    is_strict: bool,
    /// The reply of the route, or a refusal until it is sent.
    routed: Result<RouteFuture<Infallible>, Option<Problem>>,
}

impl Future for Reply {
    type Output = Response<axum::body::Body>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { request, routed, .. } = &mut *self;
        let mut response = match routed {
            Ok(routed) => match ready!(request.poll(routed, cx)) {
                Ok(response) => response,
            },
            // As a part of the request, so that its body has the id.
            Err(refusal) => {
                let refusal = refusal.take();
                let mut rendered = lazy(|_| refusal.map_or_else(Response::default, Problem::into_response));
                ready!(request.poll(&mut rendered, cx))
            }
        };
        let id = request.end(response.status(), response.body().size_hint().exact());
        let headers = response.headers_mut();
        if let Some(id) = id {
            headers.insert(HEADER, id);
        }
        if self.is_strict {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT);
        }
        Poll::Ready(response)
    }
}

/// Browsers apply strict transport to all ports of a name, and on this machine other ports belong to other programs.
fn is_local<B>(request: &Request<B>) -> bool {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = request.uri().authority().map(|authority| authority.as_str());
    authority.or(host).is_none_or(is_loopback_name)
}

/// The body of a request, given back here when its handler drops it before the end. HTTP/1 can go on with the next
/// request only after the whole body, so a reply that comes before has to announce that the connection ends
/// (`connection: close`).
struct UnreadBody<B> {
    left: Slot<B>,
    /// The client sends the body only when the hub asks for it.
    is_on_demand: bool,
}

type Slot<B> = Arc<Mutex<Option<B>>>;

impl<B: Body<Data = Bytes> + Unpin> UnreadBody<B> {
    fn of(request: &Request<B>) -> Self {
        Self {
            left: Slot::default(),
            is_on_demand: request.headers().contains_key(header::EXPECT),
        }
    }

    /// Whether bytes of the body are still to come.
    async fn remains(self) -> bool {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner).take();
        match left {
            None => false,
            Some(_) if self.is_on_demand => true,
            Some(body) => !timeout(DISCARD_TIMEOUT, is_discarded(body)).await.unwrap_or(false),
        }
    }
}

/// Reads up to `MAX_DISCARDED_BYTES`. Returns whether that was all.
async fn is_discarded<B: Body<Data = Bytes> + Unpin>(mut body: B) -> bool {
    let mut discarded = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        discarded += frame.data_ref().map_or(0, Bytes::len);
        if discarded > MAX_DISCARDED_BYTES {
            return false;
        }
    }
    true
}

struct TrackedBody<B: Body> {
    /// Present until dropped.
    body: Option<B>,
    /// `None` for a request without a body.
    left: Option<Slot<B>>,
}

impl<B: Body> Drop for TrackedBody<B> {
    fn drop(&mut self) {
        if let (Some(body), Some(left)) = (self.body.take(), &self.left)
            && !body.is_end_stream()
        {
            *left.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}

impl<B: Body + Unpin> Body for TrackedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let frame = Pin::new(body).poll_frame(cx);
        // A chunked body tells its end only here, not by `is_end_stream`.
        if matches!(frame, Poll::Ready(None)) {
            self.left = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten thousand long-polls hold as many of these.
    #[test]
    fn waiting_reply_takes_little_more_than_its_route() {
        let added = size_of::<Reply>() - size_of::<RouteFuture<Infallible>>();
        assert!(added <= 64, "{added} bytes");
    }
}

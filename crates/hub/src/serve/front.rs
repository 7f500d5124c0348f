//! The front of the router: what holds for every request of a connection, before its route and after its reply.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use tower::ServiceExt;

use super::head_timeout::RequestPhase;
use super::unread_body::UnreadBody;
use crate::http::host::{AllowedHosts, is_loopback_name};

/// A year. Without `includeSubDomains`: other hosts below this name are not the hub's.
const STRICT_TRANSPORT: HeaderValue = HeaderValue::from_static("max-age=31536000");
const CLOSE: HeaderValue = HeaderValue::from_static("close");

#[derive(Clone)]
pub struct Front {
    pub router: Router,
    pub hosts: Arc<AllowedHosts>,
    /// The hub itself speaks TLS.
    pub has_tls: bool,
}

impl Front {
    pub async fn serve_http1(
        self,
        request: Request<Incoming>,
        phase: RequestPhase,
    ) -> Result<Response<Body>, Infallible> {
        phase.advance();
        let (request, unread) = UnreadBody::track(request);
        let mut response = self.reply(request).await;
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

    pub async fn serve_http2(self, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        Ok(self.reply(request).await)
    }

    async fn reply<B>(self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        if let Err(problem) = self.hosts.check(&request) {
            return problem.into_response();
        }
        let is_strict = self.has_tls && !is_local(&request);
        let Ok(mut response) = self.router.oneshot(request).await;
        if is_strict {
            response
                .headers_mut()
                .insert(header::STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT);
        }
        response
    }
}

/// Browsers apply strict transport to all ports of a name, and on this machine other ports belong to other programs.
fn is_local<B>(request: &Request<B>) -> bool {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = request.uri().authority().map(|authority| authority.as_str());
    authority.or(host).is_none_or(is_loopback_name)
}

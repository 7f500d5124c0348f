//! Notes the route of a request for the access log and the metrics.

use std::task::{Context, Poll};

use axum::extract::{MatchedPath, Request};
use axum::handler::Handler;
use countersign_telemetry::request::set_route;
use tower::{Layer, Service};

/// A handler that notes its route. It adds nothing to the future of the reply, which matters to waiting long-polls.
#[derive(Clone)]
pub struct Named<H> {
    pub route: &'static str,
    pub handler: H,
}

impl<H: Handler<T, S>, T, S> Handler<T, S> for Named<H> {
    type Future = H::Future;

    fn call(self, request: Request, state: S) -> H::Future {
        set_route(self.route);
        self.handler.call(request, state)
    }
}

/// The same for all routes of a router at once, at the price of a box around each future: for pages, where nothing
/// waits.
#[derive(Clone, Copy)]
pub struct NoteRoute;

impl<S> Layer<S> for NoteRoute {
    type Service = NotedRoute<S>;

    fn layer(&self, inner: S) -> NotedRoute<S> {
        NotedRoute(inner)
    }
}

#[derive(Clone)]
pub struct NotedRoute<S>(S);

impl<S: Service<Request>> Service<Request> for NotedRoute<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> S::Future {
        if let Some(path) = request.extensions().get::<MatchedPath>() {
            set_route(path.as_str().to_owned());
        }
        self.0.call(request)
    }
}

use std::future::{pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

use super::*;
use crate::metrics::{Durations, Scrape};

fn begin(metrics: &Arc<Metrics>, given: Option<&'static str>) -> Request {
    let given = given.map(HeaderValue::from_static);
    Request::begin(metrics, &Method::POST, given.as_ref())
}

fn metrics() -> Arc<Metrics> {
    Arc::new(Metrics::new(Durations::default()))
}

fn poll<F: Future + Unpin>(request: &mut Request, mut future: F) -> Poll<F::Output> {
    request.poll(&mut future, &mut Context::from_waker(Waker::noop()))
}

#[test]
fn id_is_known_only_while_the_request_is_polled() {
    let metrics = metrics();
    let mut first = begin(&metrics, Some("first"));
    let mut second = begin(&metrics, Some("second"));
    let current = || poll_fn(|_| Poll::Ready(current_id().map(|id| id.to_string())));
    assert_eq!(poll(&mut first, current()), Poll::Ready(Some("first".to_owned())));
    assert_eq!(current_id(), None);
    assert_eq!(poll(&mut second, current()), Poll::Ready(Some("second".to_owned())));
    assert_eq!(poll(&mut first, current()), Poll::Ready(Some("first".to_owned())));
    assert!(poll(&mut first, Box::pin(pending::<()>())).is_pending());
    assert_eq!(current_id(), None);
}

#[test]
fn error_has_the_id_of_its_request() {
    let mut request = begin(&metrics(), None);
    let Poll::Ready(inside) = poll(&mut request, poll_fn(|_| Poll::Ready(error_id()))) else {
        panic!("not ready");
    };
    assert_eq!(
        request.end(StatusCode::SERVICE_UNAVAILABLE, None).unwrap(),
        inside.to_string()
    );
    assert_ne!(error_id(), error_id(), "new outside of a request");
}

#[test]
fn panic_leaves_no_id_behind() {
    let mut request = begin(&metrics(), Some("panics"));
    let polled = AssertUnwindSafe(|| poll(&mut request, poll_fn(|_| -> Poll<()> { panic!("on purpose") })));
    assert!(catch_unwind(polled).is_err());
    assert_eq!(current_id(), None);
    assert_eq!(request.end(StatusCode::OK, None).unwrap(), "panics");
}

#[test]
fn given_id_that_is_no_id_is_replaced() {
    let mut request = begin(&metrics(), Some("two words"));
    let header = request.end(StatusCode::OK, None).unwrap();
    assert_eq!(header.len(), 36, "{header:?}");
}

#[test]
fn duration_is_counted_by_method_route_and_status_class() {
    let metrics = metrics();
    let mut routed = begin(&metrics, None);
    assert!(
        poll(
            &mut routed,
            poll_fn(|_| {
                set_route("/v1/messages/{id}");
                Poll::Ready(())
            })
        )
        .is_ready()
    );
    routed.end(StatusCode::CREATED, Some(7));
    let mut unrouted = begin(&metrics, None);
    assert!(poll(&mut unrouted, ready(())).is_ready());
    unrouted.end(StatusCode::NOT_FOUND, None);
    drop(begin(&metrics, None));
    let text = metrics.render(Scrape::default()).unwrap();
    for count in [
        r#"countersign_http_request_duration_seconds_count{method="POST",route="/v1/messages/{id}",status="2xx"} 1"#,
        r#"countersign_http_request_duration_seconds_count{method="POST",route="none",status="4xx"} 1"#,
    ] {
        assert!(text.contains(count), "{text}");
    }
    assert_eq!(text.matches("request_duration_seconds_count").count(), 2, "{text}");
}

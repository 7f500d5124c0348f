//! The layer in front of a web service.

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use axum::routing::post;
use axum::{Extension, Router};
use countersign_agent::{Claim, Journal, ReceiverLayer, Verified, Verifier};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::scratch::Scratch;
use crate::signed::{KEY, NOW, T, URL, hmac, response};

/// A minimal receiver: begin the action, work, finish.
async fn act(journal: Journal, verified: Verified, body: Bytes) -> (StatusCode, String) {
    let (message, resolution) = verified.resolved.act_key();
    match journal.begin(message, resolution).unwrap() {
        Claim::Go(reservation) => {
            journal.finish(reservation, true).unwrap();
            (StatusCode::OK, format!("acted on {} bytes", body.len()))
        }
        Claim::AlreadyDone { .. } => (StatusCode::OK, "duplicate".to_owned()),
        Claim::Interrupted | Claim::UnderWay | Claim::Other => (StatusCode::CONFLICT, String::new()),
    }
}

fn service(journal: &Journal) -> Router {
    let behind = journal.clone();
    let before = journal.clone();
    let handler = move |Extension(verified): Extension<Verified>, body: Bytes| act(behind.clone(), verified, body);
    let layer = ReceiverLayer::new(Verifier::new(URL).hmac_key(KEY), before, || NOW);
    Router::new().route("/resume", post(handler)).layer(layer)
}

async fn send(service: &Router, headers: &HeaderMap, body: impl Into<Body>) -> (StatusCode, String) {
    let mut request = Request::post("/resume").body(body.into()).unwrap();
    *request.headers_mut() = headers.clone();
    let response: Response = service.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn code(body: &str) -> String {
    let body: Value = body.parse().unwrap();
    assert!(!body["error"]["message"].as_str().unwrap().is_empty());
    body["error"]["code"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_repeated_push_is_acted_on_once() {
    let scratch = Scratch::new();
    let journal = Journal::open(&scratch.file("journal.db")).unwrap();
    let service = service(&journal);
    let response = response("a2h_version", "0.3");
    let headers = hmac(&response, T, "jti_1", &[KEY]);
    let body = response.to_string();
    let first = send(&service, &headers, body.clone()).await;
    assert_eq!(first, (StatusCode::OK, format!("acted on {} bytes", body.len())));
    let replayed = send(&service, &headers, body.clone()).await;
    assert_eq!(replayed, (StatusCode::OK, r#"{"status":"duplicate"}"#.to_owned()));
    let retried = send(&service, &hmac(&response, T, "jti_2", &[KEY]), body).await;
    assert_eq!(retried, (StatusCode::OK, "duplicate".to_owned()));
    assert_eq!(journal.actions(9).unwrap().len(), 1);
}

#[tokio::test]
async fn a_replayed_push_without_an_action_is_refused_until_it_is_signed_again() {
    let scratch = Scratch::new();
    let journal = Journal::open(&scratch.file("journal.db")).unwrap();
    let service = service(&journal);
    let response = response("a2h_version", "0.3");
    assert!(journal.see_jti("jti_1", NOW).unwrap());
    let (status, body) = send(&service, &hmac(&response, T, "jti_1", &[KEY]), response.to_string()).await;
    assert_eq!(
        (status, code(&body).as_str()),
        (StatusCode::UNAUTHORIZED, "replayed_jti")
    );
    let (status, _) = send(&service, &hmac(&response, T, "jti_2", &[KEY]), response.to_string()).await;
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test]
async fn a_refused_push_does_not_reach_the_service_or_the_journal() {
    let scratch = Scratch::new();
    let journal = Journal::open(&scratch.file("journal.db")).unwrap();
    let service = service(&journal);
    let honest = response("a2h_version", "0.3");
    let headers = hmac(&honest, T, "jti_1", &[KEY]);
    let mut changed = honest.clone();
    changed["response"]["value"] = json!("deny");
    let late = hmac(&honest, T - 121, "jti_1", &[KEY]);
    let cases = [
        (&HeaderMap::new(), honest.to_string(), 401, "no_signature"),
        (&headers, changed.to_string(), 401, "wrong_signature"),
        (&late, honest.to_string(), 401, "outside_window"),
        (&headers, "{}".to_owned(), 400, "bad_body"),
        (&headers, " ".repeat(1024 * 1024 + 1), 413, "too_large"),
    ];
    for (headers, body, status, reason) in cases {
        let (found, body) = send(&service, headers, body).await;
        assert_eq!((found.as_u16(), code(&body).as_str()), (status, reason));
    }
    assert!(journal.actions(9).unwrap().is_empty());
    let (status, _) = send(&service, &headers, honest.to_string()).await;
    assert_eq!(
        status,
        StatusCode::OK,
        "a forgery must not use up the jti of the genuine push"
    );
}

#[tokio::test]
async fn an_unsigned_answer_does_not_reach_the_service() {
    let scratch = Scratch::new();
    let journal = Journal::open(&scratch.file("journal.db")).unwrap();
    let service = service(&journal);
    let response = response("a2h_version", "0.2");
    let (status, body) = send(&service, &hmac(&response, T, "jti_1", &[KEY]), response.to_string()).await;
    assert_eq!(
        (status, code(&body).as_str()),
        (StatusCode::UNAUTHORIZED, "answer_not_signed")
    );
}

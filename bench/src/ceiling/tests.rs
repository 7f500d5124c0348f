use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpListener;

use super::serve::serve;
use crate::load::{
    Connection, LongPolls, PLACEHOLDER, Pace, Scoreboard, Slots, Template, WebSocket, Window, Work, answer, measure,
    render, wait_on_sockets, wait_on_streams,
};
use crate::process::{Scratch, Target};

const WAITERS: usize = 60;
const TIMEOUT: Duration = Duration::from_secs(10);

/// A ceiling inside the test process, on a directory that is removed with it.
async fn start() -> (Target, Scratch) {
    let scratch = Scratch::new(&std::env::temp_dir(), "ceiling-test").expect("a directory");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let database = scratch.path().join("test.db");
    tokio::spawn(async move { serve(listener, &database).await });
    (
        Target {
            address,
            pid: std::process::id(),
        },
        scratch,
    )
}

fn polls() -> Arc<LongPolls> {
    let names = Slots::keys(WAITERS as u64);
    Arc::new(LongPolls {
        wait_path: format!("/wait/{PLACEHOLDER}"),
        token: None,
        answer: Template::new(render("POST", &format!("/wake/{PLACEHOLDER}"), None, Some("{}"))),
        ids: std::iter::from_fn(|| names.next()).collect(),
    })
}

#[tokio::test]
async fn a_submit_is_numbered_and_the_reply_is_200_bytes_long() {
    let (target, _scratch) = start().await;
    let mut connection = Connection::open(target.address).await.expect("a connection");
    for number in 1..=2 {
        let reply = connection
            .exchange(&render("POST", "/submit", None, Some("{}")))
            .await
            .expect("a reply");
        assert_eq!((reply.status, reply.body.len()), (200, 200));
        let body: serde_json::Value = serde_json::from_slice(reply.body).expect("JSON");
        assert_eq!(body["id"], json!(number.to_string()));
    }
    let reply = connection
        .exchange(&render("POST", "/submit", None, Some("not JSON")))
        .await
        .expect("a reply");
    assert_eq!(reply.status, 400);
}

#[tokio::test]
async fn a_message_on_a_socket_is_numbered_like_a_submit() {
    let (target, _scratch) = start().await;
    let mut socket = WebSocket::open(target.address, "/ws").await.expect("a socket");
    for number in 1..=2 {
        socket.send("{}").await.expect("sent");
        let reply = socket.next().await.expect("a reply");
        let body: serde_json::Value = serde_json::from_str(&reply).expect("JSON");
        assert_eq!((reply.len(), &body["id"]), (200, &json!(number.to_string())));
    }
    socket.send("not JSON").await.expect("sent");
    assert!(socket.next().await.is_err(), "the socket is closed");
}

#[tokio::test]
async fn a_burst_has_the_frames_it_was_asked_for() {
    let (target, _scratch) = start().await;
    let mut socket = WebSocket::open(target.address, "/ws/3/70").await.expect("a socket");
    for _ in 0..2 {
        socket.send("{}").await.expect("sent");
        for _ in 0..3 {
            assert_eq!(socket.next().await.expect("a frame").len(), 70);
        }
    }
}

#[tokio::test]
async fn the_closed_loop_sends_exactly_the_work_it_was_given() {
    let (target, _scratch) = start().await;
    let submit = Template::new(render("POST", "/submit", None, Some("{}")));
    let window = Window {
        warm_up: Duration::ZERO,
        length: TIMEOUT,
    };
    let sample = measure(target, 8, Work::new(submit, Slots::keys(400), 200), window)
        .await
        .expect("a sample");
    assert!(
        sample.latency.count() <= 400 && sample.latency.count() > 390,
        "{}",
        sample.latency.count()
    );
    let next = Connection::call(target.address, "POST", "/submit", None, Some(json!({})))
        .await
        .expect("a reply");
    assert_eq!(next.1["id"], "401");
}

#[tokio::test]
async fn an_unexpected_status_fails_the_measurement() {
    let (target, _scratch) = start().await;
    let missing = Template::new(render("GET", "/nowhere", None, None));
    let window = Window {
        warm_up: Duration::ZERO,
        length: TIMEOUT,
    };
    let outcome = measure(target, 2, Work::new(missing, Slots::keys(4), 200), window).await;
    assert!(outcome.is_err());
}

#[tokio::test]
async fn every_waiter_is_woken_on_sockets_and_on_streams() {
    let (target, _scratch) = start().await;
    let pace = Pace {
        answers: WAITERS,
        per_second: 1000,
    };
    for streams in [false, true] {
        let polls = polls();
        let board = Arc::new(Scoreboard::new(WAITERS));
        let _waiters = match streams {
            false => wait_on_sockets(target, &polls, &board),
            true => wait_on_streams(target, &polls, &board).await.expect("streams"),
        };
        board.until_waiting(WAITERS, TIMEOUT).await.expect("all wait");
        answer(target, &polls, &board, pace).await.expect("all answered");
        board.until_arrived(WAITERS, TIMEOUT).await.expect("all arrived");
        assert_eq!(board.latency.count(), WAITERS as u64);
    }
}

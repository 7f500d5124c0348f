use std::collections::BTreeSet;
use std::time::Duration;

use countersign_core::delivery::DeliveryState;
use countersign_store::ops::node::LeaveNode;

use crate::receiver::{Act, Receiver};
use crate::stage::{CallbackRequest, Stage, counted, settings};

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_hangs_does_not_delay_another() {
    let stage = Stage::new().await;
    let slow = Receiver::start().await;
    let good = Receiver::start().await;
    slow.otherwise(Act::Hang);
    let outbox = stage.outbox(settings()).await;
    for _ in 0..12 {
        stage.oblige(&slow.url()).await;
        outbox.wake(&slow.host());
    }
    slow.until("the slow one is busy", |seen| seen.pushes.len() == 4).await;
    for _ in 0..20 {
        stage.oblige(&good.url()).await;
        outbox.wake(&good.host());
    }
    good.pushes(20).await;
    counted(&outbox, "all good ones", |counts| counts.delivered == 20).await;
    assert_eq!(slow.seen().pushes.len(), 4, "no more at once than a host may have");
    outbox.stop(Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_body_is_cut_and_its_status_counts() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    receiver.script(&[Act::Endless, Act::Stall]);
    stage.oblige(&receiver.url()).await;
    stage.oblige(&receiver.url()).await;
    let outbox = stage.outbox(settings()).await;
    counted(&outbox, "both delivered", |counts| counts.delivered == 2).await;
    receiver
        .until("the endless one is cut off", |seen| seen.cut_off == 1)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_carries_many_pushes() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    for _ in 0..50 {
        stage.oblige(&receiver.url()).await;
    }
    let outbox = stage.outbox(settings()).await;
    counted(&outbox, "all delivered", |counts| counts.delivered == 50).await;
    let seen = receiver.seen();
    assert_eq!(seen.pushes.len(), 50);
    assert!(
        seen.connections <= 8,
        "{} connections for four pushes at a time",
        seen.connections
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_wake_up_is_lost_when_a_worker_is_about_to_end() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    let outbox = stage.outbox(settings()).await;
    for nth in 1..=300 {
        stage.oblige(&receiver.url()).await;
        outbox.wake(&receiver.host());
        // The push has arrived but is not settled yet, so the worker ends at about the time of the next wake-up.
        receiver.pushes(nth).await;
    }
    counted(&outbox, "all delivered", |counts| counts.delivered == 300).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_finishes_the_attempt_and_starts_no_other() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    let outbox = stage.outbox(settings()).await;
    let first = stage.oblige(&receiver.url()).await;
    outbox.wake(&receiver.host());
    receiver.pushes(1).await;
    outbox.stop(Duration::from_secs(20)).await;
    assert_eq!(
        stage.delivery(&first).await.state,
        DeliveryState::Delivered,
        "settled before the stop returned"
    );
    let second = stage.oblige(&receiver.url()).await;
    outbox.wake(&receiver.host());
    let successor = stage.outbox(settings()).await;
    counted(&successor, "met by the successor", |counts| counts.delivered == 1).await;
    assert_eq!(stage.delivery(&second).await.state, DeliveryState::Delivered);
    assert_eq!(outbox.counts().delivered, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_delivery_is_repeated_after_a_restart() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    receiver.otherwise(Act::Hang);
    let mut ids = vec![];
    for _ in 0..10 {
        ids.push(stage.oblige(&receiver.url()).await);
    }
    let outbox = stage.outbox(settings()).await;
    receiver.until("the lane is full", |seen| seen.pushes.len() == 4).await;
    outbox.stop(Duration::ZERO).await;
    for id in &ids {
        let delivery = stage.delivery(id).await;
        assert_eq!(
            (delivery.state, delivery.attempts),
            (DeliveryState::Pending, 0),
            "a cut attempt does not count"
        );
    }
    receiver.otherwise(Act::Status(200));
    stage.store.run(LeaveNode { id: stage.store.node() }).await.unwrap();
    let successor = stage.outbox(settings()).await;
    counted(&successor, "all met", |counts| counts.delivered == 10).await;
    let pushes = receiver.seen().pushes;
    let found: BTreeSet<String> = pushes
        .iter()
        .map(|push| push.json()["in_reply_to"].to_string())
        .collect();
    assert_eq!((pushes.len(), found.len()), (14, 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_committed_before_the_start_needs_no_wake_up() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    let id = stage
        .oblige_as(
            &receiver.url(),
            CallbackRequest {
                state: Some("{\"k\":1.0}"),
                ..CallbackRequest::default()
            },
        )
        .await;
    let outbox = stage.outbox(settings()).await;
    counted(&outbox, "delivered", |counts| counts.delivered == 1).await;
    let push = receiver.pushes(1).await.remove(0);
    assert_eq!(push.header("content-type"), "application/json");
    assert!(
        String::from_utf8_lossy(&push.body).contains("\"state\":{\"k\":1.0}"),
        "the state in its own spelling"
    );
    assert_eq!(push.json()["in_reply_to"], id.as_str());
}

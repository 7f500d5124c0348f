use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use countersign_config::PushSettings;
use countersign_core::delivery::{DeliveryState, Schedule};
use countersign_protocol::a2h::SignatureHeader;
use countersign_protocol::time::Timestamp;
use countersign_store::clock::{Clock, ManualClock};
use countersign_store::model::SignatureAlg;
use countersign_store::ops::deliver::RetryDelivery;

use crate::receiver::{Act, Receiver};
use crate::stage::{Stage, counted, settings};

#[tokio::test(flavor = "multi_thread")]
async fn every_attempt_has_its_own_timestamp_and_jti_and_the_same_resolution() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_780_588_110_000)));
    let stage = Stage::with(clock.clone(), SignatureAlg::HmacSha256).await;
    let receiver = Receiver::start().await;
    receiver.script(&[Act::Status(500), Act::HangUp, Act::Status(503), Act::Status(204)]);
    let schedule = Schedule {
        first_retry: Duration::from_secs(5),
        ..settings().schedule
    };
    let outbox = stage.outbox(PushSettings { schedule, ..settings() }).await;
    let id = stage.oblige(&receiver.url()).await;
    outbox.wake(&receiver.host());
    for failed in 1..=3 {
        counted(&outbox, "put off", |counts| counts.retried == failed).await;
        let delivery = stage.delivery(&id).await;
        let next = delivery.next_attempt_at.unwrap();
        let delay = next.since(clock.now()).as_millis();
        let due = 5000 << (failed - 1);
        assert!(
            (due * 8 / 10..=due * 12 / 10).contains(&delay),
            "attempt {failed} is followed after {delay} ms"
        );
        clock.set(next);
        outbox.wake(&receiver.host());
    }
    counted(&outbox, "delivered", |counts| counts.delivered == 1).await;
    let pushes = receiver.seen().pushes;
    assert_eq!(pushes.len(), 4);
    let headers = pushes
        .iter()
        .map(|push| SignatureHeader::parse(push.header("a2h-signature")).unwrap());
    let (instants, jtis): (BTreeSet<i64>, BTreeSet<String>) = headers.map(|header| (header.t, header.jti)).unzip();
    assert_eq!((instants.len(), jtis.len()), (4, 4));
    let resolutions: BTreeSet<&str> = pushes.iter().map(|push| push.header("webhook-id")).collect();
    assert_eq!(resolutions.len(), 1);
    assert!(
        pushes
            .iter()
            .all(|push| push.body == pushes[0].body && push.json()["resolution_id"] == *resolutions.first().unwrap())
    );
    assert_eq!(stage.delivery(&id).await.attempts, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_does_not_wait_for_a_clock_that_was_set_back() {
    let right = Timestamp::from_millis(1_780_588_110_000);
    let wrong = right.plus(Duration::from_secs(40 * 24 * 3600));
    let clock = Arc::new(ManualClock::at(wrong));
    let stage = Stage::with(clock.clone(), SignatureAlg::HmacSha256).await;
    let receiver = Receiver::start().await;
    receiver.script(&[Act::Status(503), Act::Status(204)]);
    let schedule = Schedule {
        first_retry: Duration::from_secs(5),
        ..settings().schedule
    };
    let settings = PushSettings { schedule, ..settings() };
    let id = stage.oblige(&receiver.url()).await;
    let outbox = stage.outbox(settings).await;
    counted(&outbox, "put off", |counts| counts.retried == 1).await;
    outbox.stop(Duration::from_secs(20)).await;
    clock.set(right);
    let outbox = stage.outbox(settings).await;
    counted(&outbox, "delivered", |counts| counts.delivered == 1).await;
    assert_eq!(stage.delivery(&id).await.state, DeliveryState::Delivered);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_error_is_final() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    receiver.script(&[Act::Status(400), Act::Status(404), Act::Status(408), Act::Status(429)]);
    let mut ids = vec![];
    for _ in 0..4 {
        ids.push(stage.oblige(&receiver.url()).await);
    }
    let outbox = stage.outbox(settings()).await;
    counted(&outbox, "all refused", |counts| counts.refused == 4).await;
    for id in &ids {
        let delivery = stage.delivery(id).await;
        assert_eq!(
            (delivery.state, delivery.attempts),
            (DeliveryState::Failed, 1),
            "{delivery:?}"
        );
    }
    assert_eq!(receiver.seen().pushes.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_always_fails_is_given_up_and_can_be_retried_by_hand() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    receiver.otherwise(Act::Status(500));
    let id = stage.oblige(&receiver.url()).await;
    let outbox = stage.outbox(settings()).await;
    let counts = counted(&outbox, "given up", |counts| counts.failed == 1).await;
    assert_eq!((counts.retried, counts.delivered, counts.refused), (4, 0, 0));
    let delivery = stage.delivery(&id).await;
    assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Failed, 5));
    assert!(delivery.last_error.unwrap().contains("answered 500"));
    assert_eq!(receiver.seen().pushes.len(), 5);

    receiver.otherwise(Act::Status(200));
    let retry = RetryDelivery {
        message_id: id.clone(),
        actor: "human:owner".to_owned(),
    };
    let host = stage.store.run(retry).await.unwrap().unwrap();
    outbox.wake(&host);
    counted(&outbox, "delivered", |counts| counts.delivered == 1).await;
    assert_eq!(stage.delivery(&id).await.attempts, 1, "a new round counts anew");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_port_and_a_timeout_are_retried_and_reported_separately() {
    let stage = Stage::new().await;
    let hanging = Receiver::start().await;
    hanging.otherwise(Act::Hang);
    let closed_port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let refused = stage
        .oblige(&format!("http://127.0.0.1:{closed_port}/resume?token=MARK"))
        .await;
    let late = stage.oblige(&hanging.url()).await;
    let outbox = stage
        .outbox(PushSettings {
            attempt_timeout: Duration::from_millis(200),
            ..settings()
        })
        .await;
    counted(&outbox, "both given up", |counts| counts.failed == 2).await;
    for (id, reason) in [(refused, "connection refused"), (late, "no answer in time")] {
        let error = stage.delivery(&id).await.last_error.unwrap();
        assert!(error.contains(reason) && !error.contains("MARK"), "{error}");
    }
    assert_eq!(hanging.seen().pushes.len(), 5);
}

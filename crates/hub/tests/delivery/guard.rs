use std::sync::Arc;
use std::time::Duration;

use countersign_config::PushSettings;
use countersign_core::delivery::DeliveryState;
use countersign_store::ops::admin::callbacks::RemoveHost;

use crate::names::Names;
use crate::receiver::{Act, Receiver};
use crate::stage::{CallbackRequest, Stage, counted, host_of, settings};

/// An unassigned global unicast address: it passes the guard and cannot be reached.
const UNREACHABLE: &str = "3000::1";

fn closed() -> PushSettings {
    PushSettings {
        allow_loopback: false,
        attempt_timeout: Duration::from_secs(5),
        ..settings()
    }
}

const THIS_MACHINE: [&str; 17] = [
    "127.0.0.1",
    "127.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "0x7F.0.0.0x1",
    "127.0.0.1.",
    "0.0.0.0",
    "0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:0001]",
];

const INSIDE: [&str; 25] = [
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "169.254.1.1",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "198.18.0.1",
    "192.0.2.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::ffff:10.0.0.1]",
    "[::10.0.0.1]",
    "[fd00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
];

#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_a_forbidden_address_is_contacted() {
    let stage = Stage::new().await;
    let trap = Receiver::start().await;
    let mut ids = vec![];
    for host in THIS_MACHINE.iter().chain(&INSIDE) {
        for scheme in ["http", "https"] {
            ids.push(stage.oblige(&format!("{scheme}://{host}:{}/inside", trap.port)).await);
        }
    }
    let outbox = stage.outbox(closed()).await;
    counted(&outbox, "all refused", |counts| counts.refused == ids.len() as u64).await;
    for id in &ids {
        let delivery = stage.delivery(id).await;
        assert_eq!(
            (delivery.state, delivery.attempts),
            (DeliveryState::Failed, 1),
            "{delivery:?}"
        );
    }
    assert_eq!(trap.seen().connections, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_development_switch_opens_loopback_and_nothing_else() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    for host in INSIDE {
        stage.oblige(&format!("https://{host}:{}/inside", receiver.port)).await;
        stage.oblige(&format!("http://{host}:{}/inside", receiver.port)).await;
    }
    stage
        .oblige(&format!("http://hooks.example:{}/plain", receiver.port))
        .await;
    let good = stage.oblige(&receiver.url()).await;
    let named = stage.oblige(&format!("http://localhost:{}/", receiver.port)).await;
    let names = Arc::new(Names::answering("localhost", &[&["127.0.0.1"]]));
    let outbox = stage.outbox_with(settings(), names).await;
    let refused = 2 * INSIDE.len() as u64 + 1;
    counted(&outbox, "all settled", |counts| {
        counts.refused == refused && counts.delivered == 2
    })
    .await;
    for id in [good, named] {
        assert_eq!(stage.delivery(&id).await.state, DeliveryState::Delivered);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dns_rebinding_never_reaches_internal_addresses() {
    let stage = Stage::new().await;
    let trap = Receiver::start().await;
    let names = Arc::new(Names::answering("rebind.test", &[&[UNREACHABLE], &["127.0.0.1"]]));
    let id = stage.oblige(&format!("https://rebind.test:{}/", trap.port)).await;
    let outbox = stage.outbox_with(closed(), names.clone()).await;
    let counts = counted(&outbox, "refused at the second answer", |counts| counts.refused == 1).await;
    assert_eq!(counts.retried, 1, "the first answer was tried");
    assert_eq!(
        names.asked(),
        2,
        "one question for each attempt: what was checked is what was dialled"
    );
    let delivery = stage.delivery(&id).await;
    assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Failed, 2));
    assert!(delivery.last_error.unwrap().contains("loopback"));
    assert_eq!(trap.seen().connections, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_forbidden_address_blocks_the_whole_name() {
    for (answer, asked) in [
        (vec![UNREACHABLE, "127.0.0.1"], "loopback"),
        (vec!["10.0.0.1", UNREACHABLE], "private"),
        (vec![UNREACHABLE, "::ffff:127.0.0.1"], "loopback"),
        (vec!["fd00::1"], "unique local"),
        (vec!["169.254.169.254"], "metadata"),
    ] {
        let stage = Stage::new().await;
        let trap = Receiver::start().await;
        let id = stage.oblige(&format!("https://mixed.test:{}/", trap.port)).await;
        let names = Arc::new(Names::answering("mixed.test", &[&answer]));
        let outbox = stage.outbox_with(closed(), names).await;
        counted(&outbox, "refused", |counts| counts.refused == 1).await;
        let delivery = stage.delivery(&id).await;
        assert_eq!(delivery.attempts, 1);
        assert!(delivery.last_error.unwrap().contains(asked), "{answer:?}");
        assert_eq!(trap.seen().connections, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_checked_addresses_are_dialled() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    let id = stage.oblige(&format!("https://open.test:{}/", receiver.port)).await;
    let names = Arc::new(Names::answering("open.test", &[&["127.0.0.1"]]));
    let outbox = stage
        .outbox_with(
            PushSettings {
                attempt_timeout: Duration::from_secs(1),
                ..settings()
            },
            names,
        )
        .await;
    receiver.until("a connection", |seen| seen.connections >= 1).await;
    counted(&outbox, "no TLS there", |counts| counts.retried >= 1).await;
    assert!(
        receiver.seen().pushes.is_empty(),
        "nothing is said before the certificate is checked"
    );
    outbox.stop(Duration::ZERO).await;
    assert_ne!(stage.delivery(&id).await.state, DeliveryState::Delivered);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_name_is_retried() {
    let stage = Stage::new().await;
    let id = stage.oblige("https://unknown.test/resume").await;
    let outbox = stage.outbox_with(closed(), Arc::new(Names::default())).await;
    counted(&outbox, "exhausted", |counts| counts.failed == 1 && counts.retried == 4).await;
    let error = stage.delivery(&id).await.last_error.unwrap();
    assert!(error.contains("does not resolve"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_is_not_followed() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    let elsewhere = Receiver::start().await;
    stage.approve(&elsewhere.host()).await;
    receiver.script(&[
        Act::Redirect(elsewhere.url()),
        Act::Redirect("http://169.254.169.254/latest".to_owned()),
    ]);
    let first = stage.oblige(&receiver.url()).await;
    let second = stage.oblige(&receiver.url()).await;
    let outbox = stage.outbox(settings()).await;
    counted(&outbox, "both refused", |counts| counts.refused == 2).await;
    for id in [first, second] {
        let delivery = stage.delivery(&id).await;
        assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Failed, 1));
        assert!(delivery.last_error.unwrap().contains("307"));
    }
    assert_eq!(elsewhere.seen().connections, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_withdrawn_or_for_another_host_sends_nothing() {
    let stage = Stage::new().await;
    let receiver = Receiver::start().await;
    let host = host_of(&receiver.url());
    let wish = CallbackRequest::default();
    let withdrawn = stage.submit(&receiver.url(), &host, &wish).await;
    stage.resolve(withdrawn).await;
    let agent_id = "bot".to_owned();
    let actor = "human:owner".to_owned();
    stage.store.run(RemoveHost { agent_id, host, actor }).await.unwrap();
    stage.approve("hooks.example:443").await;
    let another = stage.submit(&receiver.url(), "hooks.example:443", &wish).await;
    stage.resolve(another).await;
    let outbox = stage.outbox(settings()).await;
    counted(&outbox, "both refused", |counts| counts.refused == 2).await;
    assert_eq!(receiver.seen().connections, 0);
}

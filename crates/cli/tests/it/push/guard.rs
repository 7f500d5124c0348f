use serde_json::json;

use super::stage;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_host_whose_approval_was_withdrawn_is_not_contacted() {
    let (hub, receiver, bot) = stage().await;
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/withdrawn"))).await;
    let binding = json!({"agent_id": "bot", "host": receiver.host()});
    hub.owner.post("/v1/admin/callbacks/remove", &binding).await.expect(200);
    hub.owner.answer(&id, "approve").await.expect(200);
    let delivery = hub.delivery(&id, "failed").await;
    assert!(delivery["last_error"].is_string(), "{delivery}");
    assert!(receiver.seen().is_empty());
    assert_eq!(
        bot.pull(&id).await["status"],
        "answered",
        "the answer remains to be pulled"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn loopback_is_not_contacted_without_the_development_switch() {
    let hub = Setup::default()
        .config("[push]\nfirst_retry_ms = 1\nmax_attempts = 5\n")
        .start()
        .await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    let port = receiver.port();
    let mut accepted = vec![];
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "localhost",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::]",
    ] {
        // The hub may refuse such a host at approval, submit or delivery; only a request to the receiver is wrong.
        let binding = json!({"agent_id": "bot", "host": format!("{host}:{port}")});
        hub.owner.post("/v1/admin/callbacks/approve", &binding).await;
        for scheme in ["http", "https"] {
            let envelope = push_to(ask("bot"), &format!("{scheme}://{host}:{port}/inside"));
            let reply = bot.submit(&envelope).await;
            if reply.status == 202 {
                accepted.push(reply.json()["id"].as_str().unwrap().to_owned());
            }
        }
    }
    for id in &accepted {
        hub.owner.answer(id, "approve").await.expect(200);
        hub.delivery(id, "failed").await;
    }
    assert!(receiver.seen().is_empty(), "{:?}", receiver.seen());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_development_switch_opens_loopback_and_nothing_more() {
    let hub = Setup::pushing().start().await;
    let bot = hub.agent("bot").await;
    for host in [
        "169.254.169.254",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "100.64.0.1",
        "[fe80::1]",
        "[fd00::1]",
    ] {
        let binding = json!({"agent_id": "bot", "host": host});
        hub.owner.post("/v1/admin/callbacks/approve", &binding).await;
        let reply = bot
            .submit(&push_to(ask("bot"), &format!("https://{host}/latest")))
            .await;
        if reply.status == 202 {
            let id = reply.json()["id"].as_str().unwrap().to_owned();
            hub.owner.answer(&id, "approve").await.expect(200);
            let delivery = hub.delivery(&id, "failed").await;
            assert_eq!(delivery["attempts"], 1, "a forbidden address is final: {delivery}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn proxy_variables_do_not_redirect_a_push() {
    let proxy = Receiver::start().await;
    let receiver = Receiver::start().await;
    let mut setup = Setup::pushing();
    for name in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "all_proxy",
    ] {
        setup = setup.env(name, &proxy.url(""));
    }
    let hub = setup.start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/straight"))).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    receiver.at("/straight", 1).await;
    assert!(proxy.seen().is_empty());
}

use std::collections::BTreeSet;

use serde_json::json;

use super::stage;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_push_is_retried_with_a_fresh_signature_and_the_same_resolution() {
    let (hub, receiver, bot) = stage().await;
    let url = receiver.url("/flaky");
    receiver.script(
        "/flaky",
        &[
            PushReply::Status(500),
            PushReply::HangUp,
            PushReply::Status(503),
            PushReply::Status(200),
        ],
    );
    let id = bot.accepted(&push_to(ask("bot"), &url)).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let pushes = receiver.at("/flaky", 4).await;
    let signatures: Vec<Signed> = pushes.iter().map(|push| signed(push, "a2h", &url)).collect();
    assert!(signatures.iter().all(|signed| signed.holds(&bot.signing_key)));
    let jtis: BTreeSet<&str> = signatures.iter().map(|signed| signed.jti.as_str()).collect();
    assert_eq!(jtis.len(), 4, "a jti of its own for each attempt");
    let resolutions: BTreeSet<String> = pushes.iter().map(Push::resolution_id).collect();
    assert_eq!(resolutions.len(), 1);
    assert!(
        pushes.iter().all(|push| push.body == pushes[0].body),
        "the same body each time"
    );
    let delivery = hub.delivery(&id, "delivered").await;
    assert_eq!(delivery["attempts"], 4, "{delivery}");
    assert_eq!(receiver.seen().len(), 4, "and then it is over");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_error_or_a_redirect_is_final() {
    let (hub, receiver, bot) = stage().await;
    let elsewhere = Receiver::start().await;
    hub.approve(&bot, &elsewhere.host()).await;
    let finals = [
        PushReply::Status(404),
        PushReply::Status(400),
        PushReply::Status(410),
        PushReply::Status(429),
        PushReply::Redirect(elsewhere.url("/stolen")),
        PushReply::Redirect(receiver.url("/stolen")),
    ];
    for (nth, act) in finals.into_iter().enumerate() {
        let path = format!("/final/{nth}");
        receiver.script(&path, std::slice::from_ref(&act));
        let id = bot.accepted(&push_to(ask("bot"), &receiver.url(&path))).await;
        hub.owner.answer(&id, "approve").await.expect(200);
        receiver.at(&path, 1).await;
        let delivery = hub.delivery(&id, "failed").await;
        assert_eq!(delivery["attempts"], 1, "{act:?}: {delivery}");
        assert!(
            delivery["last_error"].as_str().is_some_and(|text| !text.is_empty()),
            "{delivery}"
        );
        assert_eq!(delivery["agent_id"], "bot");
        assert_eq!(
            bot.pull(&id).await["status"],
            "answered",
            "the answer remains to be pulled"
        );
    }
    assert!(elsewhere.seen().is_empty(), "a redirect is not followed");
    assert!(receiver.seen().iter().all(|push| push.path != "/stolen"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_receiver_is_given_up_after_the_advertised_attempts() {
    let config = "[push]\nfirst_retry_ms = 1\nmax_attempts = 6\n";
    let hub = Setup::default()
        .args(&["--allow-loopback-callbacks"])
        .config(config)
        .start()
        .await;
    let receiver = Receiver::start().await;
    receiver.default_reply(PushReply::Status(500));
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    let capability = hub.anonymous().get("/.well-known/a2h").await.expect(200);
    assert_eq!(capability["callback_retry"]["max_attempts"], 6);
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/down"))).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let delivery = hub.delivery(&id, "failed").await;
    assert_eq!(delivery["attempts"], 6, "{delivery}");
    assert_eq!(receiver.seen().len(), 6);
    let item = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
    assert_eq!(item["delivery"]["state"], "failed", "{item}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_delivery_can_be_retried() {
    let (hub, receiver, bot) = stage().await;
    receiver.script("/again", &[PushReply::Status(404)]);
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/again"))).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    hub.delivery(&id, "failed").await;
    let retried = hub
        .owner
        .post("/v1/admin/deliveries/retry", &json!({"id": id}))
        .await
        .expect(200);
    assert_eq!(retried, json!({"message_id": id, "state": "pending"}));
    let pushes = receiver.at("/again", 2).await;
    assert_eq!(pushes[0].resolution_id(), pushes[1].resolution_id());
    hub.delivery(&id, "delivered").await;
    let unknown = json!({"id": "msg_00000000000000000000000000"});
    hub.owner
        .post("/v1/admin/deliveries/retry", &unknown)
        .await
        .refused("not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_or_endless_receiver_does_not_delay_others() {
    let config = "[push]\nfirst_retry_ms = 20\nattempt_timeout_ms = 60000\nper_host_concurrency = 4\n";
    let hub = Setup::default()
        .args(&["--allow-loopback-callbacks"])
        .config(config)
        .start()
        .await;
    let bot = hub.agent("bot").await;
    let slow = Receiver::start().await;
    let endless = Receiver::start().await;
    let good = Receiver::start().await;
    slow.default_reply(PushReply::Hang);
    endless.default_reply(PushReply::Endless);
    let resolved = async |receiver: &Receiver, path: &str| {
        let id = bot.accepted(&push_to(ask("bot"), &receiver.url(path))).await;
        hub.owner.answer(&id, "approve").await.expect(200);
        id
    };
    for receiver in [&slow, &endless, &good] {
        hub.approve(&bot, &receiver.host()).await;
    }
    let mut stuck = vec![];
    for nth in 0..20 {
        resolved(&slow, &format!("/{nth}")).await;
        stuck.push(resolved(&endless, &format!("/{nth}")).await);
    }
    slow.until("the slow one is busy", |pushes| pushes.len() >= 4).await;
    for nth in 0..20 {
        resolved(&good, &format!("/{nth}")).await;
    }
    let pushes = good
        .until("the good one gets all of its own", |pushes| pushes.len() >= 20)
        .await;
    assert_eq!(pushes.len(), 20);
    assert_eq!(slow.seen().len(), 4, "no more at once than the host may have");
    let first = &stuck[0];
    eventually("an endless answer is cut off and counted by its status", async || {
        let item = hub.owner.get(&format!("/v1/inbox/{first}")).await.expect(200);
        (item["delivery"]["state"] != "pending").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_that_times_out_is_retried() {
    let config = "[push]\nfirst_retry_ms = 20\nattempt_timeout_ms = 300\n";
    let hub = Setup::default()
        .args(&["--allow-loopback-callbacks"])
        .config(config)
        .start()
        .await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    receiver.script("/slow", &[PushReply::Hang]);
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/slow"))).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let pushes = receiver.at("/slow", 2).await;
    assert_eq!(pushes[0].resolution_id(), pushes[1].resolution_id());
    hub.delivery(&id, "delivered").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_item_shows_its_delivery_state() {
    let (hub, receiver, bot) = stage().await;
    let pulled_id = bot.accepted(&ask("bot")).await;
    let pushed = bot.accepted(&push_to(ask("bot"), &receiver.url("/told"))).await;
    for id in [&pulled_id, &pushed] {
        hub.owner.answer(id, "approve").await.expect(200);
    }
    hub.delivery(&pushed, "delivered").await;
    let item = async |id: &str| hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200)["delivery"].clone();
    assert_eq!(item(&pulled_id).await, json!(null));
    let delivery = item(&pushed).await;
    assert_eq!(
        [&delivery["state"], &delivery["attempts"]],
        [&json!("delivered"), &json!(1)]
    );
    let listed = hub.owner.get("/v1/admin/deliveries?state=delivered").await.expect(200)["deliveries"].clone();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed[0]["host"], receiver.host());
}

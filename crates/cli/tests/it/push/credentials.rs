use serde_json::{Value, json};

use super::stage;
use crate::harness::*;

async fn pushed(hub: &Hub, receiver: &Receiver, bot: &Agent, auth: Value) -> Push {
    let path = format!("/{}", auth["scheme"].as_str().unwrap());
    let mut envelope = push_to(ask(&bot.id), &receiver.url(&path));
    envelope["request"]["callback"]["auth"] = auth;
    let id = bot.accepted(&envelope).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    receiver.at(&path, 1).await.remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_carries_the_credential_its_ask_names() {
    let (hub, receiver, bot) = stage().await;
    for (name, value) in [
        ("env:A2H_CALLBACK_SECRET", "hmac secret, as it stands"),
        ("the-token", "tok-1"),
        ("the-key", "key-1"),
    ] {
        let secret = json!({"agent_id": "bot", "name": name, "value": value});
        hub.owner.post("/v1/admin/secrets", &secret).await.expect(200);
    }
    let hmac = json!({"scheme": "hmac", "secret_ref": "env:A2H_CALLBACK_SECRET"});
    let push = pushed(&hub, &receiver, &bot, hmac).await;
    let by_secret = signed(&push, "a2h", &receiver.url("/hmac"));
    assert!(by_secret.holds("hmac secret, as it stands") && !by_secret.holds(&bot.signing_key));
    assert!(
        standard_webhooks_holds(&push, &bot.signing_key),
        "the stock header stays with the agent's key"
    );
    assert_eq!([push.header("authorization"), push.header("x-api-key")], ["", ""]);

    let push = pushed(
        &hub,
        &receiver,
        &bot,
        json!({"scheme": "bearer", "token_ref": "the-token"}),
    )
    .await;
    assert_eq!(
        [push.header("authorization"), push.header("x-api-key")],
        ["Bearer tok-1", ""]
    );
    assert!(
        signed(&push, "a2h", &receiver.url("/bearer")).holds(&bot.signing_key),
        "signed with every scheme"
    );

    let push = pushed(
        &hub,
        &receiver,
        &bot,
        json!({"scheme": "apikey", "token_ref": "the-key"}),
    )
    .await;
    assert_eq!([push.header("authorization"), push.header("x-api-key")], ["", "key-1"]);
    assert!(signed(&push, "a2h", &receiver.url("/apikey")).holds(&bot.signing_key));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_can_be_replaced_before_the_answer() {
    let (hub, receiver, bot) = stage().await;
    let set = async |value: &str| {
        let secret = json!({"agent_id": "bot", "name": "t", "value": value});
        hub.owner.post("/v1/admin/secrets", &secret).await.expect(200);
    };
    set("old").await;
    let mut envelope = push_to(ask("bot"), &receiver.url("/replaced"));
    envelope["request"]["callback"]["auth"] = json!({"scheme": "bearer", "token_ref": "t"});
    let id = bot.accepted(&envelope).await;
    set("new").await;
    hub.owner.answer(&id, "approve").await.expect(200);
    assert_eq!(
        receiver.at("/replaced", 1).await[0].header("authorization"),
        "Bearer new"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_never_returned() {
    let (hub, _receiver, _bot) = stage().await;
    let secret = json!({"agent_id": "bot", "name": "t", "value": "MARK-SECRET"});
    let set = hub.owner.post("/v1/admin/secrets", &secret).await;
    assert_eq!(set.expect(200), json!({"agent_id": "bot", "name": "t"}));
    let listed = hub.owner.get("/v1/admin/secrets?agent_id=bot").await;
    assert_eq!(listed.expect(200)["secrets"][0]["name"], "t");
    assert!(!listed.text().contains("MARK-SECRET"));
    hub.owner
        .post("/v1/admin/secrets/remove", &json!({"agent_id": "bot", "name": "t"}))
        .await
        .expect(200);
    assert_eq!(
        hub.owner.get("/v1/admin/secrets?agent_id=bot").await.expect(200)["secrets"],
        json!([])
    );
}

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::stage;
use crate::harness::*;

#[track_caller]
fn fresh(signed: &Signed, push: &Push) {
    let now = jiff::Timestamp::now().as_second();
    let t: i64 = signed.t.parse().expect("unix seconds");
    assert!((now - t).abs() <= 120, "t is now: {t}");
    assert!(
        signed.jti.starts_with("jti_") && signed.jti.len() == 30,
        "{}",
        signed.jti
    );
    assert_eq!(push.header("webhook-id"), push.resolution_id());
    let timestamp: i64 = push.header("webhook-timestamp").parse().expect("unix seconds");
    assert!((now - timestamp).abs() <= 120);
    assert!(push.header("content-type").starts_with("application/json"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_family_and_version_gets_its_own_signature() {
    let (hub, receiver, bot) = stage().await;
    for (family, other, envelope) in [
        ("a2h", "ma2h", a2h(ask("bot"), "0.2")),
        ("a2h", "ma2h", a2h(ask("bot"), "0.3")),
        ("ma2h", "a2h", ma2h(ask("bot"), "0.3")),
        ("ma2h", "a2h", ma2h(ask("bot"), "0.6")),
        ("a2h", "ma2h", a2h(ask("bot"), "0.9")),
    ] {
        let path = format!("/{family}/{}", envelope[format!("{family}_version")].as_str().unwrap());
        let url = receiver.url(&path);
        let id = bot.accepted(&push_to(envelope, &url)).await;
        hub.owner.answer(&id, "approve").await.expect(200);
        let push = receiver.at(&path, 1).await.remove(0);
        assert_eq!(
            push.json(),
            bot.pull(&id).await["response"],
            "push and pull say the same"
        );
        let signed = signed(&push, family, &url);
        assert!(signed.holds(&bot.signing_key), "{path}: {:?}", push.headers);
        assert!(!signed.holds("whsec_another"), "{path}");
        assert!(
            standard_webhooks_holds(&push, &bot.signing_key),
            "{path}: {:?}",
            push.headers
        );
        assert_eq!(push.header(&format!("{other}-signature")), "", "one family only");
        fresh(&signed, &push);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_answer_no_longer_verifies() {
    let (hub, receiver, bot) = stage().await;
    let url = receiver.url("/tamper");
    let mut envelope = push_to(ask("bot"), &url);
    envelope["state"] = json!({"step": 1});
    let id = bot.accepted(&envelope).await;
    hub.owner.answer(&id, "deny").await.expect(200);
    let push = receiver.at("/tamper", 1).await.remove(0);
    for (from, to) in [
        ("deny", "approve"),
        ("human:owner", "human:other"),
        ("\"step\":1", "\"step\":2"),
        ("answered", "declined"),
    ] {
        assert!(push.text().contains(from), "{}", push.text());
        let forged = Push {
            body: push.text().replace(from, to).into_bytes(),
            ..push.clone()
        };
        assert!(!signed(&forged, "a2h", &url).holds(&bot.signing_key), "{from} to {to}");
        assert!(!standard_webhooks_holds(&forged, &bot.signing_key), "{from} to {to}");
    }
    assert!(
        !signed(&push, "a2h", &receiver.url("/elsewhere")).holds(&bot.signing_key),
        "bound to its url"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_outcome_is_pushed_and_verifies() {
    let (hub, receiver, bot) = stage().await;
    let url = receiver.url("/outcomes");
    let declined = bot.accepted(&push_to(ask("bot"), &url)).await;
    hub.owner
        .resolve(&declined, json!({"resolution": "declined"}))
        .await
        .expect(200);
    let cancelled = bot.accepted(&push_to(ask("bot"), &url)).await;
    bot.cancel(&cancelled).await.expect(200);
    let expired = bot.accepted_briefly(&push_to(ask("bot"), &url)).await;
    let late_task = bot.accepted_briefly(&push_to(task("bot"), &url)).await;
    let done = bot.accepted(&push_to(task("bot"), &url)).await;
    let checklist = json!([{"text": "rotate", "done": true}, {"text": "announce", "done": false}]);
    hub.owner
        .resolve(&done, json!({"resolution": "completed", "checklist": checklist}))
        .await
        .expect(200);
    let dropped = bot.accepted(&push_to(task("bot"), &url)).await;
    hub.owner
        .resolve(&dropped, json!({"resolution": "dismissed"}))
        .await
        .expect(200);
    let pushes = receiver.at("/outcomes", 6).await;
    for id in [declined, cancelled, expired, late_task, done, dropped] {
        let push = pushes
            .iter()
            .find(|push| push.json()["in_reply_to"] == id.as_str())
            .expect("one push each");
        assert_eq!(push.json(), bot.pull(&id).await["response"]);
        assert!(signed(push, "a2h", &url).holds(&bot.signing_key), "{}", push.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn state_is_pushed_and_signed_byte_for_byte() {
    let (hub, receiver, bot) = stage().await;
    let raw = r#"{ "n":[1.0,1e5,-0,9007199254740993,1E-7] ,"b":"\u0041\/é😀","a":{} }"#;
    let url = receiver.url("/state");
    let envelope = with_raw_state(&push_to(ask("bot"), &url), raw);
    let id = bot.post_bytes("/v1/messages", envelope).await.expect(202)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    hub.owner.answer(&id, "approve").await.expect(200);
    let push = receiver.at("/state", 1).await.remove(0);
    assert!(push.text().contains(&format!("\"state\":{raw}")), "{}", push.text());
    assert!(signed(&push, "a2h", &url).holds(&bot.signing_key));
}

/// The hub's published Ed25519 keys by their id.
pub async fn published_keys(hub: &Hub) -> Vec<(String, Vec<u8>)> {
    let capability = hub.anonymous().get("/.well-known/a2h").await.expect(200);
    let keys: Vec<Value> = capability["signature_keys"]
        .as_array()
        .cloned()
        .expect("signature_keys");
    let text = |key: &Value, name: &str| key[name].as_str().expect("a text").to_owned();
    let bytes = |text: String| {
        STANDARD
            .decode(&text)
            .or_else(|_| URL_SAFE_NO_PAD.decode(&text))
            .expect("base64")
    };
    keys.iter()
        .map(|key| (text(key, "kid"), bytes(text(key, "public_key"))))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ed25519_agent_verifies_with_the_published_key() {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent_signed_by("bot", "ed25519").await;
    hub.approve(&bot, &receiver.host()).await;
    let pushed = async |path: &str| {
        let id = bot.accepted(&push_to(ask("bot"), &receiver.url(path))).await;
        hub.owner.answer(&id, "approve").await.expect(200);
        receiver.at(path, 1).await.remove(0)
    };
    let push = pushed("/first").await;
    let first = signed(&push, "a2h", &receiver.url("/first"));
    let keys = published_keys(&hub).await;
    let (_, key) = keys
        .iter()
        .find(|(kid, _)| Some(kid) == first.kid.as_ref())
        .expect("the key the header names");
    assert_eq!(key.len(), 32);
    assert!(ed25519_holds(&push, &first, key), "{:?}", push.headers);
    let forged = Push {
        body: push.text().replace("approve", "deny").into_bytes(),
        ..push.clone()
    };
    assert!(!ed25519_holds(
        &forged,
        &signed(&forged, "a2h", &receiver.url("/first")),
        key
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_without_overlap_ends_the_old_key_at_once() {
    let (hub, receiver, bot) = stage().await;
    let url = receiver.url("/cut");
    let id = bot.accepted(&push_to(ask("bot"), &url)).await;
    let body = json!({"id": "bot", "overlap_seconds": 0});
    let new_key = hub.owner.post("/v1/admin/agents/rotate", &body).await.expect(200)["signing_key"].clone();
    bot.get("/v1/messages").await.refused("unauthenticated");
    hub.owner.answer(&id, "approve").await.expect(200);
    let push = receiver.at("/cut", 1).await.remove(0);
    let signed = signed(&push, "a2h", &url);
    assert!(
        signed.holds(new_key.as_str().unwrap()) && !signed.holds(&bot.signing_key),
        "{:?}",
        push.headers
    );
}

//! Signatures during a key rotation, read by verifiers that keep a single `v1` and by one that tries all of them.

use countersign_agent::Verifier;
use countersign_protocol::time::Timestamp;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;

use super::signatures::published_keys;
use super::stage;
use crate::harness::*;

/// A header as verifiers read it that keep one `v1`: a map filled pair by pair keeps the last, a search keeps the first.
fn single(push: &Push, url: &str, which: fn(&[String]) -> Option<&String>) -> Signed {
    let mut signed = signed(push, "a2h", url);
    signed.signatures = which(&signed.signatures).cloned().into_iter().collect();
    signed
}

fn single_readers(push: &Push, url: &str) -> [Signed; 2] {
    [
        single(push, url, <[String]>::first),
        single(push, url, <[String]>::last),
    ]
}

fn header_map(push: &Push) -> HeaderMap {
    let pair = |(name, value): (&String, &String)| {
        let name: HeaderName = name.parse().expect("a header name");
        (name, HeaderValue::from_str(value).expect("a header value"))
    };
    push.headers.iter().map(pair).collect()
}

#[track_caller]
fn verifies(verifier: &Verifier, push: &Push) {
    let now = Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
    let verified = verifier.verify(&header_map(push), &push.body, now);
    assert!(verified.is_ok(), "{:?}: {:?}", verified.err(), push.headers);
}

async fn pushed(hub: &Hub, receiver: &Receiver, asker: &Api, path: &str) -> Push {
    let envelope = push_to(ask("bot"), &receiver.url(path));
    let id = asker.post("/v1/messages", &envelope).await.expect(202)["id"].clone();
    hub.owner
        .answer(id.as_str().expect("an id"), "approve")
        .await
        .expect(200);
    receiver.at(path, 1).await.remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn verifiers_of_a_single_signature_work_on_both_sides_of_the_switch() {
    let (hub, receiver, bot) = stage().await;
    let body = json!({"id": "bot", "overlap_seconds": 3600});
    let rotated = hub.owner.post("/v1/admin/agents/rotate", &body).await.expect(200);
    let text = |name: &str| rotated[name].as_str().expect("a text").to_owned();
    let new_key = text("signing_key");
    let old_token = bot.at(&hub);
    let new_token = old_token.bearer(&text("token"));
    let both = |url: &str| Verifier::new(url).hmac_key(&bot.signing_key).hmac_key(&new_key);

    // Before the agent calls with its new token, its receiver has the old key, or both.
    for path in ["/before", "/before-again"] {
        let url = receiver.url(path);
        let push = pushed(&hub, &receiver, &old_token, path).await;
        for reader in single_readers(&push, &url) {
            assert!(
                reader.holds(&bot.signing_key) && !reader.holds(&new_key),
                "{:?}",
                push.headers
            );
        }
        let all = signed(&push, "a2h", &url);
        for key in [&bot.signing_key, &new_key] {
            assert!(
                all.holds(key) && standard_webhooks_holds(&push, key),
                "{:?}",
                push.headers
            );
        }
        assert_eq!(all.signatures.len(), 3, "old, new, old: {:?}", push.headers);
        verifies(&both(&url), &push);
    }

    // Its first call with the new token makes the new key the only one. The old token still works.
    for (path, asker) in [("/switched", &new_token), ("/after", &old_token)] {
        let url = receiver.url(path);
        let push = pushed(&hub, &receiver, asker, path).await;
        for reader in single_readers(&push, &url) {
            assert!(reader.holds(&new_key), "{:?}", push.headers);
        }
        assert_eq!(signed(&push, "a2h", &url).signatures.len(), 1, "{:?}", push.headers);
        assert!(standard_webhooks_holds(&push, &new_key) && !standard_webhooks_holds(&push, &bot.signing_key));
        verifies(&both(&url), &push);
    }
    let agents = hub.owner.get("/v1/admin/agents").await.expect(200)["agents"].clone();
    let listed = agents.as_array().expect("a list").iter();
    let listed = listed.filter(|agent| agent["agent_id"] == "bot").collect::<Vec<_>>();
    assert_eq!(
        (&listed[0]["tokens"], &listed[0]["signing_keys"]),
        (&json!(2), &json!(1))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_an_earlier_question_is_signed_with_the_key_of_the_latest_call() {
    let (hub, receiver, bot) = stage().await;
    let url = receiver.url("/asked-before");
    let id = bot.accepted(&push_to(ask("bot"), &url)).await;
    let rotated = hub
        .owner
        .post("/v1/admin/agents/rotate", &json!({"id": "bot"}))
        .await
        .expect(200);
    let text = |name: &str| rotated[name].as_str().expect("a text").to_owned();
    bot.at(&hub)
        .bearer(&text("token"))
        .get(&format!("/v1/messages/{id}"))
        .await
        .expect(200);
    hub.owner.answer(&id, "approve").await.expect(200);
    let push = receiver.at("/asked-before", 1).await.remove(0);
    let signed = signed(&push, "a2h", &url);
    assert!(signed.holds(&text("signing_key")) && !signed.holds(&bot.signing_key));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hubs_old_key_verifies_for_every_reader_during_the_overlap() {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent_signed_by("bot", "ed25519").await;
    hub.approve(&bot, &receiver.host()).await;
    let asker = bot.at(&hub);
    let old = published_keys(&hub).await.remove(0);
    let rotate = async |seconds: u64| {
        let body = json!({ "overlap_seconds": seconds });
        hub.owner.post("/v1/admin/keys/rotate", &body).await.expect(200);
    };

    rotate(3600).await;
    let published = published_keys(&hub).await;
    assert_eq!(published.len(), 2, "the old key stays published: {published:?}");
    let url = receiver.url("/during");
    let push = pushed(&hub, &receiver, &asker, "/during").await;
    let all = signed(&push, "a2h", &url);
    assert_eq!(all.kid.as_ref(), Some(&old.0), "kid names the first");
    for (kid, key) in &published {
        assert!(ed25519_holds(&push, &all, key), "{kid}: {:?}", push.headers);
        verifies(&Verifier::new(&url).ed25519_key(key), &push);
    }
    for reader in single_readers(&push, &url) {
        assert!(ed25519_holds(&push, &reader, &old.1), "{:?}", push.headers);
    }

    // The overlap of this rotation is over at once: the newest key signs alone, and is the only published one.
    rotate(0).await;
    let published = eventually("one published key", async || {
        let published = published_keys(&hub).await;
        (published.len() == 1).then_some(published)
    })
    .await;
    let url = receiver.url("/after");
    let push = pushed(&hub, &receiver, &asker, "/after").await;
    let all = signed(&push, "a2h", &url);
    assert_eq!(
        (all.signatures.len(), all.kid.as_ref()),
        (1, Some(&published[0].0)),
        "{:?}",
        push.headers
    );
    assert!(ed25519_holds(&push, &all, &published[0].1) && !ed25519_holds(&push, &all, &old.1));
}

//! The order in which defects are reported: credential, size, parse, version, shape, agent, replay, meaning.

use serde_json::json;

use super::remove;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_or_bad_credential_comes_before_everything() {
    let hub = Hub::start().await;
    hub.agent("bot").await;
    for caller in [
        hub.anonymous(),
        hub.anonymous().bearer("nonsense"),
        hub.anonymous().api_key(""),
    ] {
        caller.submit(&ask("bot")).await.refused("unauthenticated");
        caller
            .post_bytes("/v1/messages", "{ not json")
            .await
            .refused("unauthenticated");
        caller
            .get("/v1/messages/msg_00000000000000000000000000")
            .await
            .refused("unauthenticated");
    }
    // The hub may reply before it has read the whole body; then the client sees the reply or a closed connection.
    let huge = hub
        .anonymous()
        .bearer("nonsense")
        .post_request("/v1/messages", vec![b'x'; 5 << 20]);
    if let Ok(reply) = within("a reply", Api::try_send(huge)).await {
        reply.refused("unauthenticated");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn size_comes_before_syntax() {
    let hub = Setup::default()
        .config("[limits]\nmax_request_bytes = 4096\n")
        .start()
        .await;
    let bot = hub.agent("bot").await;
    bot.post_bytes("/v1/messages", vec![b'{'; 4097])
        .await
        .refused("invalid_field");
    bot.post_bytes("/v1/messages", vec![b'{'; 4096])
        .await
        .refused("validation_error");
}

#[tokio::test(flavor = "multi_thread")]
async fn shape_comes_before_the_agent_and_the_agent_before_meaning() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.agent("other").await;
    let mut envelope = ask("other");
    envelope["expires_at"] = json!("2020-01-01T00:00:00Z");
    bot.submit(&envelope).await.refused("agent_id_mismatch");
    remove(&mut envelope, "title");
    bot.submit(&envelope).await.refused_field("validation_error", "title");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_comes_before_meaning() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = ask("bot");
    bot.accepted(&envelope).await;
    envelope["expires_at"] = json!("2020-01-01T00:00:00Z");
    bot.submit(&envelope).await.refused("idempotency_conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_not_an_agent() {
    let hub = Hub::start().await;
    let reply = hub.owner.submit(&ask("owner")).await;
    assert!([401, 403].contains(&reply.status), "{}", reply.text());
}

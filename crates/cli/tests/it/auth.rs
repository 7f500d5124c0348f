//! Authentication and roles.

use reqwest::Method;
use serde_json::json;

use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_token_works_as_bearer_and_as_api_key() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let alice = hub.person("alice", "resolver").await;
    let anyone = hub.anonymous();
    for caller in [anyone.bearer(&bot.token), anyone.api_key(&bot.token)] {
        caller.accepted(&ask("bot")).await;
    }
    for caller in [anyone.bearer(&alice.token), anyone.api_key(&alice.token)] {
        caller.get("/v1/inbox").await.expect(200);
    }
    let lower_case = anyone
        .request(Method::GET, "/v1/messages")
        .header("authorization", format!("bearer {}", bot.token));
    assert_eq!(
        Api::send(lower_case).await.status,
        200,
        "the scheme is case-insensitive"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_without_a_valid_credential_are_refused() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let broken = format!("{}x", bot.token);
    let anyone = hub.anonymous();
    let basic = anyone
        .request(Method::GET, "/v1/messages")
        .header("authorization", format!("Basic {}", bot.token));
    Api::send(basic).await.refused("unauthenticated");
    for caller in [
        anyone.clone(),
        anyone.bearer(""),
        anyone.bearer(&broken),
        anyone.bearer(&bot.signing_key),
    ] {
        for path in [
            "/v1/messages",
            &format!("/v1/messages/{id}"),
            "/v1/inbox",
            "/v1/admin/agents",
            "/v1/admin/status",
        ] {
            caller.get(path).await.refused("unauthenticated");
        }
        caller.submit(&ask("bot")).await.refused("unauthenticated");
        caller.cancel(&id).await.refused("unauthenticated");
        caller.answer(&id, "approve").await.refused("unauthenticated");
        caller
            .post("/v1/admin/agents", &json!({"id": "evil"}))
            .await
            .refused("unauthenticated");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn during_a_rotation_both_tokens_work() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let body = json!({"id": "bot", "overlap_seconds": 3600});
    let rotated = hub.owner.post("/v1/admin/agents/rotate", &body).await.expect(200);
    let new_token = rotated["token"].as_str().expect("a token");
    assert_ne!(new_token, bot.token);
    assert!(
        rotated["old_valid_until"]
            .as_str()
            .is_some_and(|until| until.parse::<jiff::Timestamp>().is_ok())
    );
    let renewed = hub.anonymous().bearer(new_token);
    let id = bot.accepted(&ask("bot")).await;
    assert_eq!(renewed.pull(&id).await["status"], "open");
    hub.kill();
    hub.restart().await;
    for caller in [&*bot, &renewed] {
        caller.accepted(&ask("bot")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn old_token_expires_after_the_overlap() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let body = json!({"id": "bot", "overlap_seconds": 1});
    let rotated = hub.owner.post("/v1/admin/agents/rotate", &body).await.expect(200);
    bot.get("/v1/messages").await.expect(200);
    eventually("the old token ends", async || {
        (bot.get("/v1/messages").await.status == 401).then_some(())
    })
    .await;
    let renewed = hub.anonymous().bearer(rotated["token"].as_str().expect("a token"));
    renewed.get("/v1/messages").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn removed_agent_is_unauthenticated() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    assert_eq!(
        hub.owner
            .post("/v1/admin/agents/remove", &json!({"id": "bot"}))
            .await
            .expect(200),
        json!({"agent_id": "bot"})
    );
    bot.submit(&ask("bot")).await.refused("unauthenticated");
    bot.get(&format!("/v1/messages/{id}")).await.refused("unauthenticated");
    hub.owner
        .post("/v1/admin/agents/remove", &json!({"id": "bot"}))
        .await
        .refused("not_found");
    hub.owner
        .post("/v1/admin/agents/rotate", &json!({"id": "bot"}))
        .await
        .refused("not_found");
    let answered = hub.owner.answer(&id, "approve").await;
    assert!(
        answered.status < 500,
        "people can still answer its questions: {}",
        answered.text()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_submits_only_under_its_own_id() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.agent("other").await;
    for id in ["other", "Bot", "bot ", "bot/x", "nobody"] {
        bot.submit(&ask(id)).await.refused("agent_id_mismatch");
    }
    hub.owner
        .post("/v1/admin/agents", &json!({"id": "bot"}))
        .await
        .refused("already_exists");
    let long = "x".repeat(2000);
    for body in [
        json!({}),
        json!({"id": ""}),
        json!({"id": 7}),
        json!({"id": "two\nlines"}),
        json!({"id": "\u{1b}[31m"}),
        json!({"id": long}),
        json!({"id": "x", "signature_alg": "md5"}),
    ] {
        let reply = hub.owner.post("/v1/admin/agents", &body).await;
        assert!([400, 422].contains(&reply.status), "{body}: {}", reply.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_owner_may_call_the_admin_api() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let resolver = hub.person("alice", "resolver").await;
    let viewer = hub.person("vera", "viewer").await;
    let second = hub.person("olga", "owner").await;
    for caller in [&*bot, &*resolver, &*viewer] {
        for path in [
            "agents",
            "callbacks",
            "secrets",
            "people",
            "deliveries",
            "status",
            "audit?id=x",
        ] {
            caller.get(&format!("/v1/admin/{path}")).await.refused("not_authorized");
        }
        for path in [
            "agents",
            "agents/rename",
            "agents/rotate",
            "agents/remove",
            "people",
            "people/token",
            "keys/rotate",
            "secrets",
        ] {
            let body = json!({"id": "bot", "name": "owner"});
            caller
                .post(&format!("/v1/admin/{path}"), &body)
                .await
                .refused("not_authorized");
        }
    }
    second.get("/v1/admin/agents").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_reads_and_does_not_resolve() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let viewer = hub.person("vera", "viewer").await;
    let id = bot
        .accepted(&resolvers(ask("bot"), &["human:vera", "human:owner"]))
        .await;
    let item = viewer.get(&format!("/v1/inbox/{id}")).await.expect(200);
    assert_eq!(item["can_answer"], false);
    assert_eq!(viewer.get("/v1/inbox").await.expect(200)["items"][0]["id"], id);
    viewer.get("/v1/messages").await.expect(200);
    viewer.answer(&id, "approve").await.refused("not_authorized");
    assert_eq!(bot.pull(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_may_have_several_tokens() {
    let hub = Hub::start().await;
    let alice = hub.person("alice", "resolver").await;
    let second = hub
        .owner
        .post("/v1/admin/people/token", &json!({"name": "alice"}))
        .await
        .expect(200);
    assert_eq!(second["actor"], "human:alice");
    for token in [alice.token.as_str(), second["token"].as_str().unwrap()] {
        hub.anonymous().bearer(token).get("/v1/inbox").await.expect(200);
    }
    let people = hub.owner.get("/v1/admin/people").await.expect(200)["people"].clone();
    let alice = people
        .as_array()
        .unwrap()
        .iter()
        .find(|person| person["name"] == "alice")
        .expect("alice");
    assert_eq!([&alice["role"], &alice["tokens"]], [&json!("resolver"), &json!(2)]);
    hub.owner
        .post("/v1/admin/people", &json!({"name": "alice"}))
        .await
        .refused("already_exists");
    hub.owner
        .post("/v1/admin/people/token", &json!({"name": "nobody"}))
        .await
        .refused("not_found");
    for name in ["", "two\nlines", "\u{1b}[31m", "<b>\u{0}"] {
        let reply = hub.owner.post("/v1/admin/people", &json!({"name": name})).await;
        assert!([400, 422].contains(&reply.status), "{name:?}: {}", reply.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_is_for_people() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    bot.get("/v1/inbox").await.refused("not_authorized");
}

#[tokio::test(flavor = "multi_thread")]
async fn urgent_questions_come_first_and_then_the_longest_waiting() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut ids = vec![];
    for priority in ["normal", "low", "urgent", "normal", "high"] {
        let mut envelope = ask("bot");
        envelope["priority"] = json!(priority);
        ids.push(bot.accepted(&envelope).await);
    }
    bot.accepted(&notify("bot")).await;
    let mut listed = vec![];
    let mut path = "/v1/inbox?limit=2".to_owned();
    loop {
        let page = hub.owner.get(&path).await.expect(200);
        listed.extend(
            page["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|item| item["id"].as_str().unwrap().to_owned()),
        );
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        path = format!("/v1/inbox?limit=2&cursor={cursor}");
    }
    assert_eq!(listed.len(), 5, "open asks and tasks, each once");
    assert_eq!(listed[0], ids[2], "the urgent one");
    let position = |id: &String| listed.iter().position(|listed| listed == id);
    assert!(
        position(&ids[0]) < position(&ids[3]),
        "oldest first at the same priority"
    );
}

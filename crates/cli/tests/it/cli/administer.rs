use serde_json::json;

use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_added_listed_rotated_and_removed() {
    let hub = Hub::start().await;
    let made = hub.cli(&["agent", "add", "deploybot/dev-team", "--json"]).json();
    assert_eq!(made["agent_id"], "deploybot/dev-team");
    let signing_key = made["signing_key"].as_str().expect("a signing key");
    assert!(signing_key.starts_with("whsec_"), "{signing_key}");
    let bot = hub.anonymous().bearer(made["token"].as_str().expect("a token"));
    bot.accepted(&ask("deploybot/dev-team")).await;

    let listed = hub.cli(&["agent", "list", "--json"]).json();
    assert!(listed.to_string().contains("deploybot/dev-team"), "{listed}");
    assert!(hub.cli(&["agent", "list"]).ok().contains("deploybot/dev-team"));

    let rotated = hub.cli(&["agent", "rotate", "deploybot/dev-team", "--json"]).json();
    for token in [&made["token"], &rotated["token"]] {
        hub.anonymous()
            .bearer(token.as_str().expect("a token"))
            .accepted(&ask("deploybot/dev-team"))
            .await;
    }
    hub.cli(&["agent", "remove", "deploybot/dev-team"]).ok();
    bot.submit(&ask("deploybot/dev-team")).await.refused("unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn removed_agents_messages_go_to_a_namesake_only_on_purpose() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    hub.cli(&["agent", "remove", "bot"]).ok();
    let stderr = hub.cli(&["agent", "add", "bot"]).fails(1);
    for part in [
        "name of a removed agent",
        "messages and their answers",
        "--reuse",
        "name_used",
    ] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    let add = json!({"id": "bot"});
    hub.owner.post("/v1/admin/agents", &add).await.refused("name_used");
    let made = hub.cli(&["agent", "add", "bot", "--reuse", "--json"]).json();
    let namesake = hub.anonymous().bearer(made["token"].as_str().expect("a token"));
    assert_eq!(namesake.pull(&id).await["status"], "answered");
    let trail = hub.owner.get("/v1/admin/audit?id=agent:bot").await.expect(200);
    let last = trail["entries"].as_array().and_then(|entries| entries.last());
    assert_eq!(last.expect("an entry")["event"], "agent.readded", "{trail}");
    bot.get("/v1/messages").await.refused("unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn removed_persons_asks_go_to_a_namesake_only_on_purpose() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.person("alice", "resolver").await;
    let mut open = ask("bot");
    open["request"]["allowed_resolvers"] = json!(["human:alice"]);
    let id = bot.accepted(&open).await;
    hub.cli(&["person", "remove", "alice"]).ok();
    let stderr = hub.cli(&["person", "add", "alice"]).fails(1);
    for part in ["name of a removed person", "human:alice", "--reuse", "name_used"] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    let add = json!({"name": "alice"});
    hub.owner.post("/v1/admin/people", &add).await.refused("name_used");
    let made = hub.cli(&["person", "add", "alice", "--reuse", "--json"]).json();
    let namesake = hub.anonymous().bearer(made["token"].as_str().expect("a token"));
    namesake.answer(&id, "approve").await.expect(200);
    let trail = hub.owner.get("/v1/admin/audit?id=human:alice").await.expect(200);
    assert!(trail.to_string().contains("person.readded"), "{trail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_with_look_alike_or_invisible_characters_are_refused() {
    let hub = Hub::start().await;
    hub.agent("bot").await;
    for (id, character) in [
        ("b\u{43e}t", r"character 2 is \u{43e}"),
        ("bot\u{200b}", r"character 4 is \u{200b}"),
        ("\u{202e}tob", r"character 1 is \u{202e}"),
        ("bot#1", "character 4 is #"),
    ] {
        let refused = hub.owner.post("/v1/admin/agents", &json!({ "id": id })).await;
        refused.refused_field("invalid_field", "id");
        let message = refused.json()["error"]["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(message.contains(character), "{message}");
        let refused = hub.owner.post("/v1/admin/people", &json!({ "name": id })).await;
        refused.refused_field("invalid_field", "name");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_output_shows_new_credentials() {
    let hub = Hub::start().await;
    let output = hub.cli(&["agent", "add", "bot"]).ok();
    let words: Vec<&str> = output.split_whitespace().collect();
    assert!(words.iter().any(|word| word.contains("whsec_")), "{output}");
    let mut works = false;
    for word in words {
        works |= word.is_ascii() && hub.anonymous().bearer(word).get("/v1/messages").await.status == 200;
    }
    assert!(works, "one of the words is the token: {output}");
    assert!(hub.cli(&["person", "add", "alice"]).ok().contains("human:alice"));
    hub.cli(&["agent", "rotate", "bot"]).ok();
    assert!(hub.cli(&["person", "list"]).ok().contains("alice"));
    assert!(hub.cli(&["key", "rotate"]).ok().lines().count() >= 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ed25519_agent_can_be_added() {
    let hub = Hub::start().await;
    let made = hub
        .cli(&["agent", "add", "bot", "--signature-alg", "ed25519", "--json"])
        .json();
    assert_eq!(made["signature_alg"], "ed25519");
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_added_listed_and_given_tokens() {
    let hub = Hub::start().await;
    let alice = hub
        .cli(&["person", "add", "alice", "--role", "resolver", "--json"])
        .json();
    assert_eq!(alice["actor"], "human:alice");
    let more = hub.cli(&["person", "token", "alice", "--json"]).json();
    for token in [&alice["token"], &more["token"]] {
        hub.anonymous()
            .bearer(token.as_str().expect("a token"))
            .get("/v1/inbox")
            .await
            .expect(200);
    }
    let listed = hub.cli(&["person", "list", "--json"]).json().to_string();
    assert!(listed.contains("alice") && listed.contains("owner"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_person_is_locked_out_and_the_last_owner_stays() {
    let hub = Hub::start().await;
    let alice = hub.cli(&["person", "add", "alice", "--json"]).json();
    let caller = hub.anonymous().bearer(alice["token"].as_str().expect("a token"));
    caller.get("/v1/inbox").await.expect(200);
    assert_eq!(
        hub.cli(&["person", "remove", "alice", "--json"]).json()["actor"],
        "human:alice"
    );
    caller.get("/v1/inbox").await.expect(401);
    hub.cli(&["person", "remove", "alice"]).fails(1);
    hub.cli(&["person", "remove", "owner"]).fails(1);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_owner_administers_after_the_first_is_removed() {
    let mut hub = Hub::start().await;
    hub.cli(&["person", "add", "boss", "--role", "owner"]).ok();
    hub.cli(&["person", "remove", "owner"]).ok();
    hub.interrupt();
    hub.restart().await;
    let people = hub.cli(&["person", "list", "--json"]).json();
    assert_eq!(people.as_array().map(Vec::len), Some(1), "{people}");
    assert_eq!(people[0]["name"], "boss");
}

#[tokio::test(flavor = "multi_thread")]
async fn callback_hosts_are_added_approved_listed_and_removed() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let envelope = push_to(ask("bot"), "https://hooks.example/resume");
    assert_eq!(
        hub.cli(&["agent", "callback", "add", "bot", "hooks.example", "--json"])
            .json()["state"],
        "pending"
    );
    bot.submit(&envelope).await.refused("invalid_field");
    let approved = hub
        .cli(&["agent", "callback", "approve", "bot", "hooks.example", "--json"])
        .json();
    assert_eq!(
        [&approved["host"], &approved["state"]],
        [&json!("hooks.example"), &json!("approved")]
    );
    bot.accepted(&envelope).await;
    assert!(
        hub.cli(&["agent", "callback", "list", "bot"])
            .ok()
            .contains("hooks.example")
    );
    assert!(
        hub.cli(&["agent", "callback", "list", "--json"])
            .json()
            .to_string()
            .contains("hooks.example")
    );
    hub.cli(&["agent", "callback", "remove", "bot", "hooks.example"]).ok();
    bot.submit(&push_to(ask("bot"), "https://hooks.example/resume"))
        .await
        .refused("invalid_field");
    let output = hub
        .cli(&["agent", "callback", "approve", "nobody", "hooks.example"])
        .fails(1);
    assert!(output.contains("nobody"), "{output}");
    hub.cli(&["agent", "callback", "approve", "bot", "https://hooks.example/path"])
        .fails(1);
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_come_from_standard_input_and_are_never_shown() {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    hub.cli_with_input(&["secret", "set", "bot", "token"], "MARK-SECRET\n")
        .ok();
    hub.cli(&["secret", "set", "bot", "other", "--value", "MARK-OTHER", "--json"])
        .json();
    let listed = hub.cli(&["secret", "list", "--json"]).ok() + &hub.cli(&["secret", "list", "bot"]).ok();
    assert!(
        listed.contains("token") && listed.contains("other") && !listed.contains("MARK"),
        "{listed}"
    );
    let mut envelope = push_to(ask("bot"), &receiver.url("/secret"));
    envelope["request"]["callback"]["auth"] = json!({"scheme": "bearer", "token_ref": "token"});
    let id = bot.accepted(&envelope).await;
    hub.cli(&["answer", &id, "approve"]).ok();
    let push = receiver.at("/secret", 1).await.remove(0);
    assert_eq!(
        push.header("authorization"),
        "Bearer MARK-SECRET",
        "without the newline of the shell"
    );
    hub.cli(&["secret", "remove", "bot", "token"]).ok();
    assert!(!hub.cli(&["secret", "list", "bot"]).ok().contains("token"));
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_are_listed_and_retried() {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    receiver.script("/x", &[PushReply::Status(404)]);
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/x"))).await;
    hub.cli(&["answer", &id, "approve"]).ok();
    hub.delivery(&id, "failed").await;
    let listed = hub.cli(&["delivery", "list", "--json"]).json().to_string();
    assert!(listed.contains(&id) && listed.contains("failed"), "{listed}");
    let plain = hub.cli(&["delivery", "list"]).ok();
    assert!(plain.contains(&id) && plain.contains("failed"), "{plain}");
    hub.cli(&["delivery", "retry", &id]).ok();
    receiver.at("/x", 2).await;
    hub.cli(&["delivery", "retry", "msg_00000000000000000000000000"])
        .fails(1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_says_who_reaches_the_hub_who_can_answer_and_which_agents_are_silent() {
    let hub = Hub::start().await;
    hub.person("ann", "resolver").await;
    hub.person("vera", "viewer").await;
    hub.agent("silent").await;
    let report = hub.cli(&["doctor"]).ok();
    for line in [
        "ok    reachable from other machines: no (",
        "ok    people who can answer: 2 (ann, owner)\n",
        "ok    every agent has a token\n",
        "ok    agents that never called: silent\n",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_passes_a_running_hub_and_reports_a_missing_one() {
    let mut hub = Hub::start().await;
    let report = hub.cli(&["doctor", "--json"]);
    assert_eq!(report.code, 0, "{report:?}");
    hub.cli(&["doctor"]).ok();
    hub.interrupt();
    let report = hub.cli(&["doctor"]);
    assert!(
        !format!("{}{}", report.stdout, report.stderr).trim().is_empty(),
        "it says that no hub runs"
    );
    let config = hub.scratch().write("bad.toml", "retention_dayz = 1\n");
    let report = hub.cli(&["doctor", "--config", config.to_str().unwrap()]);
    assert_ne!(report.code, 0, "{report:?}");
    assert!(
        format!("{}{}", report.stdout, report.stderr).contains("retention_dayz"),
        "{report:?}"
    );
}

use serde_json::json;

use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_ack_holds_only_id_status_and_two_urls() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for (envelope, status) in [
        (ask("bot"), "open"),
        (task("bot"), "open"),
        (notify("bot"), "delivered"),
    ] {
        let ack = bot.submit(&envelope).await.expect(202);
        let id = ack["id"].as_str().expect("an id");
        let poll_url = format!("{}/v1/messages/{id}", hub.url);
        let review_url = format!("{}/inbox/items/{id}", hub.url.replace("127.0.0.1", "localhost"));
        assert_eq!(
            ack,
            json!({"id": id, "status": status, "poll_url": poll_url, "review_url": review_url})
        );
        let digits = id.strip_prefix("msg_").expect("the prefix of messages");
        assert!(
            digits.len() == 26
                && digits
                    .chars()
                    .all(|digit| digit.is_ascii_lowercase() || digit.is_ascii_digit())
        );
        assert_eq!(
            bot.get(ack["poll_url"].as_str().unwrap()).await.expect(200)["id"],
            id,
            "poll_url works verbatim"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pulled_message_is_the_envelope_with_id_and_status() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for mut envelope in [ask("bot"), select("bot"), input("bot"), task("bot"), notify("bot")] {
        envelope["x_unknown"] = json!({"kept": [1, 2]});
        envelope["tags"] = json!(["a", "b"]);
        envelope["client_ref"] = json!("ticket-7");
        envelope["state"] = json!({"step": 3});
        let id = bot.accepted(&envelope).await;
        let mut expected = envelope.clone();
        expected["id"] = json!(id);
        expected["status"] = json!(if envelope["type"] == "notify" {
            "delivered"
        } else {
            "open"
        });
        assert_eq!(bot.pull(&id).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_with_every_field_is_accepted() {
    let hub = Hub::start().await;
    let bot = hub.agent("deploybot/dev-team").await;
    let mut envelope = expiring(select("deploybot/dev-team"), 60_000);
    envelope["title"] = json!("😀".repeat(200));
    envelope["body"] = json!("x".repeat(65_536));
    envelope["priority"] = json!("urgent");
    envelope["tags"] = json!(["release"]);
    envelope["sensitive"] = json!(true);
    envelope["agent"]["project"] = json!("site");
    envelope["agent"]["labels"] = json!({"team": "core"});
    envelope["context"] = json!([
        {"kind": "text", "text": "a diff", "metadata": {"lines": 3}},
        {"kind": "data", "data": {"coverage": 0.93}},
        {"kind": "file", "file": {"uri": "https://files.example/log.txt", "name": "log.txt", "mime_type": "text/plain"}},
    ]);
    envelope["request"]["permissions"] =
        json!({"allow_accept": false, "allow_edit": true, "allow_respond": true, "allow_ignore": false});
    envelope["request"]["default_on_expire"] = json!("green");
    envelope["request"]["callback"] = json!({"mode": "pull"});
    bot.accepted(&envelope).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_families_are_accepted_and_answered_in_their_own_version_field() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for (family, other, envelope) in [
        ("a2h_version", "ma2h_version", a2h(ask("bot"), "0.2")),
        ("a2h_version", "ma2h_version", a2h(ask("bot"), "0.3")),
        ("ma2h_version", "a2h_version", ma2h(ask("bot"), "0.2")),
        ("ma2h_version", "a2h_version", ma2h(ask("bot"), "0.3")),
        ("ma2h_version", "a2h_version", ma2h(ask("bot"), "0.6")),
    ] {
        let version = &envelope[family];
        let id = bot.accepted(&envelope).await;
        hub.owner.answer(&id, "approve").await.expect(200);
        let body = bot.pull(&id).await;
        for part in [&body, &body["response"]] {
            assert_eq!(&part[family], version);
            assert!(part.get(other).is_none(), "{part}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notify_needs_no_key_and_never_gets_an_answer() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = notify("bot");
    envelope.as_object_mut().unwrap().remove("idempotency_key");
    let id = bot.accepted(&envelope).await;
    assert_ne!(
        bot.accepted(&envelope).await,
        id,
        "without a key every notify is a new one"
    );
    let body = bot.get(&format!("/v1/messages/{id}?wait=30")).await.expect(200);
    assert_eq!(body["status"], "delivered");
    assert!(body.get("response").is_none(), "{body}");
    hub.owner.answer(&id, "approve").await.refused("validation_error");
    bot.cancel(&id).await.refused("validation_error");
    assert_eq!(bot.pull(&id).await, body, "nothing changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_cannot_forge_its_id_status_or_response() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let sound = ask("bot").to_string();
    let members = sound
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .expect("an object");
    let forged = r#""id":"msg_mine","\u0073tatus":"answered","response":{"resolution":"answered"},"delivery":{}"#;
    let state = r#""state":{"id":1,"status":2,"response":3}"#;
    let text = format!("{{ {forged},{state},{members}}}");
    let id = bot.post_bytes("/v1/messages", text).await.expect(202)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let message = bot.get(&format!("/v1/messages/{id}")).await;
    let body = message.expect(200);
    assert_eq!([&body["id"], &body["status"]], [&json!(id), &json!("open")]);
    assert!(body.get("response").is_none(), "{body}");
    assert!(!message.text().contains("msg_mine"), "{body}");
    assert!(
        message.text().contains(state),
        "the same names inside state are the agent's own: {}",
        message.text()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_lists_its_own_messages_and_a_person_all() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let other = hub.agent("other").await;
    let mut ids = vec![];
    for _ in 0..3 {
        ids.push(bot.accepted(&ask("bot")).await);
    }
    let foreign = other.accepted(&ask("other")).await;
    hub.owner.answer(&ids[0], "approve").await.expect(200);
    let mut listed = vec![];
    let mut path = "/v1/messages?limit=2".to_owned();
    loop {
        let page = bot.get(&path).await.expect(200);
        listed.extend(
            page["messages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|item| item["id"].as_str().unwrap().to_owned()),
        );
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        path = format!("/v1/messages?limit=2&cursor={cursor}");
    }
    listed.sort();
    ids.sort();
    assert_eq!(listed, ids, "each once, over all pages, and none of another agent");
    let answered = bot.get("/v1/messages?status=answered").await.expect(200);
    assert_eq!(answered["messages"].as_array().map(Vec::len), Some(1), "{answered}");
    let all = hub.owner.get("/v1/messages").await.expect(200).to_string();
    assert!(all.contains(&foreign) && all.contains(&ids[0]), "{all}");
}

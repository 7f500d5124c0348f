use serde_json::{Value, json};

use super::{TerminalAgent, id, item, until_gone};
use crate::harness::*;

async fn answer(hub: &Hub, id: &str, value: Value) {
    hub.owner
        .resolve(id, json!({"resolution": "answered", "value": value}))
        .await
        .expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collected_answer_makes_the_same_prompt_a_new_cue() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let ack = shell.ask("# Ship it?\nAll green.").await;
    let first = id(&ack);
    assert_eq!(
        (&ack["status"], &ack["queued_behind"], &ack["warning"]),
        (&json!("open"), &json!(0), &Value::Null)
    );
    assert!(
        ack["url"]
            .as_str()
            .is_some_and(|url| url.ends_with(&format!("/inbox/items/{first}"))),
        "{ack}"
    );
    assert_eq!(item(&hub, &first).await["title"], "Ship it?");
    let process = shell.waiting(&hub, &first).await;
    answer(&hub, &first, json!("go on")).await;
    let cue = process.await.expect("a reply").expect(200);
    assert_eq!(
        (&cue["status"], &cue["kind"], &cue["collected"]),
        (&json!("answered"), &json!("cue"), &json!(false))
    );
    assert_eq!(cue["reply"], json!({"text": "go on", "files": []}));
    assert_eq!(cue["actor"], "human:owner");
    shell.collect(&first).await;
    shell.collect(&first).await;
    assert_eq!(shell.get_cue(&first).await["collected"], true);
    assert!(item(&hub, &first).await["fetched_at"].is_string());
    let second = shell.ask("# Ship it?\nAll green.").await;
    assert_ne!(id(&second), first, "the same prompt after the answer is a new question");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_prompt_attaches_to_the_open_cue_or_its_uncollected_answer() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let first = shell.ask_for_id("Ship it?").await;
    assert_eq!(id(&shell.ask_again("Ship it?").await), first);
    answer(&hub, &first, json!("yes")).await;
    let back = shell.ask_again("Ship it?").await;
    assert_eq!((id(&back), &back["status"]), (first.clone(), &json!("answered")));
    let current = shell
        .api
        .get(&format!("/v1/hap/agents/{}/current", shell.agent_id))
        .await
        .expect(200);
    assert_eq!(
        (&current["id"], &current["reply"]["text"]),
        (&json!(first), &json!("yes"))
    );
    shell.collect(&first).await;
    shell
        .api
        .get(&format!("/v1/hap/agents/{}/current", shell.agent_id))
        .await
        .refused("not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_never_joined_may_ask_under_its_name() {
    let hub = Hub::start().await;
    let shell = TerminalAgent {
        agent_id: "my-own.name".to_owned(),
        ..TerminalAgent::join(&hub).await
    };
    let first = shell.ask_for_id("Hello?").await;
    assert_eq!(item(&hub, &first).await["source"]["runtime"], "unknown");
    assert_eq!(id(&shell.ask_again("Hello?").await), first);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_cues_answered_in_reverse_order_each_get_their_own_answer() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let first = shell.ask_for_id("One?").await;
    let second = shell.ask_for_id("Two?").await;
    answer(&hub, &second, json!("two")).await;
    answer(&hub, &first, json!("one")).await;
    assert_eq!(shell.outcome(&first).await["reply"]["text"], "one");
    assert_eq!(shell.outcome(&second).await["reply"]["text"], "two");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decline_carries_its_reason() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = shell.ask_for_id("Drop the table?").await;
    hub.owner
        .resolve(&id, json!({"resolution": "declined", "comment": "not today"}))
        .await
        .expect(200);
    let cue = shell.outcome(&id).await;
    assert_eq!((&cue["status"], &cue["value"]), (&json!("declined"), &Value::Null));
    assert_eq!(cue["reply"], json!({"text": "", "files": [], "comment": "not today"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn payloads_become_questions_and_free_text_always_fits() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let choice = json!({"type": "choice", "options": ["Blue", {"id": "g", "label": "Green"}], "allow_multiple": true});
    let confirm = json!({"type": "confirm", "confirm_label": "Ship", "cancel_label": "Hold"});
    let form = json!({"type": "form", "fields": [
        {"label": "Zone", "options": ["eu", "us"], "allow_multiple": true}, {"label": "Why"},
    ]});
    for (prompt, payload, value, text) in [
        ("a", choice.clone(), json!(["Green", "Blue"]), "Green\nBlue"),
        ("b", choice, json!("neither"), "neither"),
        ("c", confirm.clone(), json!("deny"), "Hold"),
        ("d", confirm, json!("on Monday"), "on Monday"),
        (
            "e",
            form.clone(),
            json!({"Zone": ["us", "eu"], "Why": "load"}),
            "Zone: us, eu\nWhy: load",
        ),
        ("f", form, json!("skip it"), "skip it"),
    ] {
        let mut body = shell.cue_body(prompt);
        body["payload"] = payload;
        let ack = shell.post(&body).await.expect(201);
        assert_eq!(ack["warning"], Value::Null);
        answer(&hub, &id(&ack), value).await;
        assert_eq!(shell.outcome(&id(&ack)).await["reply"]["text"], text);
    }
    let mut body = shell.cue_body("g");
    body["payload"] = json!({"type": "poll", "of": [1, 2]});
    let ack = shell.post(&body).await.expect(201);
    assert!(
        ack["warning"].as_str().is_some_and(|warning| warning.contains("poll")),
        "{ack}"
    );
    assert_eq!(item(&hub, &id(&ack)).await["context"][0]["data"], body["payload"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_ends_with_continue_or_a_text() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let pause = json!({"agent_id": shell.agent_id, "kind": "pause"});
    for (value, text) in [("approve", "Continue"), ("later", "later")] {
        let ack = shell.post(&pause).await.expect(201);
        answer(&hub, &id(&ack), json!(value)).await;
        let cue = shell.outcome(&id(&ack)).await;
        assert_eq!((&cue["kind"], &cue["reply"]["text"]), (&json!("pause"), &json!(text)));
        shell.collect(&id(&ack)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_prompt_is_shortened_in_the_item_and_downloadable_in_full() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let prompt = format!(
        "Long\n{}",
        "a wörd and \u{1b}[1mmore\u{1b}[0m of it\n".repeat(5_000_000 / 34)
    );
    let id = shell.ask_for_id(&prompt).await;
    let body = item(&hub, &id).await["body"].as_str().expect("a body").len();
    assert!(body < 300_000, "{body}");
    let whole = hub.owner.get(&format!("/v1/inbox/{id}/prompt")).await;
    assert_eq!((whole.status, whole.text() == prompt), (200, true));
    assert_eq!(whole.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(whole.header("x-content-type-options"), "nosniff");
    assert!(
        whole.header("content-disposition").starts_with("attachment"),
        "{:?}",
        whole.headers
    );
    assert_eq!(shell.ask_again(&prompt).await["id"], id);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_concurrent_cues_with_the_same_prompt_are_one() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let shell = shell.clone();
        asking.spawn(async move { shell.post(&shell.cue_body("Ship it?")).await });
    }
    let replies = within("ten replies", asking.join_all()).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1);
    let ids: std::collections::BTreeSet<String> = replies.iter().map(|reply| id(&reply.json())).collect();
    assert_eq!(ids.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn uncollected_answers_of_another_persons_agent_look_like_no_agent() {
    let hub = Hub::start().await;
    hub.person("bob", "resolver").await;
    let shell = TerminalAgent::join(&hub).await;
    let bobs = TerminalAgent::join_as(&hub, "bob").await;
    assert!(uncollected(&shell).await.is_empty());
    for agent_id in [shell.agent_id.as_str(), "unknown"] {
        let kept = bobs.api.get(&format!("/v1/hap/agents/{agent_id}/kept")).await;
        kept.refused("not_found");
    }
}

async fn uncollected(shell: &TerminalAgent) -> Vec<Value> {
    let reply = shell
        .api
        .get(&format!("/v1/hap/agents/{}/kept", shell.agent_id))
        .await
        .expect(200);
    reply["kept"].as_array().expect("a list").clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_a_waiting_process_is_kept() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let abandoned = shell.ask_for_id("Left?").await;
    let awaited = shell.ask_for_id("Held?").await;
    shell.waiting(&hub, &abandoned).await.abort();
    until_gone(&hub, &abandoned).await;
    let process = shell.waiting(&hub, &awaited).await;
    answer(&hub, &awaited, json!("for the process")).await;
    answer(&hub, &abandoned, json!("for later")).await;
    let kept = uncollected(&shell).await;
    assert_eq!((kept.len(), &kept[0]["id"]), (1, &json!(abandoned)), "{kept:?}");
    assert_eq!(
        (&kept[0]["title"], &kept[0]["reply"]["text"]),
        (&json!("Left?"), &json!("for later"))
    );
    assert_eq!(
        process.await.expect("a reply").expect(200)["reply"]["text"],
        "for the process"
    );
    eventually("an answer its process did not collect is kept too", async || {
        (uncollected(&shell).await.len() == 2).then_some(())
    })
    .await;
    shell.collect(&awaited).await;
    shell.collect(&abandoned).await;
    assert!(uncollected(&shell).await.is_empty());
}

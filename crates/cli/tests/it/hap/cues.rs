use serde_json::{Value, json};

use super::{Shell, id, item, until_gone};
use crate::harness::*;

async fn answer(hub: &Hub, id: &str, value: Value) {
    hub.owner
        .resolve(id, json!({"resolution": "answered", "value": value}))
        .await
        .expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_agent_gets_the_answer_and_then_asks_anew() {
    let hub = Hub::start().await;
    let shell = Shell::join(&hub).await;
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
    assert_eq!(shell.look(&first).await["collected"], true);
    assert!(item(&hub, &first).await["fetched_at"].is_string());
    let second = shell.ask("# Ship it?\nAll green.").await;
    assert_ne!(id(&second), first, "the same words after the answer are a new question");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_words_lead_back_to_the_open_cue_and_to_an_answer_nobody_waited_for() {
    let hub = Hub::start().await;
    let shell = Shell::join(&hub).await;
    let first = shell.ask_for_id("Ship it?").await;
    assert_eq!(id(&shell.again("Ship it?").await), first);
    answer(&hub, &first, json!("yes")).await;
    let back = shell.again("Ship it?").await;
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
    let shell = Shell {
        agent_id: "my-own.name".to_owned(),
        ..Shell::join(&hub).await
    };
    let first = shell.ask_for_id("Hello?").await;
    assert_eq!(item(&hub, &first).await["source"]["runtime"], "unknown");
    assert_eq!(id(&shell.again("Hello?").await), first);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_cues_answered_in_reverse_order_each_get_their_own_answer() {
    let hub = Hub::start().await;
    let shell = Shell::join(&hub).await;
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
    let shell = Shell::join(&hub).await;
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
    let shell = Shell::join(&hub).await;
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
        let mut body = shell.words(prompt);
        body["payload"] = payload;
        let ack = shell.post(&body).await.expect(201);
        assert_eq!(ack["warning"], Value::Null);
        answer(&hub, &id(&ack), value).await;
        assert_eq!(shell.outcome(&id(&ack)).await["reply"]["text"], text);
    }
    let mut body = shell.words("g");
    body["payload"] = json!({"type": "poll", "of": [1, 2]});
    let ack = shell.post(&body).await.expect(201);
    assert!(
        ack["warning"].as_str().is_some_and(|warning| warning.contains("poll")),
        "{ack}"
    );
    assert_eq!(item(&hub, &id(&ack)).await["context"][0]["data"], body["payload"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_goes_on_with_one_click_or_a_word() {
    let hub = Hub::start().await;
    let shell = Shell::join(&hub).await;
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
async fn of_five_megabytes_the_item_shows_the_start_and_the_rest_is_a_click_away() {
    let hub = Hub::start().await;
    let shell = Shell::join(&hub).await;
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
    assert_eq!(shell.again(&prompt).await["id"], id);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_at_once_with_the_same_words_are_one_cue() {
    let hub = Hub::start().await;
    let shell = Shell::join(&hub).await;
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let shell = shell.clone();
        asking.spawn(async move { shell.post(&shell.words("Ship it?")).await });
    }
    let replies = within("ten replies", asking.join_all()).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1);
    let ids: std::collections::BTreeSet<String> = replies.iter().map(|reply| id(&reply.json())).collect();
    assert_eq!(ids.len(), 1);
}

async fn kept(shell: &Shell) -> Vec<Value> {
    let told = shell
        .api
        .get(&format!("/v1/hap/agents/{}/kept", shell.agent_id))
        .await
        .expect(200);
    told["kept"].as_array().expect("a list").clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_while_nobody_waited_is_kept_and_what_is_being_printed_is_not() {
    let hub = Hub::start().await;
    let shell = Shell::join(&hub).await;
    let left = shell.ask_for_id("Left?").await;
    let held = shell.ask_for_id("Held?").await;
    shell.waiting(&hub, &left).await.abort();
    until_gone(&hub, &left).await;
    let process = shell.waiting(&hub, &held).await;
    answer(&hub, &held, json!("for the process")).await;
    answer(&hub, &left, json!("for nobody")).await;
    let told = kept(&shell).await;
    assert_eq!((told.len(), &told[0]["id"]), (1, &json!(left)), "{told:?}");
    assert_eq!(
        (&told[0]["title"], &told[0]["reply"]["text"]),
        (&json!("Left?"), &json!("for nobody"))
    );
    assert_eq!(
        process.await.expect("a reply").expect(200)["reply"]["text"],
        "for the process"
    );
    eventually("a process that did not collect it is given up", async || {
        (kept(&shell).await.len() == 2).then_some(())
    })
    .await;
    shell.collect(&held).await;
    shell.collect(&left).await;
    assert!(kept(&shell).await.is_empty());
}

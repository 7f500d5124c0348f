//! Undo on pages without scripts.

use super::{LONG, response, with_undo};
use crate::harness::*;
use crate::web::{Page, WebClient};

async fn open(client: &WebClient, id: &str) -> Page {
    client.get(&format!("/inbox/items/{id}")).await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_shown_as_on_hold_and_taken_back_with_a_form() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let id = bot
        .accepted(&resolvers(ask("bot"), &["human:owner", "human:ann"]))
        .await;
    let owner = WebClient::signed_in(&hub).await;
    let ann = WebClient::as_person(&hub, "ann", "resolver").await;
    let anns_form = open(&ann, &id).await;
    let page = open(&owner, &id).await;
    let approve = Some(("value", "approve"));
    let held = owner.submit(&page, "form#answer", &[], approve).await.expect(200);
    let text = held.text_at("#held");
    assert!(text.contains("Approved.") && text.contains("It is sent in"), "{text}");
    assert_eq!(held.count("#answer"), 0);

    let watching = open(&ann, &id).await;
    let text = watching.text_at("#held");
    assert!(
        text.contains("owner is answering this") && !text.contains("Approve"),
        "{text}"
    );
    assert_eq!(watching.count("#answer, #undo"), 0);
    let list = ann.get("/inbox").await.expect(200);
    assert_eq!(list.text_at(&format!("#row-{id} .badge.held")), "owner is answering");
    let second = ann
        .submit(&anns_form, "form#answer", &[], Some(("value", "deny")))
        .await;
    second.expect(409);

    let back = owner.submit(&held, "form#undo", &[], None).await.expect(200);
    assert_eq!(
        (back.url.as_str(), back.count("#answer")),
        (format!("/inbox/items/{id}").as_str(), 1)
    );
    assert_eq!(bot.pull(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_after_the_hold_says_that_the_answer_was_sent() {
    let hub = with_undo(1).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &id).await;
    let held = owner
        .submit(&page, "form#answer", &[], Some(("value", "approve")))
        .await;
    bot.outcome(&id).await;
    let late = owner.submit(&held, "form#undo", &[], None).await.expect(409);
    assert!(late.text_at("#notice").contains("Too late to undo"), "{}", late.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_of_a_batch_are_held_one_by_one() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&ask("bot")).await;
    let second = bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let csrf = open(&owner, &first).await.field("csrf").expect("a token");
    let fields = [
        ("csrf", csrf.as_str()),
        ("verdict", "approve"),
        ("id", first.as_str()),
        ("id", second.as_str()),
    ];
    let done = owner.post("/inbox/batch", &fields).await.expect(200);
    assert_eq!((done.count("#done li"), done.count("#undo-hint")), (2, 1));
    let held = open(&owner, &second).await;
    owner.submit(&held, "form#undo", &[], None).await.expect(200);
    for (id, is_held) in [(&first, true), (&second, false)] {
        let item = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
        assert_eq!(item["held"].is_object(), is_held, "{item}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_taken_back_with_one_form() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let ids = [bot.accepted(&ask("bot")).await, bot.accepted(&ask("bot")).await];
    let owner = WebClient::signed_in(&hub).await;
    let review = owner
        .get(&format!("/inbox/batch?verdict=deny&id={}&id={}", ids[0], ids[1]))
        .await;
    let done = owner.submit(&review, "form#confirm", &[], None).await.expect(200);
    let back = owner.submit(&done, "form#undo-all", &[], None).await.expect(200);
    assert_eq!(back.text_at("h1"), "Taken back: 2 of 2");
    assert_eq!(back.count("form#undo-all"), 0);
    for id in &ids {
        let item = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
        assert!(item["held"].is_null() && item["status"] == "open", "{item}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn snoozed_items_and_archived_notices_are_taken_back_with_one_form() {
    let hub = with_undo(0).start().await;
    let bot = hub.agent("bot").await;
    let owner = WebClient::signed_in(&hub).await;
    for (action, list, message) in [
        ("aside", "/inbox", ask("bot")),
        ("archive", "/inbox/notices", notify("bot")),
    ] {
        let id = bot.accepted(&message).await;
        let review = owner.get(&format!("/inbox/batch?verdict={action}&id={id}")).await;
        let done = owner.submit(&review, "form#confirm", &[], None).await.expect(200);
        let is_listed = async || owner.get(list).await.count(&format!("#row-{id}")) == 1;
        assert!(!is_listed().await, "{action}");
        owner.submit(&done, "form#undo-all", &[], None).await.expect(200);
        assert!(is_listed().await, "{action}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_undo_time_is_a_setting_of_each_person() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let owner = WebClient::signed_in(&hub).await;
    let settings = owner.get("/inbox/settings").await.expect(200);
    assert_eq!(
        settings
            .attribute("#undo-form input[name=undo_seconds]", "value")
            .as_deref(),
        Some("20")
    );
    for wrong in ["31", "-1", "soon"] {
        let refused = owner
            .submit(&settings, "form#undo-form", &[("undo_seconds", wrong)], None)
            .await;
        refused.expect(422);
    }
    owner
        .submit(&settings, "form#undo-form", &[("undo_seconds", "0")], None)
        .await
        .expect(200);
    let id = bot.accepted(&ask("bot")).await;
    let page = open(&owner, &id).await;
    let after = owner
        .submit(&page, "form#answer", &[], Some(("value", "approve")))
        .await;
    assert_eq!(after.expect(200).count("#outcome"), 1);
    assert_eq!(response(&bot.pull(&id).await)["value"], "approve");
}

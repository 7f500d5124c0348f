//! Batch decisions: a preview, then one decision per item.

use serde_json::json;

use super::list::{csrf, titled, titles};
use super::{Page, WebClient};
use crate::harness::*;

fn review_of(verdict: &str, ids: &[&str]) -> String {
    let ids: String = ids.iter().map(|id| format!("&id={id}")).collect();
    format!("/inbox/batch?verdict={verdict}{ids}")
}

/// The entry of an item in one of the lists on the page.
#[track_caller]
fn entry_text(page: &Page, list: &str, id: &str) -> String {
    page.text_at(&format!("#{list} > [data-id={id}]"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_approval_is_previewed_item_by_item() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let plain = bot.accepted(&ask("bot")).await;
    let mut own = ask("bot");
    own["request"]["options"] = json!([{"value": "go", "label": "Go"}, {"value": "stop", "label": "Stop"}]);
    let own = bot.accepted(&own).await;
    let choice = bot.accepted(&select("bot")).await;
    let work = bot.accepted(&task("bot")).await;
    let notice = bot.accepted(&notify("bot")).await;
    hub.person("alice", "resolver").await;
    let theirs = bot.accepted(&resolvers(ask("bot"), &["human:alice"])).await;
    let over = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&over, "deny").await.expect(200);
    let mut withdrawn = ask("bot");
    withdrawn["request"]["permissions"] = json!({"allow_respond": false});
    let withdrawn = bot.accepted(&withdrawn).await;
    let gone = "msg_00000000000000000000000000";
    let owner = WebClient::signed_in(&hub).await;
    let ids = [
        &plain, &own, &choice, &work, &notice, &theirs, &over, &withdrawn, gone, "nonsense",
    ];
    let page = owner.get(&review_of("approve", &ids)).await.expect(200);
    assert_eq!(page.text_at("h1"), "Approve 1 of 9 selected");
    assert!(entry_text(&page, "going", &plain).ends_with("will be answered “Approve”"));
    for (id, why) in [
        (own.as_str(), "does not offer “approve”"),
        (&choice, "asks for something else (choose one)"),
        (&work, "it is a task"),
        (&notice, "it is a notice"),
        (&theirs, "only other people can answer it"),
        (&over, "already denied, by owner"),
        (&withdrawn, "accepts no answer"),
        (gone, "no such message"),
    ] {
        let left = entry_text(&page, "left", id);
        assert!(left.contains(why), "{left}");
    }
    assert_eq!(bot.pull(&plain).await["status"], "open", "looking decides nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_decides_each_item_and_reports_failures_with_the_reason() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut ids = Vec::new();
    for nth in 0..4 {
        ids.push(bot.accepted(&titled(ask("bot"), &format!("ask {nth}"))).await);
    }
    let owner = WebClient::signed_in(&hub).await;
    let list = owner.get("/inbox").await;
    let picked: Vec<&str> = ids[..3].iter().map(String::as_str).collect();
    let filled: Vec<(&str, &str)> = picked.iter().map(|id| ("id", *id)).collect();
    let review = owner
        .submit(&list, "form#batch", &filled, Some(("verdict", "deny")))
        .await
        .expect(200);
    assert_eq!(review.text_at("#do"), "Deny 3");
    // Another person decides one of them first.
    hub.owner.answer(&ids[1], "approve").await.expect(200);
    let done = owner
        .submit(&review, "form#confirm", &[("reason", " not in May ")], None)
        .await
        .expect(200);
    assert_eq!(done.text_at("h1"), "Denied: 2 of 3");
    assert!(entry_text(&done, "done", &ids[0]).ends_with("answered “Deny”"));
    assert!(entry_text(&done, "failed", &ids[1]).contains("already approved, by owner"));
    let response = bot.pull(&ids[2]).await["response"]["response"].clone();
    assert_eq!(
        [&response["value"], &response["comment"], &response["actor"]],
        ["deny", "not in May", "human:owner"]
    );
    assert_eq!(bot.pull(&ids[1]).await["response"]["response"]["value"], "approve");
    assert_eq!(titles(&owner.get("/inbox").await), ["ask 3"]);
    // A second submit does nothing.
    let again = owner.submit(&review, "form#confirm", &[], None).await.expect(200);
    assert_eq!(again.text_at("h1"), "Denied: 0 of 3");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_decline_skips_items_that_may_not_be_declined() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let form = bot.accepted(&input("bot")).await;
    let choice = bot.accepted(&select("bot")).await;
    let mut must = ask("bot");
    must["request"]["permissions"] = json!({"allow_ignore": false});
    let must = bot.accepted(&must).await;
    let owner = WebClient::signed_in(&hub).await;
    let review = owner
        .get(&review_of("decline", &[&form, &choice, &must]))
        .await
        .expect(200);
    assert!(entry_text(&review, "left", &must).contains("it cannot be skipped"));
    let done = owner.submit(&review, "form#confirm", &[], None).await.expect(200);
    assert_eq!(done.text_at("h1"), "Skipped: 2 of 2");
    assert_eq!(bot.pull(&form).await["status"], "declined");
    assert_eq!(bot.pull(&must).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_items_are_snoozed_or_archived_at_once() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let ask_id = bot.accepted(&ask("bot")).await;
    let task_id = bot.accepted(&task("bot")).await;
    let one = bot.accepted(&notify("bot")).await;
    let two = bot.accepted(&notify("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let review = owner
        .get(&review_of("aside", &[&ask_id, &task_id, &one]))
        .await
        .expect(200);
    assert!(entry_text(&review, "left", &one).contains("archive it"));
    let wrong = owner
        .submit(
            &review,
            "form#confirm",
            &[("until", "at"), ("at", "2020-01-01T00:00")],
            None,
        )
        .await;
    let wrong = wrong.expect(422);
    assert_eq!(
        wrong.field("at").as_deref(),
        Some("2020-01-01T00:00"),
        "nothing typed is lost"
    );
    assert!(wrong.text_at("#error-until").contains("within 90 days"));
    let done = owner
        .submit(&wrong, "form#confirm", &[("until", "monday")], None)
        .await
        .expect(200);
    assert_eq!(done.text_at("h1"), "Snoozed: 2 of 2");
    assert_eq!(titles(&owner.get("/inbox").await).len(), 0);
    assert_eq!(titles(&owner.get("/inbox/aside").await).len(), 2);
    let review = owner
        .get(&review_of("archive", &[&one, &two, &ask_id]))
        .await
        .expect(200);
    assert!(entry_text(&review, "left", &ask_id).contains("only notices are archived"));
    let done = owner.submit(&review, "form#confirm", &[], None).await.expect(200);
    assert_eq!(done.attribute("#onwards", "href").as_deref(), Some("/inbox/notices"));
    assert_eq!(titles(&owner.get("/inbox/notices").await).len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_too_long_reason_stays_on_the_page() {
    let hub = Hub::start().await;
    let id = hub.agent("bot").await.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let review = owner.get(&review_of("deny", &[&id])).await;
    let long = "x".repeat(20_001);
    let refused = owner
        .submit(&review, "form#confirm", &[("reason", &long)], None)
        .await
        .expect(422);
    assert_eq!(refused.field("reason"), Some(long));
    assert_eq!(refused.count(".error"), 1);
    assert_eq!(titles(&owner.get("/inbox").await).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_multi_line_batch_reason_reaches_the_agents() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let review = owner.get(&review_of("deny", &[&id])).await;
    owner
        .submit(&review, "form#confirm", &[("reason", "two\r\nlines")], None)
        .await
        .expect(200);
    assert_eq!(bot.pull(&id).await["response"]["response"]["comment"], "two\nlines");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_and_a_foreign_form_decide_nothing() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot
        .accepted(&resolvers(ask("bot"), &["human:eve", "human:owner"]))
        .await;
    let eve = WebClient::as_person(&hub, "eve", "viewer").await;
    let review = eve.get(&review_of("approve", &[&id])).await.expect(200);
    assert!(entry_text(&review, "left", &id).contains("only other people can answer it"));
    assert_eq!(review.count("form#confirm"), 0);
    let fields = [
        ("csrf", csrf(&review)),
        ("verdict", "approve".to_owned()),
        ("id", id.clone()),
    ];
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let done = eve.post("/inbox/batch", &fields).await.expect(200);
    assert!(entry_text(&done, "failed", &id).contains("only other people can answer it"));
    let owner = WebClient::signed_in(&hub).await;
    owner
        .post("/inbox/batch", &[("verdict", "approve"), ("id", &id)])
        .await
        .expect(403);
    owner
        .get("/inbox/batch?verdict=approve")
        .await
        .expect(200)
        .text_at(".empty");
    owner.get("/inbox/batch?verdict=destroy").await.expect(422);
    assert_eq!(bot.pull(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_tasks_are_marked_done_with_their_ticks() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&task("bot")).await;
    let second = bot.accepted(&task("bot")).await;
    let question = bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let review = owner
        .get(&review_of("complete", &[&first, &second, &question]))
        .await
        .expect(200);
    assert!(entry_text(&review, "going", &first).ends_with("will be marked done, with 2 steps open"));
    assert!(entry_text(&review, "left", &question).contains("it is no task"));
    let done = owner.submit(&review, "form#confirm", &[], None).await.expect(200);
    assert_eq!(done.text_at("h1"), "Done: 2 of 2");
    assert_eq!(bot.pull(&second).await["status"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_selects_of_one_agent_are_answered_together() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let abe = hub.agent("abe").await;
    let first = bot.accepted(&select("bot")).await;
    let second = bot.accepted(&select("bot")).await;
    let theirs = abe.accepted(&select("abe")).await;
    let mut other = select("bot");
    other["request"]["options"] = json!([{"value": "red", "label": "Red"}, {"value": "pink", "label": "Pink"}]);
    let other = bot.accepted(&other).await;
    let owner = WebClient::signed_in(&hub).await;
    let ids = [first.as_str(), &second, &theirs, &other];
    let review = owner.get(&review_of("answer", &ids)).await.expect(200);
    assert!(entry_text(&review, "left", &theirs).contains("another agent"));
    assert!(entry_text(&review, "left", &other).contains("other choices"));
    let unpicked = owner.submit(&review, "form#confirm", &[], None).await.expect(422);
    assert!(unpicked.text_at("#error-value").contains("pick one of the choices"));
    let done = owner
        .submit(&unpicked, "form#confirm", &[("value", "green")], None)
        .await
        .expect(200);
    assert_eq!(done.text_at("h1"), "Answered: 2 of 2");
    for id in [&first, &second] {
        assert_eq!(bot.pull(id).await["response"]["response"]["value"], "green");
    }
    assert_eq!(abe.pull(&theirs).await["status"], "open");
}

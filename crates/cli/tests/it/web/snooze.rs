//! Snoozing: an item is hidden until a time, and taken back.

use super::WebClient;
use super::list::{csrf, titled, titles};
use crate::harness::*;

/// The instant in `millis` milliseconds, as a `datetime-local` field sends it in UTC.
fn field_value(millis: i64) -> String {
    from_now(millis)[..19].to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snoozed_item_leaves_the_list_of_one_person_and_can_be_taken_back() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&titled(ask("bot"), "later")).await;
    bot.accepted(&titled(ask("bot"), "now")).await;
    let owner = WebClient::signed_in(&hub).await;
    let csrf = csrf(&owner.get("/inbox").await);
    let fields = [
        ("csrf", csrf.as_str()),
        ("until", "tomorrow"),
        ("tz", "-120"),
        ("back", "/inbox?agent=bot"),
    ];
    let list = owner
        .post(&format!("/inbox/items/{id}/aside"), &fields)
        .await
        .expect(200);
    assert_eq!(
        (list.url.as_str(), titles(&list)),
        ("/inbox?agent=bot", vec!["now".to_owned()])
    );
    assert_eq!(list.text_at("#count"), "1");
    let snoozed = owner.get("/inbox/aside").await.expect(200);
    assert_eq!(titles(&snoozed), ["later"]);
    let until = snoozed.attribute(".row time.until", "data-ms").expect("until when");
    assert_eq!(
        snoozed.attribute(".row time.until", "datetime").expect("an instant")[10..],
        *"T07:00:00.000Z"
    );
    assert_eq!(snoozed.attribute("#rows", "data-returns-at"), Some(until.clone()));
    assert_eq!(list.attribute("#rows", "data-returns-at"), Some(until));
    let alice = WebClient::as_person(&hub, "alice", "viewer").await;
    assert_eq!(titles(&alice.get("/inbox").await), ["later", "now"]);
    let after = owner
        .submit(&snoozed, &format!("/inbox/items/{id}/return"), &[], None)
        .await
        .expect(200);
    assert!(after.text_at(".empty").starts_with("Nothing is snoozed."));
    assert_eq!(titles(&owner.get("/inbox").await), ["later", "now"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snoozed_item_comes_back_by_itself() {
    let hub = Hub::start().await;
    let id = hub.agent("bot").await.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let csrf = csrf(&owner.get("/inbox").await);
    let at = field_value(5000);
    owner
        .post(&format!("/inbox/items/{id}/aside"), &[("csrf", &csrf), ("at", &at)])
        .await
        .expect(200);
    assert_eq!(titles(&owner.get("/inbox/aside").await).len(), 1);
    eventually("the item is back", async || {
        (titles(&owner.get("/inbox").await).len() == 1).then_some(())
    })
    .await;
    assert_eq!(titles(&owner.get("/inbox/aside").await).len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn snoozing_needs_a_future_time_and_an_open_item() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let open = bot.accepted(&ask("bot")).await;
    let over = bot.accepted(&ask("bot")).await;
    let notice = bot.accepted(&notify("bot")).await;
    hub.owner.answer(&over, "approve").await.expect(200);
    let owner = WebClient::signed_in(&hub).await;
    let csrf = csrf(&owner.get("/inbox").await);
    let snooze = async |id: &str, name: &str, value: &str| {
        owner
            .post(&format!("/inbox/items/{id}/aside"), &[("csrf", &csrf), (name, value)])
            .await
    };
    for (name, value) in [
        ("until", "some day"),
        ("at", ""),
        ("at", "2020-01-01T00:00"),
        ("at", "2999-01-01T00:00"),
    ] {
        snooze(&open, name, value).await.expect(422);
    }
    let late = snooze(&over, "until", "1h").await.expect(409);
    assert!(late.text_at("#problem").contains("already answered, by owner"));
    let refused = snooze(&notice, "until", "1h").await.expect(422);
    assert!(refused.text_at("#problem").contains("archive it"));
    snooze("msg_00000000000000000000000000", "until", "1h")
        .await
        .expect(404);
    assert_eq!(titles(&owner.get("/inbox").await).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn snoozing_beyond_the_expiry_is_refused_in_the_web_and_by_the_api() {
    let hub = Hub::start().await;
    let mut question = expiring(ask("bot"), 54 * 60_000);
    question["request"]["default_on_expire"] = "deny".into();
    let id = hub.agent("bot").await.accepted(&question).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get(&format!("/inbox/items/{id}")).await.expect(200);
    assert_eq!(page.count("#aside .whiles button"), 1, "15 minutes only");
    assert!(
        page.text_at("#aside-expiry")
            .contains("will answer “Deny” automatically")
    );
    let token = csrf(&page);
    let fields = [("csrf", token.as_str()), ("until", "tomorrow")];
    let refused = owner
        .post(&format!("/inbox/items/{id}/aside"), &fields)
        .await
        .expect(422);
    let problem = refused.text_at("#problem");
    assert!(
        problem.contains("it expires in 5") && problem.contains("then it will answer “Deny” automatically"),
        "{problem}"
    );
    for (language, texts) in [
        (
            "de",
            [
                "läuft in 5",
                "antwortet automatisch „Ablehnen“; wählen Sie einen früheren",
            ],
        ),
        ("zh", [" 分钟", "届时将自动答复“拒绝”；请选择更早的时间"]),
    ] {
        owner.set_cookie("countersign_look", &format!("system.compact.{language}"));
        let refused = owner
            .post(&format!("/inbox/items/{id}/aside"), &fields)
            .await
            .expect(422);
        let problem = refused.text_at("#problem");
        assert!(texts.iter().all(|text| problem.contains(text)), "{problem}");
    }
    let body = serde_json::json!({"until": from_now(3_600_000)});
    let refused = hub
        .owner
        .post(&format!("/v1/inbox/{id}/aside"), &body)
        .await
        .expect(422);
    assert_eq!(refused["error"]["field"], "until");
    let before = serde_json::json!({"until": from_now(30 * 60_000)});
    hub.owner
        .post(&format!("/v1/inbox/{id}/aside"), &before)
        .await
        .expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_by_another_person_removes_a_snoozed_item() {
    let hub = Hub::start().await;
    let id = hub.agent("bot").await.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let csrf = csrf(&owner.get("/inbox").await);
    owner
        .post(&format!("/inbox/items/{id}/aside"), &[("csrf", &csrf), ("until", "4h")])
        .await
        .expect(200);
    hub.owner.answer(&id, "deny").await.expect(200);
    assert_eq!(titles(&owner.get("/inbox/aside").await).len(), 0);
}

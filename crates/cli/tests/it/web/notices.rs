//! Notices: listed apart from decisions, read and archived.

use super::WebClient;
use super::list::{csrf, titled, titles};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn notices_are_listed_separately_newest_first() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    bot.accepted(&titled(notify("bot"), "older")).await;
    bot.accepted(&titled(ask("bot"), "a question")).await;
    bot.accepted(&titled(notify("bot"), "newer")).await;
    let owner = WebClient::signed_in(&hub).await;
    let notices = owner.get("/inbox/notices").await.expect(200);
    assert_eq!(titles(&notices), ["newer", "older"]);
    assert_eq!(notices.text_at("#notices-count"), "2");
    assert_eq!(notices.count("[value=approve]"), 0);
    assert_eq!(
        notices.count("#rows[data-list=notices] .age"),
        0,
        "nothing of it grows stale"
    );
    assert_eq!(titles(&owner.get("/inbox").await), ["a question"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notice_is_archived_for_one_person_only() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let kept = bot.accepted(&titled(notify("bot"), "kept")).await;
    let id = bot.accepted(&titled(notify("bot"), "read")).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox/notices").await;
    let after = owner
        .submit(&page, &format!("/inbox/items/{id}/archive"), &[], None)
        .await
        .expect(200);
    assert_eq!(after.url, "/inbox/notices");
    assert_eq!(titles(&after), ["kept"]);
    let alice = WebClient::as_person(&hub, "alice", "viewer").await;
    assert_eq!(titles(&alice.get("/inbox/notices").await), ["read", "kept"]);
    // The notice is taken back out of the archive.
    let csrf = csrf(&after);
    owner
        .post(
            &format!("/inbox/items/{id}/return"),
            &[("csrf", &csrf), ("back", "/inbox/notices")],
        )
        .await
        .expect(200);
    assert_eq!(titles(&owner.get("/inbox/notices").await), ["read", "kept"]);
    owner
        .post(
            &format!("/inbox/items/{kept}/archive"),
            &[("csrf", "of another session")],
        )
        .await
        .expect(403);
    assert_eq!(titles(&owner.get("/inbox/notices").await).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_ask_cannot_be_archived() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let owner = WebClient::signed_in(&hub).await;
    let csrf = csrf(&owner.get("/inbox").await);
    for envelope in [ask("bot"), task("bot")] {
        let id = bot.accepted(&envelope).await;
        let refused = owner
            .post(&format!("/inbox/items/{id}/archive"), &[("csrf", &csrf)])
            .await
            .expect(422);
        assert!(refused.text_at("#problem").contains("snooze it instead"));
    }
    owner
        .post("/inbox/items/msg_nonsense/archive", &[("csrf", &csrf)])
        .await
        .expect(404);
    assert_eq!(titles(&owner.get("/inbox").await).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_notice_list_says_so_and_a_long_one_is_paged() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    assert!(
        owner
            .get("/inbox/notices")
            .await
            .text_at(".empty")
            .starts_with("No notices.")
    );
    let bot = hub.agent("bot").await;
    for nth in 0..32 {
        bot.accepted(&titled(notify("bot"), &format!("note {nth}"))).await;
    }
    let first = owner.get("/inbox/notices").await;
    assert_eq!(titles(&first).len(), 30);
    let second = owner
        .get(&first.attribute("a#older", "href").expect("a next page"))
        .await
        .expect(200);
    assert_eq!(titles(&second), ["note 1", "note 0"]);
}

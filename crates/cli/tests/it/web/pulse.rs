//! The page of figures.

use serde_json::json;

use super::WebClient;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn pulse_counts_what_waits_and_how_decisions_ended() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let empty = owner.get("/inbox/pulse").await.expect(200);
    assert_eq!(
        ["#waiting", "#median", "#decided", "#denied", "#defaults"].map(|figure| empty.text_at(figure)),
        ["0", "–", "0", "–", "0"]
    );
    assert_eq!(empty.text_at(".empty"), "Nothing was decided in this time.");

    let [bot, coder] = [hub.agent("bot").await, hub.agent("coder").await];
    for value in ["approve", "approve", "deny"] {
        let id = bot.accepted(&ask("bot")).await;
        hub.owner.answer(&id, value).await.expect(200);
    }
    let refused = coder.accepted(&task("coder")).await;
    hub.owner
        .resolve(&refused, json!({"resolution": "dismissed"}))
        .await
        .expect(200);
    let withdrawn = coder.accepted(&ask("coder")).await;
    coder.cancel(&withdrawn).await.expect(200);
    let mut brief = ask("coder");
    brief["request"]["default_on_expire"] = json!("deny");
    let brief = coder.accepted_briefly(&brief).await;
    coder.outcome(&brief).await;
    coder.accepted(&ask("coder")).await;

    let page = owner.get("/inbox/pulse?days=1").await.expect(200);
    assert_eq!(
        ["#waiting", "#decided", "#denied", "#defaults"].map(|figure| page.text_at(figure)),
        ["1", "4", "50 %", "1"],
        "an expiry and a withdrawal are no decisions"
    );
    assert_eq!(
        page.texts_at("#agents-pulse tbody a"),
        ["BO bot", "CO coder"],
        "the busiest first"
    );
    assert_eq!(page.texts_at("#agents-pulse .share"), ["33 %", "100 %"]);
    assert_eq!(page.count(".chart svg[role=img]"), 2);
    let words = page
        .attribute(".chart svg", "aria-label")
        .expect("the figures in words");
    assert!(
        words.contains("2 approved, done; 2 denied, not done; 1 expired; 1 skipped, withdrawn"),
        "{words}"
    );
    assert_eq!(page.text_at(".segments [aria-current]"), "24 hours");
    owner.get("/inbox/pulse?days=365").await.expect(400);
}

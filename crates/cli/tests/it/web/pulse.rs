//! The page of figures.

use serde_json::json;

use super::WebClient;
use crate::harness::*;
use crate::runs::stage::{Client, person, sequence, template};

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

#[tokio::test(flavor = "multi_thread")]
async fn days_are_those_of_the_readers_zone_and_utc_is_said() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let latest = async |query: &str| {
        let page = owner.get(&format!("/inbox/pulse?{query}")).await.expect(200);
        page.text_at("#latest")
    };
    let utc = latest("days=1").await;
    assert!(utc.ends_with(":00 UTC"), "{utc}");
    owner.set_cookie("countersign_zone", "No/Such_Zone");
    assert!(latest("days=7").await.ends_with(" UTC"));
    // An hour begins at half past in UTC here.
    owner.set_cookie("countersign_zone", "Asia/Kolkata");
    let kolkata = latest("days=1").await;
    assert!(
        kolkata.ends_with(":00") && !utc.starts_with(&kolkata),
        "{kolkata}, {utc}"
    );
    // There are 25 hours between the two: their days are never the same.
    owner.set_cookie("countersign_zone", "Pacific/Kiritimati");
    let ahead = latest("days=7").await;
    owner.set_cookie("countersign_zone", "Pacific/Midway");
    let behind = latest("days=7").await;
    assert_ne!(ahead, behind);
}

#[tokio::test(flavor = "multi_thread")]
async fn pulse_agent_page_and_metrics_count_the_same_denials() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let bot = hub.agent("bot").await;
    let mut secret = ask("bot");
    secret["sensitive"] = json!(true);
    let mut choice = select("bot");
    choice["request"]["options"][0]["value"] = json!("deny");
    for (asked, resolution) in [
        (ask("bot"), json!({"resolution": "answered", "value": "deny"})),
        (ask("bot"), json!({"resolution": "answered", "value": "approve"})),
        (secret, json!({"resolution": "answered", "value": "deny"})),
        (choice, json!({"resolution": "answered", "value": "deny"})),
        (ask("bot"), json!({"resolution": "declined"})),
        (task("bot"), json!({"resolution": "dismissed"})),
    ] {
        let id = bot.accepted(&asked).await;
        hub.owner.resolve(&id, resolution).await.expect(200);
    }
    let page = owner.get("/inbox/pulse").await.expect(200);
    assert_eq!(
        ["#decided", "#denied"].map(|figure| page.text_at(figure)),
        ["6", "40 %"]
    );
    assert!(page.html.contains("2 of 5; 1 skipped"), "{}", page.html);
    assert_eq!(page.texts_at("#agents-pulse .share"), ["40 %"]);
    let about = owner.get("/inbox/agents/bot").await.expect(200);
    assert!(about.html.contains("40 % of 5"), "{}", about.html);
    let scraped = hub.anonymous().get("/metrics").await.text();
    assert!(scraped.contains("countersign_messages_denied_total 2\n"), "{scraped}");
    assert!(scraped.contains("countersign_messages_oldest_seconds 0\n"), "{scraped}");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_of_runs_are_one_row_and_agents_that_only_ask_are_counted() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let mut client = Client::connect(&hub).await;
    for input in ["fish", "bread"] {
        let agents = json!({"draft": template("{{input}}"), "editor": person()});
        client
            .start_strategy(&hub, &sequence(agents, &["draft", "editor"]), input)
            .await;
        client.next_question().await;
    }
    let bot = hub.agent("bot").await;
    let brief = bot.accepted_briefly(&ask("bot")).await;
    bot.outcome(&brief).await;
    let page = owner.get("/inbox/pulse?days=1").await.expect(200);
    assert_eq!(page.texts_at("#agents-pulse tbody a"), ["ED editor in runs", "BO bot"]);
    assert_eq!(page.texts_at("#agents-pulse .received"), ["2", "1"]);
    assert_eq!(page.text_at("#waiting"), "2");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_and_figures_are_in_the_language_of_the_reader() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "deny").await.expect(200);
    bot.accepted(&ask("bot")).await;
    for (language, open, ending, words) in [
        ("de", "1 offen", "Abgelehnt", "1 abgelehnt, nicht erledigt"),
        ("zh", "1 个待处理", "已拒绝", "已拒绝、未完成 1"),
    ] {
        owner.set_cookie("countersign_look", &format!("system.compact.{language}"));
        let list = owner.get("/inbox/agents").await.expect(200);
        assert_eq!(list.text_at("[data-id=bot] .open"), open);
        let conversation = owner.get("/inbox/agents/bot").await.expect(200);
        assert_eq!(conversation.text_at(".answer .ending"), ending);
        let pulse = owner.get("/inbox/pulse").await.expect(200);
        let bars = pulse
            .attribute(".chart svg", "aria-label")
            .expect("the figures in words");
        assert!(bars.contains(words), "{bars}");
    }
}

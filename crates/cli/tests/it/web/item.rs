//! The page of one item: its question, its agent and its outcome.

use countersign_protocol::time::Timestamp;
use countersign_store::ops::message::sweep::Purge;
use serde_json::{Value, json};

use super::list::csrf;
use super::{Page, WebClient};
use crate::harness::*;

pub async fn open(client: &WebClient, id: &str) -> Page {
    client.get(&format!("/inbox/items/{id}")).await.expect(200)
}

fn with_context(mut envelope: Value, parts: Value) -> Value {
    envelope["context"] = parts;
    envelope
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_shows_its_question_agent_and_urgency() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = expiring(ask("bot"), 3_600_000);
    envelope["body"] = json!("All checks are **green**.");
    envelope["priority"] = json!("urgent");
    envelope["tags"] = json!(["two words"]);
    envelope["agent"]["project"] = json!("shop");
    envelope["agent"]["labels"] = json!({"branch": "main"});
    envelope["request"]["default_on_expire"] = json!("deny");
    let id = bot.accepted(&envelope).await;
    let page = open(&WebClient::signed_in(&hub).await, &id).await;
    assert_eq!(page.text_at("h1"), "Deploy build 42?");
    assert!(page.text_at("title").starts_with("Deploy build 42? ·"));
    let at = |name: &str| page.attribute("#item", name).unwrap_or_default();
    assert_eq!(
        [at("data-id"), at("data-status"), at("data-kind")],
        [id, "open".to_owned(), "confirm".to_owned()]
    );
    assert!(page.has("<strong>green</strong>"));
    assert_eq!(page.text_at(".meta-line .priority"), "urgent");
    assert_eq!(
        page.attribute(".meta-line .agent", "href").as_deref(),
        Some("/inbox/agents/bot")
    );
    assert_eq!(
        page.attribute(".tags a", "href").as_deref(),
        Some("/inbox?tag=two%20words")
    );
    let about = page.text_at("#about");
    assert!(
        ["bot", "shop", "run-1", "cli", "branch", "main"]
            .iter()
            .all(|word| about.contains(word)),
        "{about}"
    );
    let expiry = page.text_at(".expiry");
    assert!(expiry.contains("then it will answer “Deny” automatically"), "{expiry}");
    assert_eq!(
        page.attribute(".countdown", "data-at"),
        page.attribute("#item", "data-expires")
    );
    let trail = page.text_at("#trail");
    assert!(trail.contains("agent:bot submitted"), "{trail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_context_part_is_shown() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let parts = json!([
        {"kind": "text", "text": "Some *words*."},
        {"kind": "text", "text": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new"},
        {"kind": "data", "data": {"build": 42}, "metadata": {"from": "ci"}},
        {"kind": "file", "file": {"uri": "https://ci.example/report.pdf", "name": "report.pdf", "mime_type": "application/pdf"}},
        {"kind": "file", "file": {"uri": "javascript:alert(1)", "name": "evil\u{202e}fdp.exe"}},
    ]);
    let id = bot.accepted(&with_context(ask("bot"), parts)).await;
    let page = open(&WebClient::signed_in(&hub).await, &id).await;
    assert_eq!(page.count("section.part"), 5);
    assert!(page.has("<em>words</em>"));
    assert_eq!(
        (page.text_at(".diff .del"), page.text_at(".diff .add")),
        ("old".to_owned(), "new".to_owned())
    );
    assert!(page.count(".json details.tree") >= 1);
    assert_eq!(page.text_at("details.raw pre"), "{ \"build\": 42 }");
    let links = page.count("#content a[href^='https://ci.example/report.pdf'][rel~=noopener][target=_blank]");
    assert_eq!(links, 1);
    assert_eq!(page.count("a[href^='javascript']"), 0);
    assert!(page.text().contains("evil\\u{202e}fdp.exe") && page.text().contains("javascript:alert(1)"));
    assert_eq!(page.count("img[src^=http]"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn private_agent_fields_and_secrets_are_never_on_the_page() {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    let mut envelope = push_to(input("bot"), &receiver.url("/hook?key=URLSECRET"));
    envelope["client_ref"] = json!("CLIENTREF");
    envelope["state"] = json!({"s": "STATESECRET"});
    envelope["request"]["schema"]["properties"]["pin"] = json!({"type": "string", "x-a2h-sensitive": true});
    let id = bot.accepted(&envelope).await;
    let owner = WebClient::signed_in(&hub).await;
    let before = open(&owner, &id).await;
    let value = json!({"reason": "because", "pin": "PINSECRET"});
    hub.owner
        .resolve(&id, json!({"resolution": "answered", "value": value}))
        .await
        .expect(200);
    hub.delivery(&id, "delivered").await;
    let after = open(&owner, &id).await;
    for page in [&before, &after] {
        for secret in ["CLIENTREF", "STATESECRET", "URLSECRET", "PINSECRET"] {
            assert!(!page.has(secret), "{secret} in {}", page.text());
        }
    }
    let answered = after.text_at("#answered");
    assert!(
        answered.contains("reason because") && answered.contains("pin hidden"),
        "{answered}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sensitive_answer_and_its_comment_are_not_shown() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = select("bot");
    envelope["sensitive"] = json!(true);
    let id = bot.accepted(&envelope).await;
    let owner = WebClient::signed_in(&hub).await;
    assert!(open(&owner, &id).await.text_at(".meta-line").contains("sensitive"));
    let answer = json!({"resolution": "answered", "value": "green", "comment": "HUSH"});
    hub.owner.resolve(&id, answer).await.expect(200);
    let page = open(&owner, &id).await;
    assert!(
        page.text_at("#outcome").starts_with("Answered by owner at"),
        "{}",
        page.text_at("#outcome")
    );
    assert!(!page.text_at("#panel").contains("Green") && !page.has("HUSH"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unauthorized_person_sees_the_resolvers_and_no_form() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let victor = WebClient::as_person(&hub, "victor", "viewer").await;
    let id = bot
        .accepted(&resolvers(task("bot"), &["human:owner", "human:victor"]))
        .await;
    for client in [&alice, &victor] {
        let page = open(client, &id).await;
        assert_eq!((page.count("#answer"), page.count("#reject")), (0, 0));
        assert!(page.text_at("#watch .resolvers").contains("owner"));
        assert!(page.text_at(".work").contains("rotate"), "the list can still be read");
    }
    assert!(
        open(&victor, &id)
            .await
            .text_at("#watch")
            .contains("your role is viewer")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn withdrawn_affordances_are_not_offered() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let permitted = |permissions: Value| {
        let mut envelope = select("bot");
        envelope["request"]["permissions"] = permissions;
        envelope
    };
    let owner = WebClient::signed_in(&hub).await;
    let only_answer = open(&owner, &bot.accepted(&permitted(json!({"allow_ignore": false}))).await).await;
    assert_eq!((only_answer.count("#send"), only_answer.count("#reject")), (1, 0));
    assert!(only_answer.text_at(".withdrawn").contains("cannot be skipped"));
    let only_decline = open(&owner, &bot.accepted(&permitted(json!({"allow_respond": false}))).await).await;
    assert_eq!(
        (only_decline.count("#send"), only_decline.count("input.choice")),
        (0, 0)
    );
    assert_eq!(only_decline.attribute("#decline", "value").as_deref(), Some("declined"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notice_is_read_and_archived() {
    let hub = Hub::start().await;
    let id = hub.agent("bot").await.accepted(&notify("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &id).await;
    assert_eq!(page.attribute("#item", "data-kind").as_deref(), Some("notify"));
    assert_eq!((page.count("#answer"), page.count("#aside")), (0, 0));
    let notices = owner.submit(&page, "form#archive", &[], None).await.expect(200);
    assert_eq!((notices.url.as_str(), notices.count(".row")), ("/inbox/notices", 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_and_purged_items_have_their_own_pages() {
    let mut hub = Hub::start().await;
    let id = hub.agent("bot").await.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    hub.interrupt();
    {
        let store = hub.open_store().await;
        let everything = Purge {
            resolved_before: Timestamp::from_millis(i64::MAX),
            limit: 10,
        };
        assert_eq!(store.run(everything).await.expect("a purge"), 1);
    }
    hub.restart().await;
    let owner = WebClient::by_new_link(&hub, "owner").await;
    let gone = owner.get(&format!("/inbox/items/{id}")).await.expect(410);
    assert!(gone.text().contains("No longer kept") && gone.count("nav a#nav-inbox") == 1);
    for unknown in ["msg_00000000000000000000000000", "nonsense", "%FF"] {
        owner.get(&format!("/inbox/items/{unknown}")).await.expect(404);
    }
    let fields = [("csrf", csrf(&gone)), ("value", "approve".to_owned())];
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    owner
        .post(&format!("/inbox/items/{id}/decide"), &fields)
        .await
        .expect(410);
    owner.post("/inbox/items/nonsense/decide", &fields).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_item_says_that_no_person_decided() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut with_default = ask("bot");
    with_default["request"]["default_on_expire"] = json!("deny");
    let defaulted = bot.accepted_briefly(&with_default).await;
    let silent = bot.accepted_briefly(&task("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    for id in [&defaulted, &silent] {
        bot.outcome(id).await;
    }
    let page = open(&owner, &defaulted).await;
    assert_eq!(page.attribute("#item", "data-status").as_deref(), Some("expired"));
    let outcome = page.text_at("#outcome");
    assert!(
        outcome.starts_with("Expired: answered “Deny” by default by Countersign"),
        "{outcome}"
    );
    assert!(outcome.contains("No one answered in time"), "{outcome}");
    let outcome = open(&owner, &silent).await.text_at("#outcome");
    assert!(
        outcome.starts_with("Expired: no answer in time by Countersign"),
        "{outcome}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_delivery_track_runs_from_the_decision_to_the_fetch() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let owner = WebClient::signed_in(&hub).await;
    let waiting = open(&owner, &id).await;
    assert!(waiting.text_at("#outcome").starts_with("Approved by owner at"));
    assert_eq!(waiting.text_at("#track .now"), "Waiting for the agent to fetch it");
    let presence = waiting.text_at(".presence");
    assert!(
        presence.starts_with("Agent online ") && presence.ends_with(" s ago"),
        "{presence}"
    );
    assert_eq!(
        waiting.count(".presence time.age[data-since]"),
        2,
        "it grows while the page is open"
    );
    bot.pull(&id).await;
    let delivery = eventually("the agent has fetched it", async || {
        let page = open(&owner, &id).await;
        (page.count("#track .now") == 0).then(|| page.text_at("#track"))
    });
    let delivery = delivery.await;
    assert!(delivery.contains("Fetched by the agent"), "{delivery}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_agent_is_shown_as_waiting() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let waiter = {
        let bot = bot.bearer(&bot.token);
        let id = id.clone();
        tokio::spawn(async move { bot.outcome(&id).await })
    };
    eventually("the agent is seen waiting", async || {
        (open(&owner, &id).await.text_at(".presence") == "Agent waiting now").then_some(())
    })
    .await;
    hub.owner.answer(&id, "approve").await.expect(200);
    waiter.await.expect("the agent has its answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_delivery_shows_its_error_and_an_owner_can_retry_it() {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    receiver.script("/hook", &[PushReply::Status(404)]);
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/hook"))).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    hub.delivery(&id, "failed").await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let seen_by_alice = open(&alice, &id).await;
    assert_eq!(seen_by_alice.count("#retry"), 0);
    let token = csrf(&seen_by_alice);
    alice
        .post(&format!("/inbox/items/{id}/retry"), &[("csrf", &token)])
        .await
        .expect(403);
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &id).await;
    let failed = page.text_at("#track .failed");
    assert!(
        failed.ends_with(", given up after attempt 1: it answered 404"),
        "{failed}"
    );
    owner.submit(&page, "form#retry", &[], None).await.expect(200);
    receiver.at("/hook", 2).await;
    hub.delivery(&id, "delivered").await;
    let page = open(&owner, &id).await;
    assert!(
        page.text_at("#track").contains("Delivered to"),
        "{}",
        page.text_at("#track")
    );
    assert_eq!(page.count("#retry"), 0);
    assert!(
        page.text_at("#trail")
            .contains("owner asked for the delivery to be tried again")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_delivery_shows_its_next_attempt() {
    let config = "[push]\nfirst_retry_ms = 600000\n";
    let hub = Setup::default()
        .args(&["--allow-loopback-callbacks"])
        .config(config)
        .start()
        .await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    receiver.default_reply(PushReply::Status(503));
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/down"))).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let owner = WebClient::signed_in(&hub).await;
    let step = eventually("the first attempt has failed", async || {
        let page = open(&owner, &id).await;
        let step = page.text_at("#track .now");
        step.contains("attempt 1 failed")
            .then_some((step, page.count("#track .now .then time")))
    });
    let (step, next_try) = step.await;
    assert!(
        step.contains(" yet, attempt 1 failed: it answered 503; next try at 20"),
        "{step}"
    );
    assert_eq!(next_try, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_links_to_the_next_and_the_previous() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.agent("other").await;
    let first = bot.accepted(&ask("bot")).await;
    bot.accepted(&resolvers(ask("bot"), &["agent:other"])).await;
    let third = bot.accepted(&ask("bot")).await;
    let mut pressing = ask("bot");
    pressing["priority"] = json!("urgent");
    let urgent = bot.accepted(&pressing).await;
    let owner = WebClient::signed_in(&hub).await;
    let next = async |id: &str| open(&owner, id).await.attribute("a#next[rel=next]", "href");
    let previous = async |id: &str| open(&owner, id).await.attribute("a#previous[rel=prev]", "href");
    let to = |id: &str| Some(format!("/inbox/items/{id}"));
    assert_eq!(
        (previous(&urgent).await, next(&urgent).await),
        (None, to(&first)),
        "what is urgent comes first"
    );
    assert_eq!(
        (previous(&first).await, next(&first).await),
        (to(&urgent), to(&third)),
        "only theirs"
    );
    assert_eq!((previous(&third).await, next(&third).await), (to(&first), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn skipped_items_do_not_come_back_after_every_decision() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(bot.accepted(&ask("bot")).await);
    }
    let owner = WebClient::signed_in(&hub).await;
    let beside = async |id: &str| {
        let page = open(&owner, id).await;
        ["a#previous", "a#next"].map(|link| page.attribute(link, "href").unwrap_or_default())
    };
    let to = |nth: usize| format!("/inbox/items/{}", ids[nth]);
    hub.owner.answer(&ids[2], "approve").await.expect(200);
    assert_eq!(beside(&ids[2]).await, [to(1), to(3)]);
    hub.owner.answer(&ids[3], "approve").await.expect(200);
    assert_eq!(beside(&ids[3]).await, [to(1), to(0)], "at the end it begins again");
}

#[tokio::test(flavor = "multi_thread")]
async fn text_direction_follows_its_script() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = with_context(select("bot"), json!([{"kind": "text", "text": "שלום עולם"}]));
    envelope["title"] = json!("האם לפרוס?");
    envelope["body"] = json!("הכול ירוק.");
    envelope["request"]["options"] = json!([{"value": "yes", "label": "כן"}, {"value": "no", "label": "לא"}]);
    let id = bot.accepted(&envelope).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &id).await;
    for text in [
        "h1",
        "#body",
        ".part .md",
        ".choices .label",
        "#reject .presets span[dir]",
        "#reason",
        "#comment",
    ] {
        assert_eq!(page.attribute(text, "dir").as_deref(), Some("auto"), "{text}");
    }
    let answer = json!({"resolution": "answered", "value": "yes", "comment": "בהצלחה"});
    hub.owner.resolve(&id, answer).await.expect(200);
    let page = open(&owner, &id).await;
    for text in ["#outcome .said-answer", "#said-comment"] {
        assert_eq!(page.attribute(text, "dir").as_deref(), Some("auto"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_request_for_an_item_gets_only_the_inner_page() {
    let hub = Hub::start().await;
    let id = hub.agent("bot").await.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let request = owner
        .request(reqwest::Method::GET, &format!("/inbox/items/{id}"))
        .header("x-fragment", "main");
    let text = Api::send(request).await.text();
    assert!(
        text.trim_start().starts_with("<title>") && text.contains("<main id=\"main\""),
        "{text}"
    );
    assert!(!text.contains("<body"));
    let stranger = WebClient::anonymous(&hub);
    assert!(
        stranger
            .get(&format!("/inbox/items/{id}"))
            .await
            .url
            .starts_with("/signin?next=")
    );
}

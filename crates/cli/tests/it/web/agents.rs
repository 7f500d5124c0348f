//! Agents as people see them, in a browser without scripts: names, the list, the conversation, and type-ahead.

use serde_json::{Value, json};

use super::item::open;
use super::list::csrf;
use super::{Page, WebClient};
use crate::hap::{TerminalAgent, id, until_gone};
use crate::harness::*;

fn page_of(agent_id: &str) -> String {
    format!("/inbox/agents/{}", agent_id.replace('/', "%2F"))
}

async fn conversation(client: &WebClient, agent_id: &str) -> Page {
    client.get(&page_of(agent_id)).await.expect(200)
}

async fn rename(hub: &Hub, agent_id: &str, name: &str) -> Reply {
    let body = json!({"id": agent_id, "name": name});
    hub.owner.post("/v1/admin/agents/rename", &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_listed_latest_first_with_their_state() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let empty = owner.get("/inbox/terminals").await.expect(200);
    assert_eq!(empty.url, "/inbox/agents", "the earlier address leads here");
    assert!(empty.text_at(".empty").contains("cueme proto apply claude"));
    hub.agent("bot").await;
    let idle = TerminalAgent::join(&hub).await;
    let asking = TerminalAgent::join(&hub).await;
    let first = asking.ask_for_id("One?").await;
    let process = asking.waiting(&hub, &first).await;
    let page = owner.get("/inbox/agents").await.expect(200);
    assert_eq!(page.attribute("#nav-agents", "aria-current").as_deref(), Some("page"));
    assert_eq!(page.count("#rows > .row"), 3);
    assert_eq!(
        page.attribute("#rows > .row", "data-id").as_ref(),
        Some(&asking.agent_id)
    );
    let row = |agent_id: &str| format!(".row[data-id='{agent_id}']");
    let shown = page.text_at(&row(&asking.agent_id));
    for text in [
        "Claude Code · shop · 2",
        &asking.agent_id,
        "/home/ann/shop",
        "asks owner",
        "waiting now",
        "1 open",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert!(page.text_at(&row(&idle.agent_id)).contains("idle"));
    assert!(page.text_at(&row("bot")).contains("bot") && page.count(&format!("{} .here", row("bot"))) == 0);
    process.abort();
    until_gone(&hub, &first).await;
    let page = owner.get("/inbox/agents").await;
    assert!(page.text_at(&row(&asking.agent_id)).contains("gone"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_has_questions_and_answers_with_the_newest_at_the_end() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let first = shell.ask_for_id("# Which port?\nThe **old** one is taken.").await;
    hub.owner.answer(&first, "8080\nor so").await.expect(200);
    let mut body = shell.cue_body("Ship it?");
    body["payload"] = json!({"type": "confirm", "confirm_label": "Ship", "cancel_label": "Hold"});
    let second = id(&shell.post(&body).await.expect(201));
    let page = conversation(&owner, &shell.agent_id).await;
    assert_eq!(page.text_at("h1"), "CS Claude Code · shop");
    assert_eq!(page.text_at("#agent-head .id"), shell.agent_id);
    let places = [&first, &second].map(|id| page.html.find(&format!("id=\"entry-{id}\"")));
    assert!(places[0].is_some() && places[0] < places[1], "{places:?}");
    let answered = page.text_at(&format!("#entry-{first} .answer"));
    assert!(
        answered.contains("8080 or so") && answered.contains("owner"),
        "{answered}"
    );
    assert_eq!(page.count(&format!("#entry-{first} .md strong")), 1);
    assert_eq!(page.text_at(".volume"), "2 messages");
    assert!(
        page.text_at(".denied").contains("0 % of 1"),
        "{}",
        page.text_at(".denied")
    );

    let decide = format!("#entry-{second} form.decide");
    let held = owner
        .submit(&page, &decide, &[], Some(("value", "deny")))
        .await
        .expect(200);
    assert_eq!(held.url, page_of(&shell.agent_id), "it comes back to the conversation");
    assert_eq!(shell.outcome(&second).await["reply"]["text"], "Hold");
    let denied = conversation(&owner, &shell.agent_id).await;
    assert!(denied.text_at(".denied").contains("50 % of 2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_box_at_the_end_answers_the_newest_open_question() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let question = shell.ask_for_id("Which port?").await;
    let page = conversation(&owner, &shell.agent_id).await;
    assert!(page.text_at("#reply label").contains("Which port?"));
    owner
        .submit(&page, "form#reply", &[("value", "8080")], None)
        .await
        .expect(200);
    assert_eq!(shell.outcome(&question).await["reply"]["text"], "8080");
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    shell.ask_for_id("And now?").await;
    let seen = conversation(&alice, &shell.agent_id).await;
    assert_eq!(seen.count("#reply, .ahead-form, .decide, #rename, #credentials"), 0);
    assert!(seen.text_at("#thread").contains("not yours to answer"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_conversation_is_paged_backwards() {
    let hub = Hub::start().await;
    let bot = hub.agent("acme/bot").await;
    let owner = WebClient::signed_in(&hub).await;
    let mut ids = Vec::new();
    for number in 0..35 {
        let mut envelope = notify("acme/bot");
        envelope["title"] = format!("Number {number}").into();
        ids.push(bot.accepted(&envelope).await);
    }
    let latest = conversation(&owner, "acme/bot").await;
    assert_eq!((latest.count(".entry"), latest.count("#latest")), (30, 0));
    assert!(latest.has("Number 34") && !latest.has("Number 4<"));
    let earlier = latest.attribute("#earlier", "href").expect("a link");
    let earlier = owner.get(&earlier).await.expect(200);
    assert_eq!((earlier.count(".entry"), earlier.count("#earlier")), (5, 0));
    assert!(earlier.has("Number 4<") && earlier.count("#reply-box") == 0);
    assert_eq!(earlier.attribute("#latest", "href"), Some(page_of("acme/bot")));
    owner.get("/inbox/agents/acme%2Fbot?before=x").await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn sensitive_answers_are_not_in_the_conversation() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let owner = WebClient::signed_in(&hub).await;
    let mut secret = ask("bot");
    secret["sensitive"] = true.into();
    secret["body"] = "BODY-SECRET".into();
    let id = bot.accepted(&secret).await;
    let before = conversation(&owner, "bot").await;
    assert!(!before.has("BODY-SECRET") && before.count("#reply") == 0);
    let answer = json!({"resolution": "answered", "value": "approve", "comment": "COMMENT-SECRET"});
    hub.owner
        .post(&format!("/v1/messages/{id}/resolve"), &answer)
        .await
        .expect(200);
    let page = conversation(&owner, "bot").await;
    assert!(!page.has("SECRET"), "{}", page.text());
    assert_eq!(page.text_at(".hidden-answer"), "A sensitive answer is not shown.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_given_by_hand_is_on_every_page() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let question = shell.ask_for_id("Which port?").await;
    let page = conversation(&owner, &shell.agent_id).await;
    let renamed = owner
        .submit(&page, "form#rename", &[("name", "  Shop builder ")], None)
        .await
        .expect(200);
    assert_eq!(renamed.text_at("h1"), "SB Shop builder");
    let row = owner.get("/inbox").await.text_at(&format!("#row-{question} .agent"));
    assert_eq!(row, "Shop builder");
    assert_eq!(
        open(&owner, &question).await.text_at(".meta-line .agent"),
        "Shop builder"
    );
    let listed = hub.owner.get("/v1/inbox").await.expect(200);
    assert_eq!(listed["items"][0]["agent_name"], "Shop builder");
    assert_eq!(listed["items"][0]["agent"]["id"], shell.agent_id.as_str());
    let terminals = hub.owner.get("/v1/terminals").await.expect(200);
    assert_eq!(terminals["terminals"][0]["name"], "Shop builder");
    hub.owner.answer(&question, "8080").await.expect(200);
    for past in ["/inbox/history", "/inbox/search?q=port"] {
        let row = owner.get(past).await.text_at(&format!("#row-{question} .agent"));
        assert_eq!(row, "Shop builder", "{past}");
    }
    for list in ["/inbox", "/inbox/history"] {
        let page = owner.get(&format!("{list}?agent={}", shell.agent_id)).await.expect(200);
        assert_eq!(page.text_at("#active .tag"), "agent: Shop builder ✕", "{list}");
    }
    let by_name = owner.get("/inbox/search?q=from:%22shop+build%22").await.expect(200);
    assert_eq!(by_name.count(&format!("#row-{question}")), 1);
    let restored = owner
        .submit(&renamed, "form#rename", &[("name", " ")], None)
        .await
        .expect(200);
    assert_eq!(restored.text_at("h1"), "CS Claude Code · shop");
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_names_are_refused_and_kept_in_the_form() {
    let hub = Hub::start().await;
    hub.agent("bot").await;
    hub.agent("deploybot").await;
    let owner = WebClient::signed_in(&hub).await;
    let page = conversation(&owner, "bot").await;
    for (name, status, error) in [
        ("a\u{202e}b", 422, "hidden"),
        ("two\nlines", 422, "hidden"),
        ("a\u{1b}[2Jb", 422, "hidden"),
        ("zero\u{200b}width", 422, "hidden"),
        (&"x".repeat(81), 422, "at most 80"),
        ("deploybot", 409, "another agent has this name"),
    ] {
        let refused = owner
            .submit(&page, "form#rename", &[("name", name)], None)
            .await
            .expect(status);
        assert!(
            refused.text_at("#error-name").contains(error),
            "{name:?}: {}",
            refused.text()
        );
    }
    let markup = owner
        .submit(&page, "form#rename", &[("name", "<b>\"bold\"</b>")], None)
        .await
        .expect(200);
    assert!(markup.text_at("h1").contains("<b>\"bold\"</b>") && markup.count("h1 b") == 0);
    let form = [("name", "mine")];
    owner.post("/inbox/agents/bot/name", &form).await.expect(403);
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let seen = conversation(&alice, "bot").await;
    let token = csrf(&seen);
    let forged = [("csrf", token.as_str()), ("name", "mine")];
    alice.post("/inbox/agents/bot/name", &forged).await.expect(403);
    owner.get("/inbox/agents/nothing").await.expect(404);
    let refused = rename(&hub, "bot", "a\u{202e}b").await;
    refused.refused("invalid_field");
    assert_eq!(rename(&hub, "bot", "").await.expect(200)["name"], Value::from("bot"));
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_linked_for_owners_only() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let viewer = WebClient::as_person(&hub, "vera", "viewer").await;
    let page = conversation(&owner, "bot").await;
    assert_eq!(
        page.attribute("#credentials a", "href").as_deref(),
        Some("/inbox/settings/agents/one?id=bot")
    );
    let seen = conversation(&viewer, "bot").await;
    assert_eq!(seen.count("#credentials, #rename, .decide, #reply"), 0);
    hub.owner
        .post("/v1/admin/agents/remove", &json!({"id": "bot"}))
        .await
        .expect(200);
    let gone = conversation(&owner, "bot").await;
    assert!(gone.text_at("#agent-head").contains("removed") && gone.count(".entry") == 1);
    assert_eq!(gone.count("#credentials, #rename"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn type_ahead_answers_the_next_question_and_can_be_withdrawn() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = conversation(&owner, &shell.agent_id).await;
    let refused = owner
        .submit(&page, "form.ahead-form", &[("text", "  ")], None)
        .await
        .expect(422);
    assert!(refused.text_at(".ahead .error").contains("blank"), "{}", refused.text());
    let added = owner
        .submit(&page, "form.ahead-form", &[("text", "go\r\non")], None)
        .await
        .expect(200);
    assert_eq!(added.text_at(".aheads .text"), "go on");
    let back = owner
        .submit(&added, "/inbox/terminals/ahead/drop", &[], None)
        .await
        .expect(200);
    assert_eq!(back.url, page_of(&shell.agent_id));
    assert_eq!(back.count(".aheads"), 0);
    owner
        .submit(&added, "/inbox/terminals/ahead/drop", &[], None)
        .await
        .expect(404);

    owner
        .submit(&page, "form.ahead-form", &[("text", "go\r\non")], None)
        .await
        .expect(200);
    let first = shell.ask_for_id("And now?").await;
    assert_eq!(shell.outcome(&first).await["reply"]["text"], "go\non");
    let entry = conversation(&owner, &shell.agent_id).await.text_at(".entry .answer");
    assert!(entry.contains("queued before") && entry.contains("go on"), "{entry}");
    let decided = open(&owner, &first).await;
    assert_eq!(
        decided.text_at("#said-comment"),
        "Written before this question was asked."
    );
    let next = owner
        .submit(&decided, "form.ahead-form", &[("text", "then stop")], None)
        .await
        .expect(200);
    assert_eq!(next.url, format!("/inbox/items/{first}"));
    assert!(next.text_at("#panel .aheads").contains("then stop"));
}

#[tokio::test(flavor = "multi_thread")]
async fn type_ahead_for_another_persons_agent_is_refused() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let page = conversation(&owner, &shell.agent_id).await;
    owner
        .submit(&page, "form.ahead-form", &[("text", "SECRET")], None)
        .await
        .expect(200);
    let seen = conversation(&alice, &shell.agent_id).await;
    assert!(
        !seen.has("SECRET") && seen.text().contains("1 text waits"),
        "{}",
        seen.text()
    );
    assert_eq!(seen.count("form.ahead-form"), 0);
    let token = csrf(&seen);
    let agent = shell.agent_id.as_str();
    let forged = [("csrf", token.as_str()), ("agent", agent), ("text", "mine")];
    alice.post("/inbox/terminals/ahead", &forged).await.expect(403);
    let taken = [("csrf", token.as_str()), ("agent", agent), ("id", "1")];
    alice.post("/inbox/terminals/ahead/drop", &taken).await.expect(404);
    owner
        .post("/inbox/terminals/ahead", &[("agent", agent), ("text", "no token")])
        .await
        .expect(403);
    assert_eq!(conversation(&owner, agent).await.text_at(".aheads .text"), "SECRET");
}

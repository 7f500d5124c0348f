//! Settings pages: personal settings and administration.

use reqwest::Method;
use serde_json::json;

use super::WebClient;
use crate::harness::{Api, Hub, PushReply, Receiver, Setup, ask, push_to};

#[tokio::test]
async fn an_invited_person_signs_in_with_the_link_shown_once() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox/settings/people").await.expect(200);
    let made = owner
        .submit(&page, "form#invite", &[("name", "alice"), ("role", "viewer")], None)
        .await
        .expect(200);
    let link = made.text_at("code.secret");
    assert!(
        made.text_at("#once-title").contains("It signs in once, until 20"),
        "{}",
        made.text_at("#once-title")
    );
    assert!(
        made.attribute("#once-title time[datetime]", "data-ms").is_some(),
        "in the reader's zone"
    );
    assert!(!owner.get("/inbox/settings/people").await.has(&link), "shown once");
    let alice = WebClient::anonymous(&hub);
    alice.redeem(&link).await;
    assert!(alice.get("/inbox").await.expect(200).has("data-person=\"alice\""));
    let again = owner
        .submit(&page, "form#invite", &[("name", "alice"), ("role", "viewer")], None)
        .await;
    assert!(again.expect(422).text().contains("alice already exists"));
}

#[tokio::test]
async fn roles_are_changed_and_the_last_owner_stays() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let alice = WebClient::as_person(&hub, "alice", "viewer").await;
    alice.get("/inbox/settings/people").await.expect(403);
    let page = owner.get("/inbox/settings/people").await;
    let role = "tr#person-alice form[action$='/role']";
    owner.submit(&page, role, &[("role", "owner")], None).await.expect(200);
    // The change applies at once, to the existing session.
    alice.get("/inbox/settings/people").await.expect(200);
    let page = alice.get("/inbox/settings/people").await;
    alice
        .submit(&page, "tr#person-owner form[action$='/remove']", &[], None)
        .await
        .expect(200);
    assert!(
        owner.get("/inbox").await.url.starts_with("/signin"),
        "a removed account is signed out"
    );
    let page = alice.get("/inbox/settings/people").await;
    let refused = alice.submit(&page, role, &[("role", "viewer")], None).await.expect(422);
    assert!(refused.text().contains("the last owner must stay an owner"));
}

#[tokio::test]
async fn an_agents_credentials_are_shown_once_rotated_and_revoked() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox/settings/agents").await.expect(200);
    let made = owner
        .submit(&page, "form#agent-add", &[("id", "acme/bot")], None)
        .await
        .expect(200);
    let token = made.text_at("section.once dd:first-of-type code");
    let bot = hub.anonymous().bearer(&token);
    bot.accepted(&ask("acme/bot")).await;
    let page = owner.get("/inbox/settings/agents/one?id=acme%2Fbot").await.expect(200);
    assert!(!page.has(&token));
    let rotated = owner
        .submit(&page, "form#rotate", &[("overlap_hours", "0")], None)
        .await
        .expect(200);
    let fresh = hub
        .anonymous()
        .bearer(&rotated.text_at("section.once dd:first-of-type code"));
    fresh.accepted(&ask("acme/bot")).await;
    bot.submit(&ask("acme/bot")).await.refused("unauthenticated");
    let refused = owner
        .submit(&page, "form#rotate", &[("overlap_hours", "soon")], None)
        .await
        .expect(422);
    assert_eq!(refused.count("#error-overlap_hours"), 1);
    owner.submit(&page, "form#agent-remove", &[], None).await.expect(200);
    fresh.submit(&ask("acme/bot")).await.refused("unauthenticated");
}

#[tokio::test]
async fn name_of_a_removed_account_is_given_again_with_a_checkbox() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    hub.agent("acme/bot").await;
    hub.person("alice", "resolver").await;
    hub.cli(&["agent", "remove", "acme/bot"]).ok();
    hub.cli(&["person", "remove", "alice"]).ok();
    for (path, form, field, name) in [
        ("/inbox/settings/agents", "form#agent-add", "id", "acme/bot"),
        ("/inbox/settings/people", "form#invite", "name", "alice"),
    ] {
        let page = owner.get(path).await.expect(200);
        assert_eq!(page.count("input[name=reuse]"), 0, "only after a refusal");
        let refused = owner.submit(&page, form, &[(field, name)], None).await.expect(409);
        assert!(refused.text().contains("--reuse"), "{}", refused.text());
        assert_eq!(refused.field(field).as_deref(), Some(name), "the name is still there");
        let unticked = owner.submit(&refused, form, &[(field, name)], None).await;
        let again = unticked.expect(409);
        let made = owner
            .submit(&again, form, &[(field, name), ("reuse", name)], None)
            .await;
        assert_eq!(made.expect(200).count("section.once"), 1);
    }
}

#[tokio::test]
async fn callback_hosts_are_approved_and_failing_deliveries_retried() {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    bot.post("/v1/callbacks", &json!({"host": receiver.host()}))
        .await
        .expect(201);
    let owner = WebClient::signed_in(&hub).await;
    assert!(
        owner
            .get("/inbox/settings/agents")
            .await
            .text()
            .contains("1 callback host to approve")
    );
    let page = owner.get("/inbox/settings/agents/one?id=bot").await;
    owner
        .submit(&page, "#hosts form[action$='/approve']", &[], None)
        .await
        .expect(200);
    receiver.script("/resume", &[PushReply::Status(400)]);
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/resume"))).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    hub.delivery(&id, "failed").await;
    let named = json!({"id": "bot", "name": "Release bot"});
    hub.owner.post("/v1/admin/agents/rename", &named).await.expect(200);
    let page = owner.get("/inbox/settings/deliveries").await;
    assert!(page.text().contains("Release bot"), "{}", page.text());
    assert!(
        page.text().contains(&id) && page.text().contains("it answered 400"),
        "{}",
        page.text()
    );
    assert!(
        owner
            .get("/inbox")
            .await
            .text()
            .contains("1 answer does not reach its agent")
    );
    owner
        .submit(&page, "form[action$='/deliveries/retry']", &[], None)
        .await
        .expect(200);
    hub.delivery(&id, "delivered").await;
    assert!(
        owner
            .get("/inbox/settings/deliveries")
            .await
            .text()
            .contains("Every pushed answer has reached its agent")
    );
}

#[tokio::test]
async fn secrets_are_set_and_never_shown() {
    let hub = Hub::start().await;
    hub.agent("bot").await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get("/inbox/settings/agents/one?id=bot").await;
    let filled = [("name", "env:HOOK"), ("value", "hush-hush-value")];
    let set = owner.submit(&page, "form#secret-add", &filled, None).await.expect(200);
    assert!(set.text().contains("env:HOOK") && !set.has("hush-hush-value"));
    let removed = owner
        .submit(&set, "#secrets form[action$='/secrets/remove']", &[], None)
        .await
        .expect(200);
    assert!(!removed.text().contains("env:HOOK"));
}

#[tokio::test]
async fn a_token_is_created_used_and_revoked() {
    let hub = Hub::start().await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let page = alice.get("/inbox/settings").await.expect(200);
    let made = alice
        .submit(&page, "form#token-add", &[("label", "my laptop")], None)
        .await
        .expect(200);
    let token = made.text_at("section.once dd:nth-of-type(2) code");
    let api = hub.anonymous().bearer(&token);
    api.get("/v1/inbox").await.expect(200);
    let page = alice.get("/inbox/settings").await;
    assert!(page.text_at("#tokens").contains("my laptop") && !page.has(&token));
    let mine = "#tokens li:has([aria-label*='my laptop']) form";
    alice.submit(&page, mine, &[], None).await.expect(200);
    api.get("/v1/inbox").await.refused("unauthenticated");
    let refused = alice
        .submit(&page, "form#token-add", &[("label", " ")], None)
        .await
        .expect(422);
    assert_eq!(refused.count("#error-label"), 1);
}

#[tokio::test]
async fn a_person_sees_and_revokes_the_tokens_of_their_terminals() {
    let hub = Hub::start().await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let make = async |label: &str| {
        let body = json!({"name": "alice", "terminal": true, "label": label});
        let made = hub.owner.post("/v1/admin/people/token", &body).await.expect(200);
        hub.anonymous().bearer(made["token"].as_str().expect("a token"))
    };
    let container = make("the container").await;
    let laptop = make("the laptop").await;
    let page = alice.get("/inbox/settings").await.expect(200);
    assert!(page.text_at("#terminal-tokens").contains("the container") && !page.has("cst_"));
    assert!(
        !page.text_at("#tokens").contains("the container"),
        "they are told apart"
    );
    let page = alice
        .submit(
            &page,
            "#terminal-tokens li:has([aria-label*='the container']) form",
            &[],
            None,
        )
        .await;
    assert!(!page.expect(200).text_at("#terminal-tokens").contains("the container"));
    container
        .post("/v1/hap/join", &json!({}))
        .await
        .refused("unauthenticated");
    laptop.post("/v1/hap/join", &json!({})).await.expect(201);
    let own = WebClient::signed_in(&hub)
        .await
        .get("/inbox/settings")
        .await
        .expect(200);
    assert_eq!(own.count("#terminal-tokens li"), 1, "that of hub.json");
    assert_eq!(own.count("#terminal-tokens form"), 0);
}

#[tokio::test]
async fn changing_a_password_needs_the_current_one() {
    let hub = Hub::start().await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let page = alice.get("/inbox/settings").await;
    let differ = [("password", "correct horse battery"), ("again", "correct horse battle")];
    let refused = alice
        .submit(&page, "form#password-form", &differ, None)
        .await
        .expect(422);
    assert_eq!(refused.count("#error-again"), 1);
    let first = [
        ("password", "correct horse battery"),
        ("again", "correct horse battery"),
    ];
    let page = alice
        .submit(&page, "form#password-form", &first, None)
        .await
        .expect(200);
    assert!(page.text().contains("Your password is set."));
    let guess = [
        ("current", "a wrong guess"),
        ("password", "something else 1"),
        ("again", "something else 1"),
    ];
    let refused = alice
        .submit(&page, "form#password-form", &guess, None)
        .await
        .expect(422);
    assert_eq!(refused.count("#error-current"), 1);
}

#[tokio::test]
async fn a_new_password_ends_every_other_session() {
    let hub = Hub::start().await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let there = WebClient::by_new_link(&hub, "alice").await;
    let bob = WebClient::as_person(&hub, "bob", "resolver").await;
    assert_eq!(there.get("/inbox").await.expect(200).url, "/inbox");
    let page = alice.get("/inbox/settings").await.expect(200);
    assert!(
        page.text_at("#password-form")
            .contains("signs you out in all other browsers")
    );
    let new = [
        ("password", "correct horse battery"),
        ("again", "correct horse battery"),
    ];
    let page = alice.submit(&page, "form#password-form", &new, None).await.expect(200);
    assert!(page.text().contains("All other sessions have ended."));
    assert!(there.get("/inbox").await.url.starts_with("/signin"), "at once");
    for stays in [&alice, &bob] {
        assert_eq!(stays.get("/inbox").await.expect(200).url, "/inbox");
    }
}

#[tokio::test]
async fn preset_reasons_of_an_owner_are_offered_to_all_people() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let owner = WebClient::signed_in(&hub).await;
    owner
        .offer_reasons("Not on a Friday\n\n  Ask the on-call first  \n")
        .await;
    let id = bot.accepted(&ask("bot")).await;
    let item = owner.get(&format!("/inbox/items/{id}")).await.expect(200);
    assert_eq!(
        item.count("#reject input[name=preset]:not([value=''])"),
        2,
        "{}",
        item.html
    );
    assert!(item.text_at("#reject").contains("Ask the on-call first"));
}

#[tokio::test]
async fn preset_reasons_of_an_owner_are_in_the_api() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let vic = hub.person("vic", "viewer").await;
    let before = vic.get("/v1/presets").await.expect(200);
    assert_eq!(before["reject"][0], "Too risky");
    WebClient::signed_in(&hub)
        .await
        .offer_reasons("Not on a Friday\n\n  Ask the on-call first  \n")
        .await;
    let expected = json!({"reject": ["Not on a Friday", "Ask the on-call first"]});
    for person in [&vic, &hub.owner] {
        assert_eq!(person.get("/v1/presets").await.expect(200), expected);
    }
    bot.get("/v1/presets").await.refused("not_authorized");
    hub.anonymous().get("/v1/presets").await.refused("unauthenticated");
    WebClient::by_new_link(&hub, "owner").await.offer_reasons("").await;
    assert_eq!(vic.get("/v1/presets").await.expect(200), json!({"reject": []}));
}

#[tokio::test]
async fn settings_need_a_session_and_admin_pages_an_owner() {
    let hub = Hub::start().await;
    hub.agent("bot").await;
    let stranger = WebClient::anonymous(&hub);
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    for page in ["people", "agents", "agents/one?id=bot", "deliveries", "presets"] {
        let path = format!("/inbox/settings/{page}");
        assert!(stranger.get(&path).await.url.starts_with("/signin"), "{path}");
        alice.get(&path).await.expect(403);
    }
    for path in [
        "people",
        "people/role",
        "people/remove",
        "agents",
        "agents/rotate",
        "agents/remove",
        "presets",
    ] {
        let reply = Api::send(alice.request(Method::POST, &format!("/inbox/settings/{path}"))).await;
        assert_eq!(reply.status, 403, "{path} without the form's token: {}", reply.text());
    }
}

#[tokio::test]
async fn settings_and_refusals_are_in_the_chosen_language_and_only_the_words_change() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    hub.agent("acme/bot").await;
    for (language, title, role, refusal) in [
        ("de", "Personen", "Entscheider", "muss Inhaber bleiben"),
        ("zh", "人员", "答复者", "最后一位所有者必须保留"),
    ] {
        owner.set_cookie("countersign_look", &format!("system.compact.{language}"));
        let page = owner.get("/inbox/settings/people").await.expect(200);
        assert_eq!(page.text_at(".tabs [aria-current=page]"), title);
        assert_eq!(page.text_at("#person-owner option[value=resolver]"), role);
        assert_eq!(page.field("role").as_deref(), Some("resolver"), "values stay");
        let change = "tr#person-owner form[action$='/role']";
        let refused = owner
            .submit(&page, change, &[("role", "viewer")], None)
            .await
            .expect(422);
        assert!(refused.text_at("#error-role").contains(refusal));
        for path in ["/inbox/settings", "/inbox/settings/agents/one?id=acme%2Fbot"] {
            let text = owner.get(path).await.expect(200).text();
            let left = ["Remove", "since", "Settings"].map(|word| text.contains(word));
            assert_eq!(left, [false; 3], "{path} in {language}: {text}");
        }
    }
}

//! Decisions on a page with plain forms.

use serde_json::{Value, json};

use super::WebClient;
use super::item::open;
use super::list::csrf;
use crate::harness::*;

const ANSWERED: Option<(&str, &str)> = Some(("verdict", "answered"));

fn value(message: &Value) -> &Value {
    &message["response"]["response"]["value"]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_choice_is_sent_and_the_page_shows_the_outcome() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &id).await;
    assert_eq!(
        page.attribute("button.choice[data-role=approve]", "data-key")
            .as_deref(),
        Some("1")
    );
    assert_eq!(
        page.attribute("button.choice[data-role=deny]", "value").as_deref(),
        Some("deny")
    );
    let after = owner
        .submit(
            &page,
            "form#answer",
            &[("comment", "go\r\non")],
            Some(("value", "approve")),
        )
        .await;
    let after = after.expect(200);
    assert_eq!(after.url, format!("/inbox/items/{id}"));
    assert!(after.text_at("#outcome").starts_with("Approved by owner at"));
    assert_eq!(after.text_at("#said-comment"), "go on");
    let message = bot.pull(&id).await;
    assert_eq!(value(&message), "approve");
    assert_eq!(message["response"]["response"]["comment"], "go\non");
}

#[tokio::test(flavor = "multi_thread")]
async fn enter_in_a_field_submits_no_choice() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let owner = WebClient::signed_in(&hub).await;
    for envelope in [ask("bot"), select("bot"), input("bot"), task("bot")] {
        let page = open(&owner, &bot.accepted(&envelope).await).await;
        let first = "#answer button";
        assert!(
            page.attribute(first, "disabled").is_some(),
            "the first button of a form is the one Enter presses"
        );
        assert_eq!(page.count("#panel [autofocus]"), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_get_request_never_decides() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    owner
        .get(&format!("/inbox/items/{id}?value=approve&verdict=answered"))
        .await
        .expect(200);
    let instead = owner
        .get(&format!("/inbox/items/{id}/decide?value=approve"))
        .await
        .expect(200);
    assert_eq!(instead.url, format!("/inbox/items/{id}"));
    let foreign = owner
        .post(&format!("/inbox/items/{id}/decide"), &[("value", "approve")])
        .await;
    foreign.expect(403);
    let wrong = [("csrf", "wrong"), ("value", "approve")];
    owner
        .post(&format!("/inbox/items/{id}/decide"), &wrong)
        .await
        .expect(403);
    assert_eq!(bot.pull(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_sends_its_preset_and_its_reason() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let confirm = bot.accepted(&ask("bot")).await;
    let choice = bot.accepted(&select("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &confirm).await;
    let filled = [("preset", "Too risky"), ("reason", "Not on a Friday.")];
    owner
        .submit(&page, "form#answer", &filled, Some(("verdict", "denied")))
        .await
        .expect(200);
    let message = bot.pull(&confirm).await;
    assert_eq!(
        (message["status"].as_str(), value(&message).as_str()),
        (Some("answered"), Some("deny"))
    );
    assert_eq!(
        message["response"]["response"]["comment"],
        "Too risky\nNot on a Friday."
    );
    let page = open(&owner, &choice).await;
    owner
        .submit(
            &page,
            "form#answer",
            &[("reason", "neither")],
            Some(("verdict", "declined")),
        )
        .await
        .expect(200);
    let message = bot.pull(&choice).await;
    assert_eq!(
        (&message["status"], &message["response"]["response"]["comment"]),
        (&json!("declined"), &json!("neither"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reason_is_not_lost_when_the_plain_choice_is_pressed() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &id).await;
    let filled = [
        ("preset", "Too risky"),
        ("reason", "Not on a Friday."),
        ("comment", "Ask on Monday."),
    ];
    let after = owner
        .submit(&page, "form#answer", &filled, Some(("value", "deny")))
        .await
        .expect(200);
    assert_eq!(
        after.text_at("#said-comment"),
        "Too risky Not on a Friday. Ask on Monday."
    );
    let message = bot.pull(&id).await;
    assert_eq!(value(&message), "deny");
    assert_eq!(
        message["response"]["response"]["comment"],
        "Too risky\nNot on a Friday.\nAsk on Monday."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn rejecting_a_confirm_with_custom_options_declines_it() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = ask("bot");
    envelope["request"]["options"] = json!([{"value": "hold", "label": "Hold"}, {"value": "ship", "label": "Ship"}]);
    let id = bot.accepted(&envelope).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &id).await;
    assert_eq!(
        (page.count("button.choice[data-role='']"), page.count("#only-decline")),
        (2, 0)
    );
    assert_eq!(page.text_at("#decline"), "Skip with this reason");
    owner
        .submit(
            &page,
            "form#answer",
            &[("reason", "neither")],
            Some(("verdict", "declined")),
        )
        .await
        .expect(200);
    let message = bot.pull(&id).await;
    assert_eq!(
        (&message["status"], &message["response"]["response"]["comment"]),
        (&json!("declined"), &json!("neither"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_built_in_reasons_are_offered() {
    let hub = Hub::start().await;
    let id = hub.agent("bot").await.accepted(&ask("bot")).await;
    let page = open(&WebClient::signed_in(&hub).await, &id).await;
    let presets = page.count("#reject input[name=preset]");
    assert!(presets > 2, "built-in reasons and none: {presets}");
    assert_eq!(
        page.attribute("#reject input[name=preset][checked]", "value")
            .as_deref(),
        Some("")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_built_in_reasons_are_in_the_language_of_the_reader_and_sent_as_shown() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    owner.set_cookie("countersign_look", "system.compact.de");
    let page = open(&owner, &id).await;
    assert_eq!(
        page.attribute("#reject input[name=preset]", "value").as_deref(),
        Some("Zu riskant")
    );
    let settings = owner.get("/inbox/settings/presets").await.expect(200);
    assert!(
        settings
            .field("lines")
            .is_some_and(|lines| lines.contains("Zu riskant"))
    );
    owner.offer_reasons("Too risky").await;
    let page = open(&owner, &id).await;
    assert_eq!(
        page.attribute("#reject input[name=preset]", "value").as_deref(),
        Some("Too risky"),
        "reasons of an owner stay as they are"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_choice_and_free_text_exclude_each_other() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut editable = a2h(select("bot"), "0.6");
    editable["request"]["permissions"] = json!({"allow_edit": true});
    let picked = bot.accepted(&select("bot")).await;
    let worded = bot.accepted(&editable).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &picked).await;
    assert_eq!(page.count("[name=typed]"), 0);
    let none = owner.submit(&page, "form#answer", &[], ANSWERED).await.expect(422);
    assert_eq!(none.text_at("#error-value"), "pick a choice");
    owner
        .submit(&none, "form#answer", &[("value", "green")], ANSWERED)
        .await
        .expect(200);
    assert_eq!(value(&bot.pull(&picked).await), "green");
    let page = open(&owner, &worded).await;
    let both = owner
        .submit(&page, "form#answer", &[("value", "green"), ("typed", "red")], ANSWERED)
        .await
        .expect(422);
    assert_eq!(
        (both.count("#error-typed"), both.field("typed").as_deref()),
        (1, Some("red"))
    );
    assert!(
        both.attribute("input[value=green]", "checked").is_some(),
        "nothing is lost"
    );
    owner
        .submit(&both, "form#answer", &[("value", "")], ANSWERED)
        .await
        .expect(200);
    let message = bot.pull(&worded).await;
    assert_eq!(
        (value(&message), &message["response"]["response"]["edited"]),
        (&json!("red"), &json!(true))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn free_text_for_a_sensitive_question_is_hidden_and_never_sent_back() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = a2h(select("bot"), "0.6");
    envelope["request"]["permissions"] = json!({"allow_edit": true});
    envelope["sensitive"] = json!(true);
    let id = bot.accepted(&envelope).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &id).await;
    let at = |name: &str| page.attribute("#own-words", name).unwrap_or_default();
    assert_eq!([at("type"), at("autocomplete"), at("value")], ["password", "off", ""]);
    let filled = [("value", "green"), ("typed", "hunter2")];
    let both = owner.submit(&page, "form#answer", &filled, ANSWERED).await.expect(422);
    assert!(both.count("#error-typed") == 1 && !both.has("hunter2"), "{}", both.html);
    owner
        .submit(&both, "form#answer", &[("value", ""), ("typed", "hunter2")], ANSWERED)
        .await
        .expect(200);
    assert_eq!(value(&bot.pull(&id).await), "hunter2");
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_on_a_sensitive_question_are_typed_again_after_a_refusal() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = select("bot");
    envelope["sensitive"] = json!(true);
    let id = bot.accepted(&envelope).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &id).await;
    let filled = [("reason", "hunter2"), ("comment", "swordfish")];
    let again = owner.submit(&page, "form#answer", &filled, ANSWERED).await.expect(422);
    assert!(!again.has("hunter2") && !again.has("swordfish"), "{}", again.html);
    assert!(
        again.text_at("#answer").contains("type the reason again"),
        "it is not lost unseen"
    );
    assert!(again.text_at("#error-comment").starts_with("type the comment again"));
    assert_eq!(
        (again.count("#reject[open]"), again.count("#comment-box[open]")),
        (1, 1)
    );
    let filled = [("value", "green"), ("comment", "swordfish")];
    owner.submit(&again, "form#answer", &filled, ANSWERED).await.expect(200);
    assert_eq!(bot.pull(&id).await["response"]["response"]["comment"], "swordfish");
}

fn secret_form() -> Value {
    let mut form = input("bot");
    form["request"]["schema"] = json!({
        "type": "object",
        "properties": {
            "reason": {"type": "string", "minLength": 3, "title": "Why", "description": "For the log"},
            "retries": {"type": "integer", "minimum": 0, "default": 2},
            "urgent": {"type": "boolean"},
            "region": {"enum": ["eu", "us"]},
            "zone": {"enum": [1, 2, 3, 4, 5, 6]},
            "day": {"type": "string", "format": "date"},
            "mail": {"type": "string", "format": "email"},
            "notes": {"type": "string", "maxLength": 2000},
            "pin": {"type": "string", "pattern": "^[0-9]+$", "x-a2h-sensitive": true, "default": "0000"},
        },
        "required": ["reason"],
        "additionalProperties": false,
    });
    form
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_has_the_right_input_for_every_field() {
    let hub = Hub::start().await;
    let id = hub.agent("bot").await.accepted(&secret_form()).await;
    let page = open(&WebClient::signed_in(&hub).await, &id).await;
    let kind = |name: &str| {
        page.attribute(&format!("[name='field.{name}']"), "type")
            .unwrap_or_default()
    };
    assert_eq!(
        ["reason", "retries", "region", "day", "mail", "pin"].map(kind),
        ["text", "number", "radio", "date", "email", "password"]
    );
    for (tag, name) in [("select", "zone"), ("textarea", "notes")] {
        assert_eq!(page.count(&format!("{tag}[name='field.{name}']")), 1, "{name}");
    }
    let retries = |attribute: &str| page.attribute("[name='field.retries']", attribute).unwrap_or_default();
    assert_eq!(
        [retries("min"), retries("step"), retries("value"), retries("data-type")],
        ["0", "1", "2", "integer"]
    );
    assert_eq!(
        page.field("field.pin").as_deref(),
        Some(""),
        "a secret is not even suggested"
    );
    assert_eq!(
        page.attribute("[name='field.pin']", "autocomplete").as_deref(),
        Some("off")
    );
    assert_eq!(
        page.attribute("[name='field.reason']", "aria-required").as_deref(),
        Some("true")
    );
    assert!(page.text_at("#answer").contains("Why *") && page.text_at("#answer").contains("For the log"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_form_keeps_its_input_except_secrets() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&secret_form()).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &id).await;
    let filled = [
        ("field.reason", "no"),
        ("field.retries", "-1"),
        ("field.urgent", "false"),
        ("field.region", "1"),
        ("field.notes", "two\r\nlines"),
        ("field.pin", "hunter2"),
        ("comment", "so far"),
    ];
    let again = owner.submit(&page, "form#answer", &filled, ANSWERED).await.expect(422);
    assert_eq!(again.text_at("#error-reason"), "write at least 3 characters");
    assert_eq!(again.text_at("#error-retries"), "give 0 or more");
    assert_eq!(
        again.attribute("[name='field.reason']", "aria-describedby").as_deref(),
        Some("error-reason")
    );
    assert_eq!(again.count("#error-pin"), 1);
    for (name, held) in [("reason", "no"), ("retries", "-1"), ("notes", "two\nlines")] {
        assert_eq!(again.field(&format!("field.{name}")).as_deref(), Some(held));
    }
    assert!(again.attribute("[name='field.region'][value='1']", "checked").is_some());
    assert_eq!(again.field("comment").as_deref(), Some("so far"));
    assert!(!again.has("hunter2"));
    assert_eq!(bot.pull(&id).await["status"], "open");
    let right = [
        ("field.reason", "because"),
        ("field.retries", ""),
        ("field.pin", "1234"),
    ];
    owner.submit(&again, "form#answer", &right, ANSWERED).await.expect(200);
    let expected = json!({"reason": "because", "urgent": false, "region": "us", "notes": "two\nlines", "pin": "1234"});
    assert_eq!(*value(&bot.pull(&id).await), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_choice_of_a_form_is_reported_at_its_field() {
    let hub = Hub::start().await;
    let mut form = secret_form();
    form["request"]["schema"]["required"] = json!(["region"]);
    let id = hub.agent("bot").await.accepted(&form).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &id).await;
    let again = owner.submit(&page, "form#answer", &[], ANSWERED).await.expect(422);
    let group = "fieldset[role=radiogroup][aria-required=true][aria-describedby=error-region]";
    assert_eq!(
        (again.count(group), again.count("#error-region")),
        (1, 1),
        "{}",
        again.html
    );
    assert!(again.count(&format!("{group} input[aria-invalid=true]")) >= 2);
    assert_eq!(again.count("fieldset[aria-invalid]"), 0, "what is wrong can be gone to");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_sends_its_ticks() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let done = bot.accepted(&task("bot")).await;
    let left = bot.accepted(&task("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &done).await;
    let asked = owner
        .submit(&page, "form#answer", &[("done", "1")], Some(("verdict", "completed")))
        .await
        .expect(422);
    assert!(
        asked.text_at("#open-steps").starts_with("1 step is open"),
        "{}",
        asked.text()
    );
    assert_eq!(asked.text_at("#complete"), "Done anyway");
    assert_eq!(bot.pull(&done).await["status"], "open");
    let after = owner
        .submit(&asked, "form#answer", &[("done", "1")], Some(("verdict", "completed")))
        .await
        .expect(200);
    assert!(
        after.text_at("#outcome").contains("☑ done: announce"),
        "{}",
        after.text_at("#outcome")
    );
    let message = bot.pull(&done).await;
    let ticks = json!([{"text": "rotate", "done": false}, {"text": "announce", "done": true}]);
    assert_eq!(
        (&message["status"], &message["response"]["response"]["checklist"]),
        (&json!("completed"), &ticks)
    );
    let page = open(&owner, &left).await;
    owner
        .submit(
            &page,
            "form#answer",
            &[("comment", "no need")],
            Some(("verdict", "dismissed")),
        )
        .await
        .expect(200);
    let message = bot.pull(&left).await;
    assert_eq!(
        (&message["status"], &message["response"]["response"]["comment"]),
        (&json!("dismissed"), &json!("no need"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loser_of_a_race_sees_the_winner_and_keeps_the_draft() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.person("alice", "resolver").await;
    let alice = WebClient::by_new_link(&hub, "alice").await;
    let id = bot
        .accepted(&resolvers(secret_form(), &["human:owner", "human:alice"]))
        .await;
    let owner = WebClient::signed_in(&hub).await;
    let seen_by_owner = open(&owner, &id).await;
    let seen_by_alice = open(&alice, &id).await;
    let first = [("field.reason", "alice was here")];
    alice
        .submit(&seen_by_alice, "form#answer", &first, ANSWERED)
        .await
        .expect(200);
    let filled = [
        ("field.reason", "my long reason"),
        ("field.pin", "hunter2"),
        ("comment", "and more"),
    ];
    let late = owner
        .submit(&seen_by_owner, "form#answer", &filled, ANSWERED)
        .await
        .expect(409);
    assert!(late.text_at("#notice").starts_with("Already answered."));
    assert!(
        late.text_at("#outcome").starts_with("Answered by alice at"),
        "{}",
        late.text_at("#outcome")
    );
    let typed = late.text_at("#typed");
    assert!(
        typed.contains("Why: my long reason") && typed.contains("Comment: and more"),
        "{typed}"
    );
    assert!(typed.contains("pin: (hidden)") && !late.has("hunter2"), "{typed}");
    assert_eq!(late.count("#answer"), 0);
    let again = alice
        .submit(&seen_by_alice, "form#answer", &first, ANSWERED)
        .await
        .expect(409);
    assert!(again.text_at("#notice").starts_with("You already answered this."));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_after_the_expiry_is_refused_with_the_outcome() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let owner = WebClient::signed_in(&hub).await;
    let id = bot.accepted(&expiring(ask("bot"), 5000)).await;
    let page = open(&owner, &id).await;
    bot.outcome(&id).await;
    let late = owner
        .submit(&page, "form#answer", &[], Some(("value", "approve")))
        .await
        .expect(409);
    assert!(late.text_at("#notice").starts_with("It expired before"));
    assert!(late.text_at("#outcome").starts_with("Expired: no answer in time"));
    assert!(late.text_at("#typed").contains("Your answer: Approve"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unauthorized_person_is_refused_for_every_kind_of_answer() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let victor = WebClient::as_person(&hub, "victor", "viewer").await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let id = bot
        .accepted(&resolvers(ask("bot"), &["human:owner", "human:victor"]))
        .await;
    for client in [&victor, &alice] {
        let token = csrf(&open(client, &id).await);
        let refused = client
            .post(
                &format!("/inbox/items/{id}/decide"),
                &[("csrf", &token), ("value", "approve")],
            )
            .await;
        assert!(
            refused
                .expect(403)
                .text_at("#panel")
                .contains("only other people can answer this")
        );
    }
    let notice = bot.accepted(&notify("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let token = csrf(&open(&owner, &notice).await);
    owner
        .post(
            &format!("/inbox/items/{notice}/decide"),
            &[("csrf", &token), ("verdict", "completed")],
        )
        .await
        .expect(403);
    assert_eq!(bot.pull(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn snoozing_is_offered_and_leaves_the_ask_open() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = open(&owner, &id).await;
    let list = owner
        .submit(&page, "form#aside", &[], Some(("until", "1h")))
        .await
        .expect(200);
    assert_eq!((list.url.as_str(), list.count(".row")), ("/inbox", 0));
    assert_eq!(owner.get("/inbox/aside").await.count(".row"), 1);
    assert_eq!(bot.pull(&id).await["status"], "open");
}

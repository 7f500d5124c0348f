//! Live updates of an open page.

use serde_json::json;
use tokio::task::JoinSet;

use super::chrome::{Browser, Viewport};
use crate::harness::{Agent, Api, Hub, ask, expiring, select, within};

#[tokio::test]
async fn a_new_ask_appears_by_itself() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for(".empty").await;
    let id = bot.accepted(&ask("bot")).await;
    browser
        .wait_for_text(&format!("#row-{id} a.title"), "Deploy build 42?")
        .await;
    browser.wait_for_text("#count", "1").await;
    assert!(browser.title().await.starts_with("(1) "), "{}", browser.title().await);
    let mut urgent = ask("bot");
    urgent["priority"] = "urgent".into();
    let second = bot.accepted(&urgent).await;
    browser
        .wait_for(&format!("#rows > .group:first-child + #row-{second}"))
        .await;
    browser.finish().await;
}

/// Submits all asks concurrently.
async fn submit(bot: &Agent, count: usize) {
    let mut senders = JoinSet::new();
    for _ in 0..count {
        let request = bot.post_request("/v1/messages", ask("bot").to_string());
        senders.spawn(async move { Api::send(request).await.expect(202) });
    }
    within("the burst", senders.join_all()).await;
}

#[tokio::test]
async fn a_burst_of_asks_leaves_one_page_of_rows_and_never_blocks_the_reader() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    submit(&bot, 20).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for("#rows > .row:nth-child(20)").await;
    // Scrolled into the list, so that the visible rows have to stay in place.
    browser.script("window.scrollTo(0, 300)").await;
    browser
        .script(
            "window.turns = 0;
             const turn = () => { window.turns += 1; setTimeout(turn); };
             turn();",
        )
        .await;
    submit(&bot, 300).await;
    browser.wait_for_text("#older", "69+ more").await;
    assert_eq!(browser.count("#rows > .row").await, 30);
    let turns = browser.script("return window.turns").await.as_u64().expect("a count");
    assert!(turns > 10, "the page did other things only {turns} times meanwhile");

    // An urgent ask still comes first, and the row it pushes out is on the next page.
    const LAST: &str = "return document.querySelector('#rows > .row:last-child').id";
    let pushed_out = browser.script(LAST).await.as_str().expect("an id").to_owned();
    let mut urgent = ask("bot");
    urgent["priority"] = "urgent".into();
    let urgent = bot.accepted(&urgent).await;
    browser
        .wait_for(&format!("#rows > .group:first-child + #row-{urgent}"))
        .await;
    assert_eq!(browser.count("#rows > .row").await, 30);
    browser.wait_until_gone(&format!("#{pushed_out}")).await;
    browser.click("#older").await;
    browser.wait_for(&format!("#rows > #{pushed_out}")).await;
    assert_eq!(browser.count("#rows > .row").await, 60, "the next page is appended");
    browser.finish().await;
}

#[tokio::test]
async fn the_second_person_sees_the_first_answer_and_keeps_the_draft() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.person("alice", "resolver").await;
    let mut question = ask("bot");
    question["request"]["allowed_resolvers"] = json!(["human:owner", "human:alice"]);
    let id = bot.accepted(&question).await;
    let first = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    let second = Browser::signed_in_as(Viewport::DESKTOP, &hub, "alice").await;
    for browser in [&first, &second] {
        browser.open_item(&hub, &id).await;
    }
    second.press("c").await;
    second.wait_for("#comment:focus").await;
    second.press("I would wait until Monday").await;
    first.click("button.choice[data-role=approve]").await;
    second.wait_for_text("#outcome", "by owner").await;
    second.wait_for_text("#typed", "I would wait until Monday").await;
    assert_eq!(second.count("button.choice").await, 0);
    second.screenshot("lost-race").await;
    assert_eq!(bot.outcome(&id).await["response"]["response"]["actor"], "human:owner");
    first.finish().await;
    second.finish().await;
}

#[tokio::test]
async fn a_losing_answer_shows_the_winner() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.person("alice", "resolver").await;
    let mut question = ask("bot");
    question["request"]["allowed_resolvers"] = json!(["human:owner", "human:alice"]);
    let id = bot.accepted(&question).await;
    let browser = Browser::signed_in_as(Viewport::DESKTOP, &hub, "alice").await;
    // Live events are blocked, so the page does not know of the other answer and really sends its own.
    browser.devtools("Network.enable", json!({})).await;
    browser
        .devtools("Network.setBlockedURLs", json!({"urls": ["*/inbox/events*"]}))
        .await;
    browser.open_item(&hub, &id).await;
    browser.press("c").await;
    browser.wait_for("#comment:focus").await;
    browser.press("on my way").await;
    hub.owner.answer(&id, "deny").await.expect(200);
    browser.click("button.choice[data-role=approve]").await;
    browser.wait_for_text("#outcome", "Denied").await;
    browser.wait_for_text("#outcome .actor", "owner").await;
    browser.wait_for_text("#typed", "on my way").await;
    browser.wait_for_text("#news", "Too late").await;
    assert_eq!(bot.outcome(&id).await["response"]["response"]["value"], "deny");
    browser.finish().await;
}

#[tokio::test]
async fn choices_do_nothing_for_the_first_half_second() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for(&format!("#row-{id}")).await;
    // One script, so that no time passes between the appearance of the item and the click.
    let guarded = browser
        .script_async(&format!(
            "const done = arguments[arguments.length - 1];
             const watch = new MutationObserver(() => {{
               const button = document.querySelector('button.choice[data-role=approve]');
               if (!button) return;
               watch.disconnect();
               button.click();
               const key = {{key: 'a', bubbles: true, cancelable: true}};
               document.body.dispatchEvent(new KeyboardEvent('keydown', key));
               const panel = document.querySelector('#panel');
               if (!panel.hasAttribute('data-guarded')) return done(0);
               const appeared = performance.now();
               const lifted = () => panel.hasAttribute('data-guarded') || done(performance.now() - appeared);
               new MutationObserver(lifted).observe(panel, {{attributes: true, attributeFilter: ['data-guarded']}});
             }});
             watch.observe(document.body, {{childList: true, subtree: true}});
             document.querySelector('#row-{id} a.title').click();"
        ))
        .await;
    assert!(
        guarded.as_f64().is_some_and(|ms| ms >= 500.0),
        "guarded for {guarded} ms"
    );
    assert_eq!(
        bot.pull(&id).await["status"],
        "open",
        "neither the click nor the key counted"
    );
    browser.press("a").await;
    assert_eq!(bot.outcome(&id).await["status"], "answered");
    browser.finish().await;
}

#[tokio::test]
async fn the_batch_confirmation_does_nothing_for_the_first_half_second() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.click(&format!("#row-{id} input.pick")).await;
    let clicked = browser
        .script_async(
            "const done = arguments[arguments.length - 1];
             const watch = new MutationObserver(() => {
               const button = document.querySelector('#do');
               if (!button) return;
               watch.disconnect();
               button.click();
               done(document.querySelector('#confirm').hasAttribute('data-guarded'));
             });
             watch.observe(document.body, {childList: true, subtree: true});
             document.querySelector('#batch button[value=approve]').click();",
        )
        .await;
    assert_eq!(clicked, true, "the form was guarded when it appeared");
    browser.wait_for("#confirm:not([data-guarded])").await;
    assert_eq!(bot.pull(&id).await["status"], "open", "the click did not count");
    browser.click("#do").await;
    assert_eq!(bot.outcome(&id).await["status"], "answered");
    browser.finish().await;
}

#[tokio::test]
async fn a_live_row_says_whether_it_is_yours() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.person("alice", "resolver").await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open(&hub, "/inbox?show=all").await;
    browser.wait_for(".empty").await;
    bot.accepted(&ask("bot")).await;
    browser.wait_for(".row").await;
    let mut mine = ask("bot");
    let mut theirs = ask("bot");
    mine["request"]["allowed_resolvers"] = json!(["human:alice", "human:owner"]);
    theirs["request"]["allowed_resolvers"] = json!(["human:alice"]);
    let mine = bot.accepted(&mine).await;
    let theirs = bot.accepted(&theirs).await;
    browser.wait_for(&format!("#row-{mine}.new[data-mine=yes]")).await;
    browser
        .wait_for_text(&format!("#row-{theirs}.new[data-mine=no] .not-mine"), "not yours")
        .await;
    browser.finish().await;
}

#[tokio::test]
async fn an_ask_that_expires_while_open_shows_its_outcome() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    let mut question = expiring(select("bot"), 12_000);
    question["request"]["default_on_expire"] = "green".into();
    let id = bot.accepted(&question).await;
    browser.open(&hub, &format!("/inbox/items/{id}")).await;
    browser
        .wait_for_text("#item", "will answer “Green” automatically")
        .await;
    browser.watch_shifts().await;
    browser.wait_for_text("#outcome", "default").await;
    assert_eq!(browser.count("#send").await, 0);
    assert_eq!(
        browser.count("#content .expiry, #content .age:not(.seen)").await,
        0,
        "nothing waits any more"
    );
    assert_eq!(browser.shifts().await, 0, "the text stays where it is read");
    browser.finish().await;
}

#[tokio::test]
async fn the_delivery_track_updates_live() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    browser.open(&hub, &format!("/inbox/items/{id}")).await;
    browser.wait_for("#track li.now").await;
    bot.pull(&id).await;
    browser.wait_until_gone("#track li.now").await;
    browser.wait_for_text("#track", "Fetched by the agent").await;
    browser.finish().await;
}

#[tokio::test]
async fn nothing_that_is_read_moves_while_others_work() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    bot.accepted(&ask("bot")).await;
    let answered = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open_item(&hub, &answered).await;
    browser.watch_shifts().await;
    hub.owner.answer(&answered, "approve").await.expect(200);
    browser.wait_for_text("#outcome", "Approved").await;
    assert_eq!(browser.shifts().await, 0, "an answer of another person");
    for (page, part, text) in [
        ("/inbox/agents/bot", "#thread > .entry:nth-child(3)", "Deploy build 42?"),
        ("/inbox/agents", "#row-bot .open", "3 open"),
        ("/inbox/pulse", "#waiting", "4"),
    ] {
        browser.open(&hub, page).await;
        browser.wait_for("#main").await;
        browser.watch_shifts().await;
        bot.accepted(&ask("bot")).await;
        browser.wait_for_text(part, text).await;
        assert_eq!(browser.shifts().await, 0, "{page}");
    }
    browser.finish().await;
}

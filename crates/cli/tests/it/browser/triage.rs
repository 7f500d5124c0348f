//! Going through the inbox: the list beside an item, keys, palette, groups, look.

use serde_json::{Value, json};

use super::accessibility::{accessibility_findings, axe};
use super::chrome::{Browser, Viewport};
use crate::harness::*;

const ENTER: &str = "\u{e007}";
const WIDE: Viewport = Viewport {
    width: 1440,
    ..Viewport::DESKTOP
};

fn titled(mut envelope: Value, title: &str) -> Value {
    envelope["title"] = title.into();
    envelope
}

#[tokio::test]
async fn the_item_opens_beside_the_list_and_the_address_follows() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut ids = Vec::new();
    for number in 0..3 {
        ids.push(bot.accepted(&titled(ask("bot"), &format!("Number {number}"))).await);
    }
    let browser = Browser::signed_in(WIDE, &hub).await;
    browser.wait_for(&format!("#row-{}", ids[2])).await;
    browser.press(&format!("j{ENTER}")).await;
    browser.item_ready(&ids[0]).await;
    browser.wait_for(&format!("#detail #item[data-id='{}']", ids[0])).await;
    browser.wait_for(&format!("main #row-{}[aria-current]", ids[0])).await;
    browser.press("j").await;
    browser.item_ready(&ids[1]).await;
    let path = browser.script("return location.pathname").await;
    assert_eq!(path, json!(format!("/inbox/items/{}", ids[1])));
    browser.screenshot("beside").await;
    // An answer elsewhere changes the list and the item.
    hub.owner.answer(&ids[1], "deny").await.expect(200);
    browser.wait_for_text("#detail #outcome", "Denied").await;
    browser.wait_until_gone(&format!("main #row-{}", ids[1])).await;
    browser.script("history.back()").await;
    browser.wait_until_gone("#detail").await;
    browser.wait_for("body[data-page=list]").await;
    // The address alone gives the item as a page of its own.
    browser.open_item(&hub, &ids[2]).await;
    assert_eq!(browser.count("#rows").await, 0);
    browser.finish().await;
}

#[tokio::test]
async fn the_cursor_and_the_selection_go_on_over_the_end_of_the_page() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for number in 0..33 {
        bot.accepted(&titled(ask("bot"), &format!("Number {number}"))).await;
    }
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for("#older").await;
    browser.press("jxG").await;
    browser.wait_for("#rows > .row:nth-child(30)[aria-current]").await;
    browser.press("j").await;
    browser.wait_for("#rows > .row:nth-child(31)[aria-current]").await;
    browser.press("x").await;
    browser.wait_for_text("#picked", "2 selected").await;
    assert_eq!(browser.count("#rows > .row").await, 33);
    assert_eq!(browser.count("#older").await, 0);
    browser.finish().await;
}

async fn press_ctrl_k(browser: &Browser) {
    let keys = [
        ("keyDown", "\u{e009}"),
        ("keyDown", "k"),
        ("keyUp", "k"),
        ("keyUp", "\u{e009}"),
    ];
    let actions = keys.map(|(kind, value)| json!({"type": kind, "value": value}));
    let keyboard = json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]});
    browser.driver_post("actions", &keyboard).await;
}

#[tokio::test]
async fn the_palette_finds_pages_filters_and_the_theme() {
    let axe = axe();
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    bot.accepted(&ask("bot")).await;
    let mut browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for("#rows > .row").await;
    press_ctrl_k(&browser).await;
    browser.wait_for("#palette[open] #palette-field:focus").await;
    let findings = accessibility_findings(&mut browser, &axe, "the palette").await;
    assert!(findings.is_empty(), "{findings:?}");
    browser.press("theme dark").await;
    browser
        .wait_for_text("#palette-list [aria-selected=true]", "Theme: Dark")
        .await;
    browser.press(ENTER).await;
    browser.wait_for("html[data-theme=dark]").await;
    press_ctrl_k(&browser).await;
    browser.press("history").await;
    browser
        .wait_for_text("#palette-list [aria-selected=true]", "Go to History")
        .await;
    browser.press(ENTER).await;
    browser.wait_for("body[data-page=history]").await;
    browser.press("gi").await;
    browser.wait_for("body[data-page=list]").await;
    browser.finish().await;
}

#[tokio::test]
async fn theme_and_density_stay_in_this_browser_without_a_flash() {
    let hub = Hub::start().await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.click("#me-menu > summary").await;
    browser.click("#me-menu button[value=dark]").await;
    browser.click("#me-menu button[value=comfortable]").await;
    browser
        .wait_for("html[data-theme=dark][data-density=comfortable]")
        .await;
    // The attribute is there before any script of the page has run.
    browser
        .run_before_pages(
            "document.addEventListener('readystatechange', () => { window.early ??= document.documentElement.dataset.theme; });",
        )
        .await;
    browser.reload().await;
    browser.wait_for("#me-menu button[value=dark][aria-pressed=true]").await;
    assert_eq!(browser.script("return window.early").await, "dark");
    let background = browser
        .script("return getComputedStyle(document.documentElement).backgroundColor")
        .await;
    assert_eq!(background, "rgb(16, 18, 22)");
    browser.finish().await;
}

#[tokio::test]
async fn the_row_of_an_agent_that_begins_to_wait_moves_up_and_shifts_nothing_in_use() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut ids = Vec::new();
    for number in 0..30 {
        ids.push(bot.accepted(&titled(ask("bot"), &format!("Number {number}"))).await);
    }
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for("#rows > .row:nth-child(30)").await;
    browser.press("jjjj").await;
    const TOP: &str = "document.querySelector('#rows > .row[aria-current]').getBoundingClientRect().top";
    let before = browser.script(&format!("return {TOP}")).await;
    // A page scrolls by whole pixels, so each of the two moves may be off by a half.
    let is_in_place = format!("return Math.abs({TOP} - {before}) <= 1");
    browser.watch_shifts().await;
    let waiting = tokio::spawn({
        let (bot, id) = (Api::clone(&bot), ids[29].clone());
        async move { bot.outcome(&id).await }
    });
    let first = format!("#rows > .group[data-group=waiting] + #row-{}", ids[29]);
    browser.wait_for_text(&format!("{first} .here"), "waiting now").await;
    assert_eq!(browser.script(&is_in_place).await, true);
    assert_eq!(browser.shifts().await, 0);
    waiting.abort();
    browser.wait_for(&format!("#rows > #row-{}:last-child", ids[29])).await;
    assert_eq!(browser.count("#rows .here, #rows > .group").await, 0);
    assert_eq!(browser.script(&is_in_place).await, true);
    browser.finish().await;
}

#[tokio::test]
async fn live_rows_arrive_in_their_group_and_shift_nothing_in_use() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for number in 0..28 {
        bot.accepted(&titled(ask("bot"), &format!("Number {number}"))).await;
    }
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for("#rows > .row:nth-child(28)").await;
    browser.press("jjjj").await;
    // Rounded, because a page scrolls by whole pixels.
    const TOP: &str =
        "return Math.round(document.querySelector('#rows > .row[aria-current]').getBoundingClientRect().top)";
    let before = browser.script(TOP).await;
    browser.watch_shifts().await;
    let last = bot.accepted(&titled(ask("bot"), "at the end")).await;
    browser.wait_for(&format!("#rows > #row-{last}:last-child")).await;
    assert_eq!(browser.script(TOP).await, before);
    assert_eq!(browser.shifts().await, 0);
    let soon = bot.accepted(&expiring(ask("bot"), 600_000)).await;
    browser
        .wait_for(&format!("#rows > .group[data-group=soon] + #row-{soon}"))
        .await;
    browser.wait_for("#rows > .group[data-group=rest]").await;
    assert_eq!(browser.script(TOP).await, before);
    assert_eq!(browser.shifts().await, 0, "the page scrolled with the row");
    browser.finish().await;
}

#[tokio::test]
async fn a_row_is_answered_and_snoozed_in_place() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&titled(ask("bot"), "First")).await;
    let second = bot.accepted(&titled(ask("bot"), "Second")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    // A press right after the row came under the pointer does nothing.
    let too_early = format!(
        "const row = document.querySelector('#row-{first}');
         row.dispatchEvent(new PointerEvent('pointerover', {{ bubbles: true }}));
         row.querySelector('.quick button').click();"
    );
    browser.wait_for(&format!("#row-{first} .quick")).await;
    browser.script(&too_early).await;
    assert_eq!(bot.pull(&first).await["status"], "open");
    let press = format!(
        "const done = arguments[arguments.length - 1];
         const row = document.querySelector('#row-{first}');
         const timer = setInterval(() => {{
           row.querySelector('.quick button[data-role=deny]').click();
           if (row.matches('.gone')) {{ clearInterval(timer); done(); }}
         }}, 50);"
    );
    browser.script_async(&press).await;
    assert_eq!(bot.outcome(&first).await["response"]["response"]["value"], "deny");
    browser.wait_for("#news a").await;
    browser.wait_until_gone(&format!("#row-{first}")).await;
    browser.press("js").await;
    browser.wait_for("dialog#snooze[open]").await;
    browser.press("2").await;
    browser.wait_until_gone(&format!("#row-{second}")).await;
    browser.wait_for_text("#news", "Snoozed").await;
    browser.wait_for_text("#snoozed-count", "1").await;
    assert_eq!(bot.pull(&second).await["status"], "open");
    browser.finish().await;
}

#[tokio::test]
async fn beside_the_list_the_next_row_is_next_after_a_decision() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut ids = Vec::new();
    for number in 0..3 {
        ids.push(bot.accepted(&titled(ask("bot"), &format!("Number {number}"))).await);
    }
    let browser = Browser::signed_in(WIDE, &hub).await;
    browser.open(&hub, "/inbox?sort=newest").await;
    browser.click(&format!("#row-{} a.title", ids[1])).await;
    browser.item_ready(&ids[1]).await;
    browser.press("a").await;
    browser.item_ready(&ids[0]).await;
    browser.wait_for("#detail #item[data-list='/inbox?sort=newest']").await;
    browser.finish().await;
}

#[tokio::test]
async fn the_palette_has_views_filters_settings_and_the_actions_of_the_item() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut money = ask("bot");
    money["tags"] = json!(["money"]);
    let id = bot.accepted(&money).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.open(&hub, "/inbox/pulse").await;
    for (typed, found) in [
        ("sort newest", "Sort: Newest first"),
        ("tag money", "Filter tag: money"),
        ("settings people", "Settings: People"),
    ] {
        press_ctrl_k(&browser).await;
        browser.wait_for("#palette[open] #palette-field:focus").await;
        browser.press(typed).await;
        browser.wait_for_text("#palette-list [aria-selected=true]", found).await;
        press_ctrl_k(&browser).await;
    }
    browser.open_item(&hub, &id).await;
    press_ctrl_k(&browser).await;
    browser.press("item snooze").await;
    browser
        .wait_for_text("#palette-list [aria-selected=true]", "Item: Snooze")
        .await;
    browser.press(ENTER).await;
    browser.wait_for("#aside-box[open]").await;
    press_ctrl_k(&browser).await;
    browser.press("item approve").await;
    browser
        .wait_for_text("#palette-list [aria-selected=true]", "Item: Approve")
        .await;
    browser.press(ENTER).await;
    assert_eq!(bot.outcome(&id).await["response"]["response"]["value"], "approve");
    browser.finish().await;
}

#[tokio::test]
async fn the_snooze_menu_offers_only_times_before_the_item_ends() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let soon = bot.accepted(&expiring(ask("bot"), 54 * 60_000)).await;
    let later = bot.accepted(&ask("bot")).await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for(&format!("#row-{later}")).await;
    const OFFERED: &str = "return [...document.querySelectorAll('dialog#snooze .times button')].filter((button) => button.checkVisibility()).map((button) => button.value)";
    browser.press("js").await;
    browser.wait_for("dialog#snooze[open]").await;
    assert_eq!(browser.script(OFFERED).await, json!(["15m"]));
    browser
        .wait_for_text("dialog#snooze .expires", "Choose a time before that.")
        .await;
    browser.screenshot("snooze-menu").await;
    // The digit of a time that is not offered does nothing.
    browser.press("2").await;
    assert_eq!(browser.count("dialog#snooze[open]").await, 1);
    browser.press("1").await;
    browser.wait_until_gone(&format!("#row-{soon}")).await;
    browser.wait_for(&format!("#row-{later}[aria-current]")).await;
    browser.press("s").await;
    browser.wait_for("dialog#snooze[open]").await;
    assert_eq!(
        browser.script(OFFERED).await,
        json!(["15m", "1h", "4h", "tomorrow", "monday"])
    );
    let typed = "const field = document.querySelector('dialog#snooze [name=at]');
        field.value = new Date(Date.now() + 86_400_000 - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 16)";
    browser.script(typed).await;
    browser.click("dialog#snooze button[value=at]").await;
    browser.wait_for_text("#news", "Snoozed until").await;
    browser.wait_until_gone(&format!("#row-{later}")).await;
    browser.finish().await;
}

#[tokio::test]
async fn the_navigation_stays_in_its_place_when_a_counter_appears() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    const PLACES: &str =
        "return [...document.querySelectorAll('.top nav a')].map((link) => link.getBoundingClientRect().left)";
    let before = browser.script(PLACES).await;
    bot.accepted(&ask("bot")).await;
    bot.accepted(&notify("bot")).await;
    browser.wait_for_text("#notices-count", "1").await;
    browser.wait_for("#count:not([data-none])").await;
    assert_eq!(browser.script(PLACES).await, before);
    browser.finish().await;
}

#[tokio::test]
async fn all_that_match_are_selected_over_all_pages_and_sent_as_one_batch() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for number in 0..33 {
        bot.accepted(&titled(ask("bot"), &format!("Number {number}"))).await;
    }
    let browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    browser.wait_for("#older").await;
    browser.press("jx").await;
    browser
        .script("[...document.querySelectorAll('#batch button')].find((one) => one.textContent === 'All that match').click()")
        .await;
    browser.wait_for_text("#picked", "33 selected").await;
    browser.click("#batch button[value=deny]").await;
    browser.wait_for("#confirm:not([data-guarded])").await;
    browser.click("#do").await;
    browser.wait_for_text("h1", "Denied: 33 of 33").await;
    assert_eq!(browser.count("#done > li").await, 33);
    assert_eq!(hub.owner.get("/v1/inbox").await.expect(200)["items"], json!([]));
    browser.finish().await;
}

/// Moves a finger over the row, if it is still there, sideways by `dx`, with touch events of the browser itself.
async fn swipe(browser: &Browser, row: &str, dx: i64) {
    let place = format!(
        "const box = document.querySelector('{row}')?.getBoundingClientRect(); \
         return box && [Math.round(box.left + box.width / 2), Math.round(box.top + 10)]"
    );
    let place = browser.script(&place).await;
    let (Some(x), Some(y)) = (place[0].as_i64(), place[1].as_i64()) else {
        return;
    };
    let touch = async |kind: &str, points: Value| {
        let event = json!({"type": kind, "touchPoints": points});
        browser.devtools("Input.dispatchTouchEvent", event).await;
    };
    touch("touchStart", json!([{"x": x, "y": y}])).await;
    for part in 1..=4 {
        touch("touchMove", json!([{"x": x + dx * part / 4, "y": y}])).await;
    }
    touch("touchEnd", json!([])).await;
}

#[tokio::test]
async fn a_swipe_snoozes_or_archives_and_never_decides() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let question = bot.accepted(&ask("bot")).await;
    let notice = bot.accepted(&notify("bot")).await;
    let browser = Browser::signed_in(Viewport::PHONE, &hub).await;
    let row = format!("#row-{question}");
    browser.wait_for(&row).await;
    eventually("a swipe to the right opens the menu", async || {
        swipe(&browser, &row, -120).await;
        swipe(&browser, &row, 120).await;
        (browser.count("dialog#snooze[open]").await == 1).then_some(())
    })
    .await;
    browser.click("dialog#snooze button[value='1h']").await;
    browser.wait_until_gone(&row).await;
    browser.wait_for_text("#news", "Snoozed until").await;
    assert_eq!(bot.pull(&question).await["status"], "open");
    browser.open(&hub, "/inbox/notices").await;
    let row = format!("#row-{notice}");
    browser.wait_for(&row).await;
    eventually("a swipe to the left archives", async || {
        swipe(&browser, &row, 120).await;
        swipe(&browser, &row, -120).await;
        (browser.count(&row).await == 0).then_some(())
    })
    .await;
    browser.click("#news button.undo").await;
    browser.wait_for(&row).await;
    browser.finish().await;
}

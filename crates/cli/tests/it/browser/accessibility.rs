//! Small screens, browsers without scripts, hostile agents, accessibility.

use serde_json::{Value, json};

use super::chrome::{Browser, Viewport};
use crate::harness::{Agent, Hub, ask, input, notify, select, task};
use crate::web::new_link;

const WITHOUT_SCRIPTS: Viewport = Viewport {
    scripts: false,
    ..Viewport::DESKTOP
};
/// Rules about colours: the only ones whose findings depend on the theme.
const COLOUR_RULES: &str = "runOnly: ['color-contrast', 'link-in-text-block']";

#[tokio::test]
async fn without_scripts_everything_can_be_read_and_answered() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let confirm = bot.accepted(&ask("bot")).await;
    let form = bot.accepted(&input("bot")).await;
    let browser = Browser::signed_in(WITHOUT_SCRIPTS, &hub).await;
    browser.click(&format!("#row-{confirm} a.title")).await;
    browser.click("button.choice[data-role=deny]").await;
    browser.wait_for_text("#outcome", "Denied").await;
    assert_eq!(bot.outcome(&confirm).await["response"]["response"]["value"], "deny");
    browser.click("#nav-inbox").await;
    browser.click(&format!("#row-{form} a.title")).await;
    browser.fill("[name='field.reason']", "because").await;
    browser.click("#send").await;
    browser.wait_for("#outcome").await;
    assert_eq!(
        bot.outcome(&form).await["response"]["response"]["value"]["reason"],
        "because"
    );
    browser.finish().await;
}

/// One message of each kind, with everything that a page can show.
async fn one_of_each(hub: &Hub, bot: &Agent) -> Vec<String> {
    let mut rich = ask("bot");
    rich["body"] = "All checks are **green**. See [the run](https://ci.example/run/42).\n\n| step | time |\n|---|---|\n| build | 3 min |".into();
    rich["priority"] = "urgent".into();
    rich["tags"] = json!(["deploy", "production"]);
    rich["agent"]["project"] = "storefront".into();
    rich["context"] = json!([
        {"kind": "text", "text": "--- a/app.toml\n+++ b/app.toml\n@@ -1,2 +1,2 @@\n-replicas = 2\n+replicas = 3\n timeout = 30"},
        {"kind": "data", "data": {"build": 42, "tests": {"passed": 931, "failed": 0}, "long": "x".repeat(300)}},
        {"kind": "file", "file": {"uri": "https://ci.example/run/42/report.pdf", "name": "report.pdf", "mime_type": "application/pdf"}},
    ]);
    let mut ids = Vec::new();
    for envelope in [rich, select("bot"), input("bot"), task("bot"), notify("bot")] {
        ids.push(bot.accepted(&envelope).await);
    }
    let decided = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&decided, "approve").await.expect(200);
    ids.push(decided);
    ids
}

async fn pages(hub: &Hub, bot: &Agent) -> Vec<String> {
    let mut pages: Vec<String> = [
        "/inbox",
        "/inbox/notices",
        "/inbox/aside",
        "/inbox/history",
        "/inbox/search",
        "/inbox/search?q=deploy",
        "/inbox/search?q=is:nothing",
        "/inbox?show=all&sort=agent&kind=task",
        "/inbox/agents",
        "/inbox/agents/bot",
        "/runs",
        "/inbox/pulse",
        "/inbox/styleguide",
        "/inbox/settings",
    ]
    .map(str::to_owned)
    .into();
    for page in ["people", "agents", "agents/one?id=bot", "deliveries", "presets"] {
        pages.push(format!("/inbox/settings/{page}"));
    }
    let ids = one_of_each(hub, bot).await;
    pages.extend(ids.iter().map(|id| format!("/inbox/items/{id}")));
    let selected: Vec<String> = ids.iter().map(|id| format!("&id={id}")).collect();
    for verdict in ["approve", "aside"] {
        pages.push(format!("/inbox/batch?verdict={verdict}{}", selected.concat()));
    }
    pages
}

#[tokio::test]
async fn pages_on_a_phone_never_scroll_sideways() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let browser = Browser::signed_in(Viewport::PHONE, &hub).await;
    for (nth, page) in pages(&hub, &bot).await.iter().enumerate() {
        browser.open(&hub, page).await;
        browser.wait_for("#main").await;
        let wide = browser.script("return document.documentElement.scrollWidth").await;
        assert_eq!(wide, 360, "{page}");
        browser.screenshot(&format!("phone-{nth:02}")).await;
    }
    browser.finish().await;
}

/// The controls that lie outside of the window or are too small for a thumb.
const UNREACHABLE: &str = "return [...document.querySelectorAll('SELECTOR')].filter((control) => {
      if (control.id === 'nav-pulse') return control.checkVisibility(); // It is in the menu there.
      const { left, right, top, width, height } = control.getBoundingClientRect();
      const isInside = left >= 0 && right <= innerWidth && top >= 0 && width > 0;
      return !isInside || height < 40;
    }).map((control) => control.outerHTML + JSON.stringify(control.getBoundingClientRect()))";

#[tokio::test]
async fn list_filters_on_a_phone_are_reachable_and_large_enough() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    one_of_each(&hub, &bot).await;
    let browser = Browser::signed_in(Viewport::PHONE, &hub).await;
    for (page, name) in [("/inbox", "open"), ("/inbox/history", "history")] {
        browser.open(&hub, page).await;
        browser.wait_for("#rows > .row").await;
        browser.screenshot(&format!("phone-{name}")).await;
        let links = "#rows .pick-box, #filter-box > summary, .top nav a";
        let low = browser.script(&UNREACHABLE.replace("SELECTOR", links)).await;
        assert_eq!(low, json!([]), "{page}");
        browser.click("#filter-box > summary").await;
        browser.screenshot(&format!("phone-{name}-filters")).await;
        let fields = "#filters :is(input:not([type=hidden]), select, button)";
        let hidden = browser.script(&UNREACHABLE.replace("SELECTOR", fields)).await;
        assert_eq!(hidden, json!([]), "{page}");
        let sideways = "const { scrollWidth, clientWidth } = document.querySelector('#filters');
            return scrollWidth - clientWidth";
        assert_eq!(browser.script(sideways).await, 0, "{page}");
    }
    browser.open(&hub, "/inbox").await;
    browser.click("#filter-box > summary").await;
    browser.click("#filters select[name=kind] option[value=task]").await;
    browser.click("#filters button").await;
    browser.wait_for_text("#active", "kind: task").await;
    assert_eq!(browser.count("#rows > .row").await, 1);
    browser.finish().await;
}

#[tokio::test]
async fn every_page_is_accessible_and_keeps_the_policy() {
    let axe = axe();
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut findings: Vec<String> = Vec::new();
    let pages = pages(&hub, &bot).await;
    let forms = incomplete(&bot).await;
    let mut browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    for (nth, page) in pages.iter().enumerate() {
        browser.open(&hub, page).await;
        browser.wait_for("#main").await;
        browser.wait_for("html[data-keys]:not(:has([data-guarded]))").await;
        findings.extend(findings_in_all_themes(&mut browser, &axe, page).await);
        pictures(&browser, &format!("{nth:02}")).await;
    }
    for (page, error) in &forms {
        send_empty(&mut browser, &hub, page, error).await;
        findings.extend(findings_in_all_themes(&mut browser, &axe, &format!("{page} sent empty")).await);
        pictures(&browser, error.trim_start_matches('#')).await;
    }
    browser.finish().await;
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

pub fn axe() -> String {
    let axe = std::env::var("COUNTERSIGN_TEST_AXE").expect("./test says where axe-core is");
    std::fs::read_to_string(axe).expect("axe-core")
}

/// Questions that refuse an empty answer, each with the selector of its error.
async fn incomplete(bot: &Agent) -> [(String, &'static str); 2] {
    let mut form = input("bot");
    form["request"]["schema"]["required"] = json!(["reason", "region"]);
    let form = bot.accepted(&form).await;
    let choice = bot.accepted(&select("bot")).await;
    [
        (format!("/inbox/items/{form}"), "#error-region"),
        (format!("/inbox/items/{choice}"), "#error-value"),
    ]
}

async fn send_empty(browser: &mut Browser, hub: &Hub, page: &str, error: &str) {
    browser.open(hub, page).await;
    browser.guard_off().await;
    browser.click("#send").await;
    browser.wait_for(error).await;
    browser.guard_off().await;
    // The browser logs the refusal itself, and must log nothing else.
    let others = browser
        .console_messages()
        .await
        .into_iter()
        .filter(|text| !text.contains("status of 422"));
    assert_eq!(others.collect::<Vec<_>>(), Vec::<String>::new(), "{page}");
}

/// Pictures of a page in both themes, for review by a person.
async fn pictures(browser: &Browser, name: &str) {
    for (dark, theme) in [(true, "dark"), (false, "light")] {
        browser.prefer(dark).await;
        browser.screenshot(&format!("{theme}-{name}")).await;
    }
}

/// The accessibility violations of any weight and the console messages of the page, with all its boxes open.
pub async fn accessibility_findings(browser: &mut Browser, axe: &str, name: &str) -> Vec<String> {
    browser
        .script("for (const box of document.querySelectorAll('main details')) box.open = true")
        .await;
    let mut findings = violations(browser, axe, name, "").await;
    let messages = browser.console_messages().await;
    findings.extend(messages.iter().map(|message| format!("{name}: {message}")));
    findings
}

/// The findings in the system's light theme, its dark theme, and a theme chosen against the system.
pub async fn findings_in_all_themes(browser: &mut Browser, axe: &str, name: &str) -> Vec<String> {
    const CHOOSE: &str = "document.documentElement.dataset.theme =";
    let mut findings = accessibility_findings(browser, axe, name).await;
    browser.script(&format!("{CHOOSE} 'dark'")).await;
    findings.extend(violations(browser, axe, &format!("{name}, dark chosen"), COLOUR_RULES).await);
    browser.prefer(true).await;
    browser.script(&format!("{CHOOSE} 'light'")).await;
    findings.extend(violations(browser, axe, &format!("{name}, light chosen"), COLOUR_RULES).await);
    browser.script("delete document.documentElement.dataset.theme").await;
    findings.extend(violations(browser, axe, &format!("{name}, dark"), COLOUR_RULES).await);
    browser.prefer(false).await;
    findings
}

/// The violations that axe-core finds on the page, whose transitions are over.
async fn violations(browser: &Browser, axe: &str, name: &str, options: &str) -> Vec<String> {
    if browser.script("return !window.axe").await == true {
        browser.script(axe).await;
    }
    let found = browser
        .script_async(&format!(
            "const done = arguments[arguments.length - 1];
             for (const animation of document.getAnimations()) animation.finish();
             axe.run({{resultTypes: ['violations'], {options}}}).then(({{ violations }}) => done(violations.map((found) =>
               [found.impact, found.id, found.nodes.map((node) => node.html).slice(0, 3)])));"
        ))
        .await;
    let found = found.as_array().cloned().unwrap_or_default();
    found.iter().map(|finding| format!("{name}: {finding}")).collect()
}

#[tokio::test]
async fn dialogs_menus_and_pages_in_german_are_accessible() {
    let axe = axe();
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let items = one_of_each(&hub, &bot).await;
    let mut browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    let mut findings = Vec::new();
    browser.click("#me-menu > summary").await;
    browser.click("form.look button[value=de]").await;
    browser.wait_for("html[lang=de][data-keys=on] #rows > .row").await;
    for (keys, shown, close) in [
        ("?", "#help[open]", "#help form > button"),
        ("js", "#snooze[open]", "#snooze button.quiet"),
    ] {
        browser.press(keys).await;
        browser.wait_for(shown).await;
        findings.extend(findings_in_all_themes(&mut browser, &axe, shown).await);
        browser.click(close).await;
        browser.wait_until_gone(shown).await;
    }
    browser.click("#me-menu > summary").await;
    findings.extend(findings_in_all_themes(&mut browser, &axe, "the menu of the person").await);
    let pages = [
        "/inbox/history",
        "/inbox/search?q=deploy",
        "/inbox/agents/bot",
        "/inbox/pulse",
        "/inbox/settings",
    ];
    let items = items.iter().map(|id| format!("/inbox/items/{id}"));
    for page in pages.map(str::to_owned).into_iter().chain(items) {
        browser.open(&hub, &page).await;
        browser.wait_for("#main").await;
        browser.wait_for("html[data-keys]:not(:has([data-guarded]))").await;
        findings.extend(accessibility_findings(&mut browser, &axe, &format!("{page} in German")).await);
    }
    browser.finish().await;
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[tokio::test]
async fn pages_without_a_session_are_accessible() {
    let axe = axe();
    let hub = Hub::start().await;
    // A new link ends the one before.
    let links = [new_link(&hub, "owner").await, new_link(&hub, "owner").await];
    let [ended, valid] = links
        .each_ref()
        .map(|link| &link[link.find("/signin/").expect("a link")..]);
    let mut findings = Vec::new();
    let mut browser = Browser::start(Viewport::DESKTOP).await;
    for page in ["/signin", "/inbox/nothing", "/inbox/offline", ended, valid] {
        browser.open(&hub, page).await;
        browser.wait_for("h1").await;
        let found = findings_in_all_themes(&mut browser, &axe, page).await;
        // The browser logs the status of an error page itself.
        findings.extend(found.into_iter().filter(|finding| !finding.contains("status of 4")));
    }
    browser.finish().await;
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[tokio::test]
async fn hostile_agent_text_is_shown_and_never_executed() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut hostile = ask("bot");
    hostile["title"] = "pay \u{202e}001\u{202c} <img src=x onerror=alert(1)>\u{200b}".into();
    hostile["body"] = "<script>window.owned = 1</script><img src=x onerror='window.owned = 2'>\n\n\
        [click](javascript:window.owned=3) ![pixel](http://127.0.0.1:9/pixel.png) <iframe src='//evil.example'></iframe>\n\n\
        [https://bank.example](https://evil.example/)\n\n<style>body{display:none}</style>"
        .into();
    hostile["context"] = json!([
        {"kind": "data", "data": {"<img src=x onerror=window.owned=4>": "\u{202e}</details><script>window.owned=5</script>"}},
        {"kind": "file", "file": {"uri": "javascript:window.owned=6", "name": "<b>report</b>\u{202e}fdp.exe"}},
        {"kind": "text", "text": "+++ b/<script>window.owned=7</script>\n@@ -1 +1 @@\n+<img src=x onerror=window.owned=8>"},
    ]);
    hostile["agent"]["project"] = "<svg onload=window.owned=9>".into();
    hostile["tags"] = json!(["<script>window.owned=10</script>"]);
    let id = bot.accepted(&hostile).await;
    let mut browser = Browser::signed_in(Viewport::DESKTOP, &hub).await;
    for page in [
        "/inbox".to_owned(),
        format!("/inbox/items/{id}"),
        "/inbox/search?q=pay".to_owned(),
    ] {
        browser.open(&hub, &page).await;
        browser.wait_for_text("main", "\\u{202e}").await;
        assert_eq!(
            browser.script("return window.owned ?? null").await,
            Value::Null,
            "{page}"
        );
        let foreign = "return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(location.origin))";
        assert_eq!(
            browser.script(foreign).await,
            json!([]),
            "{page} fetched from elsewhere"
        );
        assert_eq!(
            browser
                .count("main img, main script, main iframe, main style, main a[href^='javascript']")
                .await,
            0
        );
        let console_messages = browser.console_messages().await;
        assert!(console_messages.is_empty(), "{page}: {console_messages:?}");
    }
    browser.open(&hub, &format!("/inbox/items/{id}")).await;
    browser.wait_for_text("#content", "evil.example").await;
    browser.screenshot("hostile").await;
    browser.finish().await;
}

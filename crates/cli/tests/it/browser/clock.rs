//! Times on a page when the clock of the browser is wrong.

use super::chrome::{Browser, Viewport};
use crate::harness::{Hub, ask, expiring, select};

const HOUR_MS: i64 = 3_600_000;
/// 40 seconds of slack for a slow machine.
const NINETY_MINUTES_MS: i64 = 3 * HOUR_MS / 2 + 40_000;

fn shifted(by_ms: i64) -> String {
    let script = "{
          const Right = Date;
          globalThis.Date = class extends Right {
            constructor(...given) { super(...(given.length > 0 ? given : [Date.now()])); }
            static now() { return Right.now() + BY_MS; }
          };
        }";
    script.replace("BY_MS", &by_ms.to_string())
}

async fn countdowns_and_ages_are_right(by_ms: i64) {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&expiring(select("bot"), NINETY_MINUTES_MS)).await;
    let browser = Browser::start(Viewport::DESKTOP).await;
    browser.run_before_pages(&shifted(by_ms)).await;
    browser.sign_in(&hub).await;
    browser.open_item(&hub, &id).await;
    let off = browser
        .script("return Date.now() - performance.timeOrigin - performance.now()")
        .await;
    assert!(
        off.as_f64().is_some_and(|off| off.abs() > 3_500_000.0),
        "the clock is off by {off} ms"
    );
    browser
        .wait_for_text("#content .countdown[data-zoned]", "1 h 30 min")
        .await;
    browser.wait_for_text("#content .age.fresh[data-zoned]", " s").await;

    // On a page that was swapped in, and on a row that arrives live.
    browser.click("#nav-inbox").await;
    browser
        .wait_for_text(&format!("#row-{id} .countdown[data-zoned]"), "1 h 30 min")
        .await;
    let late = bot.accepted(&expiring(ask("bot"), NINETY_MINUTES_MS)).await;
    browser
        .wait_for_text(&format!("#row-{late} .countdown[data-zoned]"), "1 h 30 min")
        .await;
    browser
        .wait_for_text(&format!("#row-{late} .age.fresh[data-zoned]"), " s")
        .await;
    browser.finish().await;
}

#[tokio::test]
async fn countdowns_and_ages_are_right_where_the_clock_is_an_hour_fast() {
    countdowns_and_ages_are_right(HOUR_MS).await;
}

#[tokio::test]
async fn countdowns_and_ages_are_right_where_the_clock_is_an_hour_slow() {
    countdowns_and_ages_are_right(-HOUR_MS).await;
}

use std::time::Duration;

use anyhow::Result;

use super::pairs::{each, in_turns};
use super::viewers::{ViewerResult, watch_inbox};
use super::{Settings, growth, requests};
use crate::load::{Sample, Window, measure};
use crate::process::{Agent, Hub, wait_until_idle};
use crate::report::{Figure, Goal};

const FEW_MESSAGES: usize = 20;
const OPEN_MESSAGES: usize = 2_000;
const PAGES: u64 = 300;
const SEARCHES: u64 = 50;
const UNTIL_DONE: Window = Window {
    warm_up: Duration::ZERO,
    length: Duration::from_secs(120),
};
/// A word of one message, a prefix of that word, and a word of all messages.
const SEARCHED: [(&str, &str); 3] = [("one", "zebra"), ("one by its beginning", "zeb"), ("all", "green")];

pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let few = Hub::start(&settings.hub).await?;
    let agent = few.add_agent("bench").await?;
    growth::store(&few, &agent, FEW_MESSAGES, FEW_MESSAGES).await?;
    let (many, agent) = filled(settings).await?;
    let mut figures = pages(settings, &few, &many).await?;
    drop(few);
    figures.extend(searches(settings, &many).await?);
    figures.extend(viewers(settings, &many, &agent).await?);
    Ok(figures)
}

async fn filled(settings: &Settings) -> Result<(Hub, Agent)> {
    let hub = Hub::start(&settings.hub).await?;
    let agent = hub.add_agent("bench").await?;
    let half = settings.behind_inbox / 2;
    growth::store(&hub, &agent, half, 0).await?;
    requests::ask_titled(&hub, &agent, "The zebra crossing").await?;
    growth::store(&hub, &agent, settings.behind_inbox - half, OPEN_MESSAGES).await?;
    // The search index is built in the background.
    wait_until_idle(hub.target.pid).await?;
    Ok((hub, agent))
}

async fn pages(settings: &Settings, few: &Hub, many: &Hub) -> Result<Vec<Figure>> {
    let few_cookie = few.sign_in("owner").await?;
    let many_cookie = many.sign_in("owner").await?;
    let open = async |hub: &Hub, cookie: &str| {
        measure(hub.target, 1, requests::page("/inbox", cookie, PAGES), UNTIL_DONE).await
    };
    open(many, &many_cookie).await?;
    open(few, &few_cookie).await?;
    let (large, small) = in_turns(
        settings.rounds,
        async || open(many, &many_cookie).await,
        async || open(few, &few_cookie).await,
    )
    .await?;
    let median = |sample: &Sample| sample.millis(0.5);
    let name = format!(
        "first page, {} stored and {OPEN_MESSAGES} open: p50",
        settings.behind_inbox
    );
    let figure = Figure::single(name, "ms", each(&large, median)).against("20 items", each(&small, median));
    Ok(vec![figure.goal(Goal::RatioAtMost(2.0))])
}

async fn searches(settings: &Settings, hub: &Hub) -> Result<Vec<Figure>> {
    let cookie = hub.sign_in("owner").await?;
    let mut figures = Vec::new();
    for (what, word) in SEARCHED {
        let path = format!("/inbox/search?q={word}");
        let mut slowest = Vec::new();
        for _ in 0..settings.rounds {
            let sample = measure(hub.target, 1, requests::page(&path, &cookie, SEARCHES), UNTIL_DONE).await?;
            slowest.push(sample.millis(0.99));
        }
        let name = format!("search for {what} of {} stored: p99", settings.behind_inbox);
        figures.push(Figure::single(name, "ms", slowest).goal(Goal::ValueAtMost(100.0)));
    }
    Ok(figures)
}

async fn viewers(settings: &Settings, hub: &Hub, agent: &Agent) -> Result<Vec<Figure>> {
    let ViewerResult {
        missed,
        late_ms,
        bytes_each,
        grown_bytes,
    } = watch_inbox(hub, agent, settings.viewers, settings.shown).await?;
    let name = |what: &str| {
        format!(
            "{} viewers, {} new items twice: {what}",
            settings.viewers, settings.shown
        )
    };
    Ok(vec![
        Figure::single(name("events missed"), "", vec![missed as f64]).goal(Goal::ValueAtMost(0.0)),
        Figure::single(name("from ack to the last viewer, p99"), "ms", vec![late_ms]),
        Figure::single(name("memory of a viewer"), "KiB", vec![bytes_each / 1024.0]),
        Figure::single(
            name("memory grown in the second half"),
            "MiB",
            vec![grown_bytes / 1048576.0],
        )
        .goal(Goal::ValueAtMost(4.0)),
    ])
}

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use super::{Settings, requests};
use crate::load::{LongPolls, PLACEHOLDER, Pace, Scoreboard, Slots, answer, drain, wait_on_sockets, wait_on_streams};
use crate::process::{Ceiling, Hub, Target, ensure_open_files, rss_bytes, wait_until_idle};

const FILL_CONNECTIONS: usize = 256;
/// Few connections, so that their buffers do not hide the memory of the first waiters.
const READ_CONNECTIONS: usize = 32;
/// Files that the server and the generator open besides one socket per waiter.
const SPARE_FILES: usize = 500;
const ALL_WAITING_TIMEOUT: Duration = Duration::from_secs(50);
const ALL_ARRIVED_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Clone, Copy)]
pub enum Transport {
    Sockets,
    Streams,
}

#[derive(Clone, Copy)]
pub struct Plan {
    pub transport: Transport,
    pub waiters: usize,
    pub pace: Pace,
}

/// Memory and latency of a wait.
pub struct WaitCost {
    pub bytes_each: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
}

/// The hub is restarted after the fill, and every message is read once before the first waiter connects, so that
/// neither the leftovers of the fill nor the page cache of the store is counted as memory of the waiters, or hides it.
pub async fn on_hub(settings: &Settings, plan: Plan) -> Result<WaitCost> {
    let hub = Hub::start(&settings.hub).await?;
    let agent = hub.add_agent("bench").await?;
    let fill = requests::submit(&agent, Slots::keys(plan.waiters as u64)).capturing();
    let ids = drain(hub.target, FILL_CONNECTIONS, fill).await?;
    let hub = hub.restart().await?;
    drain(hub.target, READ_CONNECTIONS, requests::pull(&agent, ids.clone())).await?;
    let wait_path = format!("/v1/messages/{PLACEHOLDER}?wait=60");
    let answer = requests::answer_template(&hub);
    observe(
        hub.target,
        plan,
        LongPolls {
            wait_path,
            token: Some(agent.token),
            answer,
            ids,
        },
    )
    .await
}

/// The same steps on the ceiling, where a waiter needs no stored message.
pub async fn on_ceiling(settings: &Settings, plan: Plan) -> Result<WaitCost> {
    let ceiling = Ceiling::start(&settings.hub.root).await?;
    let count = plan.waiters as u64;
    drain(
        ceiling.target,
        FILL_CONNECTIONS,
        requests::to_ceiling("/submit", Slots::keys(count)),
    )
    .await?;
    let ceiling = ceiling.restart().await?;
    drain(
        ceiling.target,
        READ_CONNECTIONS,
        requests::to_ceiling("/echo", Slots::keys(count)),
    )
    .await?;
    let names = Slots::keys(count);
    let ids = std::iter::from_fn(|| names.next()).collect();
    let wait_path = format!("/wait/{PLACEHOLDER}");
    let answer = requests::wake_template();
    observe(
        ceiling.target,
        plan,
        LongPolls {
            wait_path,
            token: None,
            answer,
            ids,
        },
    )
    .await
}

async fn observe(target: Target, plan: Plan, polls: LongPolls) -> Result<WaitCost> {
    if let Transport::Sockets = plan.transport {
        ensure_open_files(plan.waiters + SPARE_FILES)?;
    }
    wait_until_idle(target.pid).await?;
    let before = rss_bytes(target.pid)?;
    let polls = Arc::new(polls);
    let board = Arc::new(Scoreboard::new(plan.waiters));
    let waiters = match plan.transport {
        Transport::Sockets => wait_on_sockets(target, &polls, &board),
        Transport::Streams => wait_on_streams(target, &polls, &board).await?,
    };
    board.until_waiting(plan.waiters, ALL_WAITING_TIMEOUT).await?;
    wait_until_idle(target.pid).await?;
    let after = rss_bytes(target.pid)?;
    answer(target, &polls, &board, plan.pace).await?;
    board.until_arrived(plan.pace.answers, ALL_ARRIVED_TIMEOUT).await?;
    drop(waiters);
    Ok(WaitCost {
        bytes_each: after.saturating_sub(before) as f64 / plan.waiters as f64,
        p50_ms: board.latency.quantile(0.5).as_secs_f64() * 1e3,
        p99_ms: board.latency.quantile(0.99).as_secs_f64() * 1e3,
    })
}

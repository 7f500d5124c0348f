use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use super::CONNECTIONS;
use crate::load::{LongPolls, PLACEHOLDER, Pace, Scoreboard, Slots, answer, drain_spread, wait_on_sockets};
use crate::process::{Hub, HubOptions, wait_until_idle};
use crate::report::{Figure, Goal};
use crate::scenario::cluster::Cluster;
use crate::scenario::pairs::{each, in_turns};
use crate::scenario::{Settings, requests};

const PER_SECOND: u32 = 200;
const ALL_WAITING_TIMEOUT: Duration = Duration::from_secs(30);
/// A lost notification is repaired by the reconciliation every 0.7 seconds, which would show in the latency.
const ALL_ARRIVED_TIMEOUT: Duration = Duration::from_secs(10);
/// What the slowest answers may take while another node dies, in milliseconds.
const MAX_MILLIS: f64 = 2000.0;

struct WaitLatency {
    p50_ms: f64,
    p99_ms: f64,
}

/// Agents that wait at the first hub and are answered at the last hub, against waiting and answering at the same hub; and
/// again while one more hub on the database is killed.
pub async fn figures(settings: &Settings, cluster: &Cluster, database_url: String) -> Result<Vec<Figure>> {
    let first = &cluster.hubs[0];
    let last = &cluster.hubs[cluster.hubs.len() - 1];
    let waiters = settings.node_waiters;
    let agent = first.add_agent("waiting").await?;
    let run = async |answering: &Hub, dying: Option<Hub>| {
        let fill = cluster.submit_of(&agent, CONNECTIONS, Slots::keys(waiters as u64));
        let polls = LongPolls {
            wait_path: format!("/v1/messages/{PLACEHOLDER}?wait=60"),
            token: Some(agent.token.clone()),
            answer: requests::answer_template(answering),
            ids: drain_spread(fill).await?,
        };
        observe(first, answering, polls, dying).await
    };
    let (across, same) = in_turns(
        settings.rounds,
        async || run(last, None).await,
        async || run(first, None).await,
    )
    .await?;
    let options = HubOptions {
        database_url: Some(database_url),
        ..settings.hub.clone()
    };
    let mut beside_death = Vec::new();
    for _ in 0..settings.rounds {
        beside_death.push(run(last, Some(Hub::start(&options).await?)).await?);
    }
    let nodes = cluster.hubs.len();
    let figure = |what: &str, quantity: fn(&WaitLatency) -> f64| {
        let name = format!("{nodes} nodes, answer at one to {waiters} waiting at another: {what}");
        Figure::single(name, "ms", each(&across, quantity)).against("same node", each(&same, quantity))
    };
    let name = format!("{nodes} nodes, answer at one to {waiters} waiting at another while one more is killed: p99");
    let killed = Figure::single(name, "ms", each(&beside_death, |run| run.p99_ms)).goal(Goal::ValueAtMost(MAX_MILLIS));
    Ok(vec![
        figure("p50", |run| run.p50_ms),
        figure("p99", |run| run.p99_ms),
        killed,
    ])
}

async fn observe(waiting: &Hub, answering: &Hub, polls: LongPolls, dying: Option<Hub>) -> Result<WaitLatency> {
    let waiters = polls.ids.len();
    let polls = Arc::new(polls);
    let board = Arc::new(Scoreboard::new(waiters));
    let held = wait_on_sockets(waiting.target, &polls, &board);
    board.until_waiting(waiters, ALL_WAITING_TIMEOUT).await?;
    // Afterwards the hub has read every long-poll request.
    wait_until_idle(waiting.target.pid).await?;
    let pace = Pace {
        answers: waiters,
        per_second: PER_SECOND,
    };
    let half_time = Duration::from_secs(1) * u32::try_from(waiters)? / PER_SECOND / 2;
    let kill = async {
        tokio::time::sleep(half_time).await;
        drop(dying);
        Ok(())
    };
    tokio::try_join!(answer(answering.target, &polls, &board, pace), kill)?;
    board.until_arrived(waiters, ALL_ARRIVED_TIMEOUT).await?;
    drop(held);
    let millis = |share: f64| board.latency.quantile(share).as_secs_f64() * 1e3;
    Ok(WaitLatency {
        p50_ms: millis(0.5),
        p99_ms: millis(0.99),
    })
}

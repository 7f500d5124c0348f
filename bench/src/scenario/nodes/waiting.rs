use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use super::CONNECTIONS;
use crate::load::{Board, PLACEHOLDER, Pace, Question, Slots, answer, drain_spread, wait_on_sockets};
use crate::process::{Hub, settle};
use crate::report::Figure;
use crate::scenario::cluster::Cluster;
use crate::scenario::pairs::{each, in_turns};
use crate::scenario::{Settings, requests};

const PER_SECOND: u32 = 200;
const ALL_WAITING_WITHIN: Duration = Duration::from_secs(30);
/// A word that was lost is made good by a look every 0.7 seconds; that would show in the latency.
const ALL_ARRIVED_WITHIN: Duration = Duration::from_secs(10);

struct Waited {
    p50_ms: f64,
    p99_ms: f64,
}

/// Agents that wait at the first hub and are answered at the last one, against the same with one hub for both.
pub async fn figures(settings: &Settings, cluster: &Cluster) -> Result<Vec<Figure>> {
    let first = &cluster.hubs[0];
    let last = &cluster.hubs[cluster.hubs.len() - 1];
    let waiters = settings.node_waiters;
    let agent = first.add_agent("waiting").await?;
    let run = async |answering: &Hub| {
        let fill = cluster.submit_of(&agent, CONNECTIONS, Slots::keys(waiters as u64));
        let question = Question {
            wait_path: format!("/v1/messages/{PLACEHOLDER}?wait=60"),
            token: Some(agent.token.clone()),
            answer: requests::answer_template(answering),
            ids: drain_spread(fill).await?,
        };
        observe(first, answering, question).await
    };
    let (across, same) = in_turns(settings.rounds, async || run(last).await, async || run(first).await).await?;
    let nodes = cluster.hubs.len();
    let figure = |what: &str, quantity: fn(&Waited) -> f64| {
        let name = format!("{nodes} nodes, answer at one to {waiters} waiting at another: {what}");
        Figure::single(name, "ms", each(&across, quantity)).against("same node", each(&same, quantity))
    };
    Ok(vec![figure("p50", |run| run.p50_ms), figure("p99", |run| run.p99_ms)])
}

async fn observe(waiting: &Hub, answering: &Hub, question: Question) -> Result<Waited> {
    let waiters = question.ids.len();
    let question = Arc::new(question);
    let board = Arc::new(Board::new(waiters));
    let held = wait_on_sockets(waiting.target, &question, &board);
    board.until_waiting(waiters, ALL_WAITING_WITHIN).await?;
    // What was sent has been read.
    settle(waiting.target.pid).await?;
    answer(
        answering.target,
        &question,
        &board,
        Pace {
            answers: waiters,
            per_second: PER_SECOND,
        },
    )
    .await?;
    board.until_arrived(waiters, ALL_ARRIVED_WITHIN).await?;
    drop(held);
    let millis = |share: f64| board.latency.quantile(share).as_secs_f64() * 1e3;
    Ok(Waited {
        p50_ms: millis(0.5),
        p99_ms: millis(0.99),
    })
}

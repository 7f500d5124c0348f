//! Fills a store inside its database, because a million messages through the hub would take most of an hour. Rows
//! written by the hub are multiplied, each copy with its own id, key, instants and hashes.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio_postgres::Client;

use crate::load::{Connection, Slot, Slots, Worker, drain_spread};
use crate::process::Agent;
use crate::scenario::cluster::{AGENTS, Cluster};
use crate::scenario::requests;

const PREPARE: &str = include_str!("prepare.sql");
const CHECK: &str = include_str!("check.sql");
const MULTIPLY: &str = include_str!("multiply.sql");
const FINISH: &str = include_str!("finish.sql");
const CHUNK: usize = 50_000;

/// Submits and answers one message of every agent through the hub.
pub async fn patterns(cluster: &Cluster) -> Result<()> {
    let target = cluster.hubs[0].target;
    let worker = |agent: &Agent| Worker {
        target,
        work: requests::submit(agent, Slots::keys(1)).capturing(),
    };
    let ids = drain_spread(cluster.agents.iter().map(worker).collect()).await?;
    drain_spread(cluster.answer(1, ids)).await?;
    Ok(())
}

/// Makes `count` more messages from the patterns.
pub async fn multiply(client: &Client, count: usize) -> Result<()> {
    client.batch_execute(PREPARE).await?;
    let patterns: i64 = client.query_one("SELECT count(*) FROM pattern", &[]).await?.get(0);
    ensure!(patterns == AGENTS as i64, "{patterns} patterns instead of {AGENTS}");
    let different: i64 = client.query_one(CHECK, &[]).await?.get(0);
    ensure!(
        different == 0,
        "{different} rows of the hub differ from what the copy functions make"
    );
    const TOPS: &str =
        "SELECT greatest((SELECT max(seq) FROM message), (SELECT max(seq) FROM resolution)), max(seq) FROM audit";
    let tops = client.query_one(TOPS, &[]).await?;
    let (seq, audit): (i64, i64) = (tops.get(0), tops.get(1));
    for first in (1..=count).step_by(CHUNK) {
        let last = count.min(first + CHUNK - 1);
        let values = [
            (":first", first as i64),
            (":last", last as i64),
            (":all", count as i64),
            (":seq", seq),
            (":audit", audit),
        ];
        let filled = values.iter().fold(MULTIPLY.to_owned(), |text, (name, value)| {
            text.replace(name, &value.to_string())
        });
        client
            .batch_execute(&filled)
            .await
            .with_context(|| format!("cannot make the messages from {first} on"))?;
    }
    Ok(client.batch_execute(FINISH).await?)
}

/// Ids from the whole store for every agent, the same ones in every run, repeated where an agent has fewer than
/// `count`.
pub async fn scattered(client: &Client, agents: &[Agent], count: usize) -> Result<Vec<Vec<Slot>>> {
    const SELECT: &str = "SELECT id FROM message WHERE agent_id = $1 AND id LIKE 'msg\\_00%' ORDER BY md5(id) LIMIT $2";
    let mut all = Vec::new();
    for agent in agents {
        let rows = client.query(SELECT, &[&agent.id, &(count as i64)]).await?;
        let ids: Result<Vec<Slot>, _> = rows
            .iter()
            .map(|row| row.get::<_, &str>(0).as_bytes().try_into())
            .collect();
        let ids = ids.context("an id of another length")?;
        ensure!(!ids.is_empty(), "{} has no messages", agent.id);
        all.push(ids.iter().copied().cycle().take(count).collect());
    }
    Ok(all)
}

/// Checks that the hub serves multiplied messages like its own: to the agent, in the inbox and in the audit trail.
pub async fn check_messages(cluster: &Cluster, ids: &[Vec<Slot>], count: usize) -> Result<()> {
    let hub = &cluster.hubs[0];
    for number in 0..count {
        let agent = number % AGENTS;
        let id = std::str::from_utf8(&ids[agent][number / AGENTS])?;
        let get = async |path: String, token: &str| -> Result<Value> {
            let (status, reply) = Connection::call(hub.target.address, "GET", &path, Some(token), None).await?;
            ensure!(status == 200, "{path} returned {status}: {reply}");
            Ok(reply)
        };
        let message = get(format!("/v1/messages/{id}"), &cluster.agents[agent].token).await?;
        ensure!(
            message["id"] == id && message["status"] == "answered",
            "{id} was pulled as {message}"
        );
        let shown = get(format!("/v1/inbox/{id}"), hub.owner_token()).await?;
        ensure!(
            shown["id"] == id && shown["status"] == "answered",
            "{id} is shown as {shown}"
        );
        let trail = get(format!("/v1/admin/audit?id={id}"), hub.owner_token()).await?;
        ensure!(
            trail["entries"].as_array().is_some_and(|entries| entries.len() == 2),
            "{id} has the trail {trail}"
        );
    }
    Ok(())
}

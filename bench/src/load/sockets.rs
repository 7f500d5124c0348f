use std::sync::Arc;

use anyhow::{Context, Result};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::connection::Connection;
use super::request::render;
use super::scoreboard::{LongPolls, Scoreboard};
use crate::process::Target;

/// More connects at once would overflow the server's accept queue, and a lost SYN costs a second.
const MAX_CONCURRENT_CONNECTS: usize = 64;

/// Opens one HTTP/1.1 connection with a long-poll for each id. Dropping the set closes the connections.
pub fn wait_on_sockets(target: Target, polls: &Arc<LongPolls>, board: &Arc<Scoreboard>) -> JoinSet<()> {
    let gate = Arc::new(Semaphore::new(MAX_CONCURRENT_CONNECTS));
    let mut waiters = JoinSet::new();
    for index in 0..polls.ids.len() {
        let polls = Arc::clone(polls);
        let board = Arc::clone(board);
        let gate = Arc::clone(&gate);
        waiters.spawn(async move {
            let request = render("GET", &polls.path_of(index), polls.token.as_deref(), None);
            drop(polls);
            if let Err(error) = wait(target, index, &request, &board, &gate).await {
                board.note_failure(error);
            }
        });
    }
    waiters
}

async fn wait(target: Target, index: usize, request: &[u8], board: &Scoreboard, gate: &Semaphore) -> Result<()> {
    let permit = gate.acquire().await.context("the gate is closed")?;
    let mut connection = Connection::open(target.address).await?;
    connection.send(request).await?;
    drop(permit);
    board.note_waiting();
    loop {
        let reply = connection.receive().await?;
        if board.record_reply(index, reply.status, reply.body)? {
            return Ok(());
        }
        connection.send(request).await?;
    }
}

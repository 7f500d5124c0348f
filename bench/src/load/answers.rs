use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::connection::Connection;
use super::scoreboard::{LongPolls, Scoreboard};
use crate::process::Target;

/// Enough connections that an answer waits for a free one only when the server stalls for 60 ms.
const CONNECTIONS: usize = 64;

#[derive(Clone, Copy)]
pub struct Pace {
    pub answers: usize,
    pub per_second: u32,
}

/// Answers evenly spread ids at a fixed rate (open loop), whether or not the server keeps up. The latency of an answer
/// counts from its scheduled send time, so a stall shows in the latency of every answer queued behind it.
pub async fn answer(target: Target, polls: &Arc<LongPolls>, board: &Arc<Scoreboard>, pace: Pace) -> Result<()> {
    let mut workers = JoinSet::new();
    let mut inputs = Vec::new();
    for _ in 0..CONNECTIONS {
        let (input, due) = mpsc::unbounded_channel();
        let connection = Connection::open(target.address).await?;
        workers.spawn(worker(connection, Arc::clone(polls), due));
        inputs.push(input);
    }
    let stride = (polls.ids.len() / pace.answers).max(1);
    let noted = Arc::clone(board);
    let pacer = thread::Builder::new()
        .name("pacer".into())
        .spawn(move || schedule_answers(&noted, &inputs, stride, pace))?;
    while let Some(worker) = workers.join_next().await {
        worker??;
    }
    pacer.join().ok().context("the pacer failed")
}

/// The pacer runs on its own thread: tokio's timers tick in milliseconds, which would send the answers in bursts.
fn schedule_answers(board: &Scoreboard, workers: &[mpsc::UnboundedSender<usize>], stride: usize, pace: Pace) {
    let interval = Duration::from_secs(1) / pace.per_second;
    let started = Instant::now();
    for number in 0..pace.answers {
        let due = started + interval * number as u32;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let index = number * stride;
        board.note_answered(index);
        if workers[number % workers.len()].send(index).is_err() {
            return;
        }
    }
}

async fn worker(
    mut connection: Connection,
    polls: Arc<LongPolls>,
    mut due: mpsc::UnboundedReceiver<usize>,
) -> Result<()> {
    let mut template = polls.answer.clone();
    while let Some(index) = due.recv().await {
        let reply = connection.exchange(template.fill(&polls.ids[index])).await?;
        reply.expect(200)?;
    }
    Ok(())
}

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::connection::Connection;
use super::histogram::Histogram;
use super::request::Slot;
use super::work::{Work, captured_id};
use crate::process::{Target, Usage};

/// After the end of a window every request still open gets this long to be answered.
const GRACE: Duration = Duration::from_secs(30);
/// The longest a fill may take.
const LONGEST_FILL: Duration = Duration::from_secs(1200);

const WARMING: u8 = 0;
const MEASURING: u8 = 1;
const STOPPING: u8 = 2;

/// When to measure: after `warm_up`, for `length`, or until the work is done.
#[derive(Clone, Copy)]
pub struct Window {
    pub warm_up: Duration,
    pub length: Duration,
}

/// What a window showed.
pub struct Sample {
    pub elapsed: Duration,
    pub latency: Histogram,
    pub cpu: Duration,
    pub flushes: u64,
    pub ids: Vec<Slot>,
}

impl Sample {
    pub fn per_second(&self) -> f64 {
        self.latency.count() as f64 / self.elapsed.as_secs_f64()
    }

    pub fn cpu_micros_each(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.latency.count().max(1) as f64
    }

    pub fn flushes_each(&self) -> f64 {
        self.flushes as f64 / self.latency.count().max(1) as f64
    }

    pub fn millis(&self, share: f64) -> f64 {
        self.latency.quantile(share).as_secs_f64() * 1e3
    }
}

struct Run {
    target: Target,
    work: Work,
    phase: AtomicU8,
    latency: Histogram,
    /// Some connection found no work left, or failed.
    over: Notify,
}

/// Every connection sends its next request as soon as the last one is answered.
pub async fn measure(target: Target, connections: usize, work: Work, window: Window) -> Result<Sample> {
    let (run, lanes) = start(target, connections, work);
    let _ = timeout(window.warm_up, run.over.notified()).await;
    let before = Usage::of(target.pid)?;
    let started = Instant::now();
    run.phase.store(MEASURING, Relaxed);
    let _ = timeout(window.length, run.over.notified()).await;
    run.phase.store(STOPPING, Relaxed);
    let elapsed = started.elapsed();
    let after = Usage::of(target.pid)?;
    let ids = finish(lanes).await?;
    let run = Arc::into_inner(run).context("a connection is still at work")?;
    ensure!(run.latency.count() > 0, "no request was answered within the window");
    let (cpu, flushes) = (after.cpu.saturating_sub(before.cpu), after.flushes.saturating_sub(before.flushes));
    Ok(Sample { elapsed, latency: run.latency, cpu, flushes, ids })
}

/// Does all of the work as fast as it goes and returns the ids it captured.
pub async fn drain(target: Target, connections: usize, work: Work) -> Result<Vec<Slot>> {
    let (run, lanes) = start(target, connections, work);
    timeout(LONGEST_FILL, run.over.notified()).await.context("filling took too long")?;
    finish(lanes).await
}

fn start(target: Target, connections: usize, work: Work) -> (Arc<Run>, JoinSet<Result<Vec<Slot>>>) {
    let phase = AtomicU8::new(WARMING);
    let run = Arc::new(Run { target, work, phase, latency: Histogram::default(), over: Notify::new() });
    let mut lanes = JoinSet::new();
    for _ in 0..connections {
        let run = Arc::clone(&run);
        lanes.spawn(async move {
            let ids = lane(&run).await;
            run.over.notify_one();
            ids
        });
    }
    (run, lanes)
}

async fn lane(run: &Run) -> Result<Vec<Slot>> {
    let mut connection = Connection::open(run.target.address).await?;
    let mut template = run.work.template.clone();
    let mut ids = Vec::new();
    while run.phase.load(Relaxed) != STOPPING {
        let Some(slot) = run.work.slots.next() else { break };
        let started = Instant::now();
        let reply = connection.exchange(template.fill(&slot)).await?;
        if run.phase.load(Relaxed) == MEASURING {
            run.latency.record(started.elapsed());
        }
        reply.expect(run.work.expect)?;
        if run.work.capture {
            ids.push(captured_id(&reply)?);
        }
    }
    Ok(ids)
}

async fn finish(mut lanes: JoinSet<Result<Vec<Slot>>>) -> Result<Vec<Slot>> {
    let mut ids = Vec::new();
    let all = async {
        while let Some(lane) = lanes.join_next().await {
            ids.append(&mut lane??);
        }
        anyhow::Ok(())
    };
    timeout(GRACE, all).await.context("a request was never answered")??;
    Ok(ids)
}

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::histogram::Histogram;
use super::request::Slot;
use crate::process::Usage;

/// The time that requests still open at the end of a window have to be answered.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);
/// The time limit for filling a store.
const FILL_TIMEOUT: Duration = Duration::from_secs(1200);

const WARMING: u8 = 0;
const MEASURING: u8 = 1;
const STOPPING: u8 = 2;

/// The time to measure: after `warm_up`, for `length` or until the work is done.
#[derive(Clone, Copy)]
pub struct Window {
    pub warm_up: Duration,
    pub length: Duration,
}

/// The measurements of one window.
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

/// The phase and the latencies that all lanes (one lane per connection) of a run share.
pub struct Meter {
    phase: AtomicU8,
    latency: Histogram,
    /// Notified when a lane has no work left or has failed.
    over: Notify,
}

impl Meter {
    fn new() -> Arc<Self> {
        let phase = AtomicU8::new(WARMING);
        Arc::new(Self {
            phase,
            latency: Histogram::default(),
            over: Notify::new(),
        })
    }

    pub fn is_over(&self) -> bool {
        self.phase.load(Relaxed) == STOPPING
    }

    /// Records a latency, but only inside the window.
    pub fn record(&self, latency: Duration) {
        if self.phase.load(Relaxed) == MEASURING {
            self.latency.record(latency);
        }
    }
}

/// Runs `count` lanes through a window and measures the processor time of the servers; each lane has to end by itself
/// once the meter is over.
pub async fn in_window<T, F>(
    servers: &[u32],
    count: usize,
    window: Window,
    worker: impl Fn(Arc<Meter>) -> F,
) -> Result<(Sample, Vec<T>)>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let meter = Meter::new();
    let workers = start(&meter, count, worker);
    let _ = timeout(window.warm_up, meter.over.notified()).await;
    let before = Usage::of_process_trees(servers)?;
    let started = Instant::now();
    meter.phase.store(MEASURING, Relaxed);
    let _ = timeout(window.length, meter.over.notified()).await;
    meter.phase.store(STOPPING, Relaxed);
    let elapsed = started.elapsed();
    let after = Usage::of_process_trees(servers)?;
    let found = finish(workers).await?;
    let meter = Arc::into_inner(meter).context("a connection is still at work")?;
    ensure!(meter.latency.count() > 0, "no request was answered within the window");
    let cpu = after.cpu.saturating_sub(before.cpu);
    let flushes = after.flushes.saturating_sub(before.flushes);
    Ok((
        Sample {
            elapsed,
            latency: meter.latency,
            cpu,
            flushes,
            ids: Vec::new(),
        },
        found,
    ))
}

/// Runs `count` lanes until their work is done.
pub async fn run_to_completion<T, F>(count: usize, worker: impl Fn(Arc<Meter>) -> F) -> Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let meter = Meter::new();
    let workers = start(&meter, count, worker);
    timeout(FILL_TIMEOUT, meter.over.notified())
        .await
        .context("filling took too long")?;
    finish(workers).await
}

fn start<T, F>(meter: &Arc<Meter>, count: usize, worker: impl Fn(Arc<Meter>) -> F) -> JoinSet<Result<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let mut workers = JoinSet::new();
    for _ in 0..count {
        let (meter, worker) = (Arc::clone(meter), worker(Arc::clone(meter)));
        workers.spawn(async move {
            let found = worker.await;
            meter.over.notify_one();
            found
        });
    }
    workers
}

async fn finish<T: 'static>(mut workers: JoinSet<Result<T>>) -> Result<Vec<T>> {
    let mut found = Vec::new();
    let all = async {
        while let Some(worker) = workers.join_next().await {
            found.push(worker??);
        }
        anyhow::Ok(())
    };
    timeout(DRAIN_TIMEOUT, all)
        .await
        .context("a request was never answered")??;
    Ok(found)
}

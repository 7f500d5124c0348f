//! Many viewers of the inbox at the same time, each on its own event stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::requests;
use crate::process::{Agent, Hub, Target, ensure_open_files, rss_bytes, wait_until_idle};

const SPARE_FILES: usize = 500;
const SHOW_INTERVAL: Duration = Duration::from_millis(20);
const ALL_VIEWERS_TIMEOUT: Duration = Duration::from_secs(60);
const OPENED: &[u8] = b"event: opened";
const RESYNC: &[u8] = b"event: resync";

pub struct ViewerResult {
    /// New items that did not reach a viewer, summed over all viewers.
    pub missed: u64,
    /// The time from the agent's ack until the last viewer has the event.
    pub late_ms: f64,
    pub bytes_each: f64,
    pub grown_bytes: f64,
}

#[derive(Default)]
struct ViewerCounts {
    looking: AtomicU64,
    shown: AtomicU64,
    resyncs: AtomicU64,
    moved: Notify,
}

impl ViewerCounts {
    async fn until(&self, what: &str, reached: impl Fn(&Self) -> bool) -> Result<()> {
        let wait = async {
            while !reached(self) {
                let moved = self.moved.notified();
                if reached(self) {
                    return;
                }
                moved.await;
            }
        };
        timeout(ALL_VIEWERS_TIMEOUT, wait)
            .await
            .with_context(|| format!("gave up waiting until {what}"))
    }
}

/// Below the hub's limit of 50 streams per person.
const STREAMS_PER_PERSON: usize = 40;

async fn people(hub: &Hub, viewers: usize) -> Result<Vec<String>> {
    let mut cookies = Vec::new();
    for number in 0..viewers.div_ceil(STREAMS_PER_PERSON) {
        let name = format!("viewer-{number}");
        hub.add_person(&name).await?;
        cookies.push(hub.sign_in(&name).await?);
    }
    Ok(cookies)
}

pub async fn watch_inbox(hub: &Hub, agent: &Agent, viewers: usize, items: usize) -> Result<ViewerResult> {
    ensure_open_files(viewers + SPARE_FILES)?;
    let cookies = people(hub, viewers).await?;
    let target = hub.target;
    let counts = Arc::new(ViewerCounts::default());
    wait_until_idle(target.pid).await?;
    let before = rss_bytes(target.pid)?;
    let mut tasks = JoinSet::new();
    for number in 0..viewers {
        let counts = Arc::clone(&counts);
        let cookie = cookies[number / STREAMS_PER_PERSON].clone();
        tasks.spawn(async move { view(target, &cookie, &counts).await });
    }
    let viewer_count = viewers as u64;
    counts
        .until("all viewers are connected", |counts| {
            counts.looking.load(Relaxed) == viewer_count
        })
        .await?;
    wait_until_idle(target.pid).await?;
    let looking = rss_bytes(target.pid)?;
    let mut late = Vec::new();
    show(hub, agent, &counts, viewer_count, items, &mut late).await?;
    wait_until_idle(target.pid).await?;
    let half = rss_bytes(target.pid)?;
    show(hub, agent, &counts, viewer_count, items, &mut late).await?;
    wait_until_idle(target.pid).await?;
    let grown_bytes = rss_bytes(target.pid)? as f64 - half as f64;
    let due = viewer_count * 2 * items as u64;
    let missed = due.saturating_sub(counts.shown.load(Relaxed)) + counts.resyncs.load(Relaxed);
    late.sort_by(f64::total_cmp);
    let late_ms = late.get(late.len() * 99 / 100).copied().unwrap_or(f64::NAN);
    let bytes_each = looking.saturating_sub(before) as f64 / viewers as f64;
    Ok(ViewerResult {
        missed,
        late_ms,
        bytes_each,
        grown_bytes,
    })
}

/// Submits one item after the other and waits each time until every viewer has its event.
async fn show(
    hub: &Hub,
    agent: &Agent,
    counts: &ViewerCounts,
    viewers: u64,
    items: usize,
    late: &mut Vec<f64>,
) -> Result<()> {
    for _ in 0..items {
        let due = counts.shown.load(Relaxed) + viewers;
        let title = format!("Item number {due}");
        requests::ask_titled(hub, agent, &title).await?;
        let acked = Instant::now();
        counts
            .until("every viewer has the event", |counts| counts.shown.load(Relaxed) >= due)
            .await?;
        late.push(acked.elapsed().as_secs_f64() * 1e3);
        tokio::time::sleep(SHOW_INTERVAL).await;
    }
    Ok(())
}

async fn view(target: Target, cookie: &str, counts: &ViewerCounts) -> Result<()> {
    let mut stream = TcpStream::connect(target.address).await?;
    let request = format!("GET /inbox/events HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: {cookie}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut buffer: Vec<u8> = Vec::with_capacity(8192);
    let mut is_looking = false;
    loop {
        let read = stream.read_buf(&mut buffer).await?;
        ensure!(read > 0, "the hub ended a stream of events");
        if !is_looking {
            let head = String::from_utf8_lossy(&buffer);
            ensure!(head.starts_with("HTTP/1.1 200"), "no stream of events: {head}");
            is_looking = true;
            counts.looking.fetch_add(1, Relaxed);
        }
        counts.shown.fetch_add(count(&buffer, OPENED), Relaxed);
        counts.resyncs.fetch_add(count(&buffer, RESYNC), Relaxed);
        counts.moved.notify_waiters();
        // The tail stays in the buffer: it may be the beginning of an event name.
        let kept = buffer.len().min(OPENED.len() - 1);
        buffer.drain(..buffer.len() - kept);
    }
}

fn count(bytes: &[u8], word: &[u8]) -> u64 {
    bytes.windows(word.len()).filter(|window| *window == word).count() as u64
}

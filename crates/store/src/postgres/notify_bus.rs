//! Messages between the nodes on one database, by LISTEN and NOTIFY on one connection per node. A message may be lost,
//! with a connection or with the hub that sent it; after a reconnect the subscriber gets a gap notification.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use countersign_protocol::backoff::Backoff;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_postgres::{Client, Config, Notification as PgNotification, Statement};

use super::connect;
use crate::error::StoreError;

const CHANNEL: &str = "countersign";
/// Messages queued for sending. On overflow a gap notification is sent instead of the dropped messages.
const QUEUE_CAPACITY: usize = 8192;
/// PostgreSQL limits a payload to less than 8000 bytes.
const MAX_PAYLOAD_BYTES: usize = 7900;
/// Separates the messages in one payload; it never occurs inside a message.
const SEPARATOR: char = '\n';
const GAP_PAYLOAD: &str = "*";
/// How often an idle connection is checked.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);
const REPLY_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a stopping hub waits for its last messages to be sent.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
const INITIAL_BACKOFF: Duration = Duration::from_millis(50);
const MAX_BACKOFF: Duration = Duration::from_secs(2);

/// A notification as a hub receives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notification {
    Message(String),
    /// Messages may have been lost: re-read everything.
    Gap,
}

pub struct NotifyBus {
    config: Config,
    queue: mpsc::Sender<String>,
    queued: Mutex<mpsc::Receiver<String>>,
    /// Messages were dropped since the last gap notification.
    dropped: AtomicBool,
    /// How many messages were queued, and how many of them were sent.
    queued_count: AtomicU64,
    sent_count: watch::Sender<u64>,
}

impl NotifyBus {
    pub fn new(config: Config) -> Self {
        let (queue, queued) = mpsc::channel(QUEUE_CAPACITY);
        let queued = Mutex::new(queued);
        let sent_count = watch::Sender::new(0);
        Self {
            config,
            queue,
            queued,
            dropped: AtomicBool::new(false),
            queued_count: AtomicU64::new(0),
            sent_count,
        }
    }

    /// Never blocks and never fails. All nodes receive the message, this one too. At most a few kilobytes, in one line.
    pub fn publish(&self, message: String) {
        if message.len() > MAX_PAYLOAD_BYTES || self.queue.try_send(message).is_err() {
            self.dropped.store(true, Ordering::SeqCst);
        } else {
            self.queued_count.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Tells all nodes to re-read everything.
    pub fn publish_gap(&self) {
        self.publish(GAP_PAYLOAD.to_owned());
    }

    /// Waits, for a short time at most, until every message queued so far is sent. It needs `run` beside it.
    pub async fn flush(&self) {
        let queued = self.queued_count.load(Ordering::SeqCst);
        let mut sent = self.sent_count.subscribe();
        // Messages that miss the timeout are found by the other nodes' reconciliation.
        drop(timeout(FLUSH_TIMEOUT, sent.wait_for(|sent| *sent >= queued)).await);
    }

    /// Sends queued messages and forwards received ones, reconnecting as needed, until dropped or the receiver is
    /// closed.
    pub async fn run(&self, sink: &mpsc::Sender<Notification>) {
        let mut queued = self.queued.lock().await;
        let mut backoff = Backoff::new(INITIAL_BACKOFF, MAX_BACKOFF);
        while !sink.is_closed() {
            match self.connect().await {
                Ok((publisher, incoming)) => {
                    let connected_at = Instant::now();
                    // Messages sent from here since the last connection may be lost too.
                    self.dropped.store(true, Ordering::SeqCst);
                    if sink.send(Notification::Gap).await.is_err() {
                        return;
                    }
                    let error = self.pump(&publisher, &mut queued, Subscriber { incoming, sink }).await;
                    tracing::warn!(%error, "LISTEN connection to the database lost; reconnecting");
                    // A connection that ends at once does not reset the backoff.
                    if connected_at.elapsed() > MAX_BACKOFF {
                        backoff.reset();
                    }
                }
                Err(error) => tracing::warn!(%error, "connecting to the database for LISTEN failed; retrying"),
            }
            sleep(backoff.pause()).await;
        }
    }

    async fn connect(&self) -> Result<(Publisher, mpsc::Receiver<PgNotification>), StoreError> {
        let listening = async {
            let (client, incoming) = connect::listener(&self.config).await?;
            client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
            let notify = client.prepare("SELECT pg_notify($1, $2)").await?;
            Ok((Publisher { client, notify }, incoming))
        };
        timeout(REPLY_TIMEOUT, listening)
            .await
            .unwrap_or_else(|_elapsed| Err(timed_out()))
    }

    /// Sends and receives until the connection fails, and returns the error.
    async fn pump(
        &self,
        publisher: &Publisher,
        queued: &mut mpsc::Receiver<String>,
        mut subscriber: Subscriber<'_>,
    ) -> StoreError {
        loop {
            if self.dropped.swap(false, Ordering::SeqCst) {
                if let Err(error) = self.notify(publisher, GAP_PAYLOAD, &mut subscriber).await {
                    return error;
                }
                // The gap notification covers the dropped messages; the queued ones are still to be sent.
                self.sent_count.send_replace(
                    self.queued_count
                        .load(Ordering::SeqCst)
                        .saturating_sub(queued.len() as u64),
                );
            }
            tokio::select! {
                message = queued.recv() => {
                    let mut next = message;
                    while let Some(first) = next.take() {
                        let payload;
                        (payload, next) = join_queued(first, queued);
                        if let Err(error) = self.notify(publisher, &payload, &mut subscriber).await {
                            return error;
                        }
                        let count = payload.split(SEPARATOR).count() as u64;
                        self.sent_count.send_modify(|sent| *sent += count);
                    }
                }
                notification = subscriber.incoming.recv() => {
                    let Some(notification) = notification else { return closed() };
                    if let Err(error) = subscriber.forward(&notification).await {
                        return error;
                    }
                }
                () = sleep(KEEPALIVE_INTERVAL) => {
                    if let Err(error) = subscriber.receive_during(publisher.client.batch_execute("")).await {
                        return error;
                    }
                }
            }
        }
    }

    async fn notify(
        &self,
        publisher: &Publisher,
        payload: &str,
        subscriber: &mut Subscriber<'_>,
    ) -> Result<(), StoreError> {
        let sent = subscriber
            .receive_during(publisher.client.execute(&publisher.notify, &[&CHANNEL, &payload]))
            .await;
        if sent.is_err() {
            self.dropped.store(true, Ordering::SeqCst);
        }
        sent.map(drop)
    }
}

struct Publisher {
    client: Client,
    notify: Statement,
}

struct Subscriber<'h> {
    incoming: mpsc::Receiver<PgNotification>,
    sink: &'h mpsc::Sender<Notification>,
}

impl Subscriber<'_> {
    /// Forwards notifications while `work` runs: with a full buffer the connection is not read and `work` gets no
    /// reply.
    async fn receive_during<T>(
        &mut self,
        work: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, StoreError> {
        let mut work = pin!(timeout(REPLY_TIMEOUT, work));
        loop {
            tokio::select! {
                done = &mut work => return done.map_or_else(|_elapsed| Err(timed_out()), |done| Ok(done?)),
                Some(notification) = self.incoming.recv() => self.forward(&notification).await?,
            }
        }
    }

    async fn forward(&self, notification: &PgNotification) -> Result<(), StoreError> {
        for message in notification.payload().split(SEPARATOR) {
            let notification = if message == GAP_PAYLOAD {
                Notification::Gap
            } else {
                Notification::Message(message.to_owned())
            };
            self.sink.send(notification).await.map_err(|_| closed())?;
        }
        Ok(())
    }
}

/// Joins as many queued messages as fit into one payload. Also returns the first one that did not fit.
fn join_queued(first: String, queued: &mut mpsc::Receiver<String>) -> (String, Option<String>) {
    let mut payload = first;
    while let Ok(next) = queued.try_recv() {
        if payload.len() + next.len() >= MAX_PAYLOAD_BYTES {
            return (payload, Some(next));
        }
        payload.push(SEPARATOR);
        payload.push_str(&next);
    }
    (payload, None)
}

fn closed() -> StoreError {
    StoreError::Unavailable("the connection is closed".to_owned())
}

fn timed_out() -> StoreError {
    StoreError::Unavailable("the database did not respond in time".to_owned())
}

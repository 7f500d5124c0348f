//! What hubs on one database say to each other: LISTEN and NOTIFY on one connection of each. A word may be lost, with a
//! connection or with the hub that said it; whoever hears again after a break is told that something may have been missed.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_postgres::{Client, Config, Notification, Statement};

use super::connect;
use crate::error::StoreError;

const CHANNEL: &str = "countersign";
/// What is said and not sent yet. More than that, and everybody is told to look at everything.
const UNSAID: usize = 8192;
/// PostgreSQL takes less than 8000 bytes at once.
const MOST_BYTES: usize = 7900;
/// Between two words: a word of its own, which nobody says.
const BETWEEN: char = '\n';
const EVERYTHING: &str = "*";
/// So often the connection proves that it is there, when nothing is said.
const BEAT: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(3);
/// For the last words of a hub that stops.
const FAREWELL: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// One thing that was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    Said(String),
    /// Something may have been said that was not heard: look at everything.
    Missed,
}

pub struct Bus {
    config: Config,
    words: mpsc::Sender<String>,
    unsaid: Mutex<mpsc::Receiver<String>>,
    /// Words were dropped.
    dropped: AtomicBool,
    /// How many words were taken, and how many of them are through.
    said: AtomicU64,
    sent: watch::Sender<u64>,
}

impl Bus {
    pub fn new(config: Config) -> Self {
        let (words, unsaid) = mpsc::channel(UNSAID);
        let unsaid = Mutex::new(unsaid);
        let sent = watch::Sender::new(0);
        Self {
            config,
            words,
            unsaid,
            dropped: AtomicBool::new(false),
            said: AtomicU64::new(0),
            sent,
        }
    }

    /// Never waits and never fails. All hubs hear it, this one too. At most a few kilobytes, in one line.
    pub fn say(&self, word: String) {
        if word.len() > MOST_BYTES || self.words.try_send(word).is_err() {
            self.dropped.store(true, Ordering::SeqCst);
        } else {
            self.said.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// All hubs are told to look at everything.
    pub fn say_everything(&self) {
        self.say(EVERYTHING.to_owned());
    }

    /// Until everything that was said so far is sent, for a moment at most. It needs `run` beside it.
    pub async fn flush(&self) {
        let said = self.said.load(Ordering::SeqCst);
        let mut sent = self.sent.subscribe();
        // What cannot be sent in time is found by the others.
        drop(timeout(FAREWELL, sent.wait_for(|sent| *sent >= said)).await);
    }

    /// Says what is to be said and passes on what is heard, over every break, until it is dropped or nobody hears.
    pub async fn run(&self, heard: &mpsc::Sender<Word>) {
        let mut unsaid = self.unsaid.lock().await;
        let mut pause = FIRST_PAUSE;
        while !heard.is_closed() {
            match self.connect().await {
                Ok((mouth, words)) => {
                    let connected_at = Instant::now();
                    // What was said here since the last connection may be lost too.
                    self.dropped.store(true, Ordering::SeqCst);
                    if heard.send(Word::Missed).await.is_err() {
                        return;
                    }
                    let error = self.speak(&mouth, &mut unsaid, Ear { words, heard }).await;
                    tracing::warn!(%error, "the connection to the other hubs ended; it is made again");
                    // One that ends as soon as it is made is no better than none.
                    if connected_at.elapsed() > LONGEST_PAUSE {
                        pause = FIRST_PAUSE;
                    }
                }
                Err(error) => tracing::warn!(%error, "the other hubs cannot be heard"),
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn connect(&self) -> Result<(Mouth, mpsc::Receiver<Notification>), StoreError> {
        let listening = async {
            let (client, words) = connect::listener(&self.config).await?;
            client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
            let notify = client.prepare("SELECT pg_notify($1, $2)").await?;
            Ok((Mouth { client, notify }, words))
        };
        timeout(PATIENCE, listening)
            .await
            .unwrap_or_else(|_elapsed| Err(too_late()))
    }

    /// Until the connection ends.
    async fn speak(&self, mouth: &Mouth, unsaid: &mut mpsc::Receiver<String>, mut ear: Ear<'_>) -> StoreError {
        loop {
            if self.dropped.swap(false, Ordering::SeqCst) {
                if let Err(error) = self.notify(mouth, EVERYTHING, &mut ear).await {
                    return error;
                }
                // What was lost is made up for; what waits is still to be said.
                self.sent
                    .send_replace(self.said.load(Ordering::SeqCst).saturating_sub(unsaid.len() as u64));
            }
            tokio::select! {
                said = unsaid.recv() => {
                    let mut next = said;
                    while let Some(first) = next.take() {
                        let words;
                        (words, next) = together(first, unsaid);
                        if let Err(error) = self.notify(mouth, &words, &mut ear).await {
                            return error;
                        }
                        let count = words.split(BETWEEN).count() as u64;
                        self.sent.send_modify(|sent| *sent += count);
                    }
                }
                notification = ear.words.recv() => {
                    let Some(notification) = notification else { return gone() };
                    if let Err(error) = ear.pass_on(&notification).await {
                        return error;
                    }
                }
                () = sleep(BEAT) => {
                    if let Err(error) = ear.hear_during(mouth.client.batch_execute("")).await {
                        return error;
                    }
                }
            }
        }
    }

    async fn notify(&self, mouth: &Mouth, words: &str, ear: &mut Ear<'_>) -> Result<(), StoreError> {
        let sent = ear
            .hear_during(mouth.client.execute(&mouth.notify, &[&CHANNEL, &words]))
            .await;
        if sent.is_err() {
            self.dropped.store(true, Ordering::SeqCst);
        }
        sent.map(drop)
    }
}

struct Mouth {
    client: Client,
    notify: Statement,
}

struct Ear<'h> {
    words: mpsc::Receiver<Notification>,
    heard: &'h mpsc::Sender<Word>,
}

impl Ear<'_> {
    /// What comes meanwhile is passed on: once there is too much of it the connection is not read, and so answers nothing.
    async fn hear_during<T>(
        &mut self,
        work: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, StoreError> {
        let mut work = pin!(timeout(PATIENCE, work));
        loop {
            tokio::select! {
                done = &mut work => return done.map_or_else(|_elapsed| Err(too_late()), |done| Ok(done?)),
                Some(notification) = self.words.recv() => self.pass_on(&notification).await?,
            }
        }
    }

    async fn pass_on(&self, notification: &Notification) -> Result<(), StoreError> {
        for word in notification.payload().split(BETWEEN) {
            let word = if word == EVERYTHING {
                Word::Missed
            } else {
                Word::Said(word.to_owned())
            };
            self.heard.send(word).await.map_err(|_| gone())?;
        }
        Ok(())
    }
}

/// As many as fit into one notification, and the one that does not.
fn together(first: String, unsaid: &mut mpsc::Receiver<String>) -> (String, Option<String>) {
    let mut words = first;
    while let Ok(next) = unsaid.try_recv() {
        if words.len() + next.len() >= MOST_BYTES {
            return (words, Some(next));
        }
        words.push(BETWEEN);
        words.push_str(&next);
    }
    (words, None)
}

fn gone() -> StoreError {
    StoreError::Unavailable("the connection is closed".to_owned())
}

fn too_late() -> StoreError {
    StoreError::Unavailable("the database did not answer in time".to_owned())
}

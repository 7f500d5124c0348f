use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::load::Head;

const MAX_PUSH_BYTES: usize = 64 * 1024;

/// A webhook receiver. Dropping it closes its port.
pub struct Receiver {
    pub address: SocketAddr,
    log: Arc<PushLog>,
    _tasks: JoinSet<()>,
}

#[derive(Default)]
struct PushLog {
    pushes: Mutex<Pushes>,
    changed: Notify,
}

#[derive(Default)]
struct Pushes {
    resolutions: HashSet<String>,
    last_at: Option<Instant>,
    failure: Option<anyhow::Error>,
}

impl Receiver {
    pub async fn answering() -> Result<Self> {
        Self::open(Ipv4Addr::LOCALHOST, true).await
    }

    /// Accepts connections and never replies. It has its own address, like another host.
    pub async fn hanging() -> Result<Self> {
        Self::open(Ipv4Addr::new(127, 0, 0, 2), false).await
    }

    async fn open(host: Ipv4Addr, answers: bool) -> Result<Self> {
        let listener = TcpListener::bind((host, 0)).await?;
        let address = listener.local_addr()?;
        let log = Arc::new(PushLog::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&log), answers));
        Ok(Self {
            address,
            log,
            _tasks: tasks,
        })
    }

    /// Waits for `count` different resolutions and returns the arrival time of the last one.
    pub async fn until_received(&self, count: usize, within: Duration) -> Result<Instant> {
        let all = async {
            loop {
                if let Some(done) = self.log.done(count)? {
                    return anyhow::Ok(done);
                }
                self.log.changed.notified().await;
            }
        };
        timeout(within, all)
            .await
            .with_context(|| format!("not all of {count} pushes arrived within {within:?}"))?
    }
}

impl PushLog {
    fn done(&self, count: usize) -> Result<Option<Instant>> {
        let mut pushes = self.pushes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = pushes.failure.take() {
            return Err(failure);
        }
        Ok(pushes.last_at.filter(|_| pushes.resolutions.len() >= count))
    }

    fn note(&self, push: Result<String>) {
        let mut pushes = self.pushes.lock().unwrap_or_else(PoisonError::into_inner);
        match push {
            Ok(resolution) => {
                if pushes.resolutions.insert(resolution) {
                    pushes.last_at = Some(Instant::now());
                }
            }
            Err(error) => pushes.failure = Some(error),
        }
        self.changed.notify_one();
    }
}

async fn accept(listener: TcpListener, log: Arc<PushLog>, answers: bool) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let log = Arc::clone(&log);
        connections.spawn(async move {
            if answers {
                // Fails when the hub is killed, which is no error of the receiver.
                let _ = receive_pushes(stream, &log).await;
            } else {
                hang(stream).await;
            }
        });
    }
}

async fn hang(stream: TcpStream) {
    let _stream = stream;
    std::future::pending::<()>().await;
}

async fn receive_pushes(mut stream: TcpStream, log: &PushLog) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(4096);
    while stream.read_buf(&mut buffer).await? > 0 {
        ensure!(
            buffer.len() <= MAX_PUSH_BYTES,
            "a push is larger than {MAX_PUSH_BYTES} bytes"
        );
        let Some(head) = Head::find(&buffer)? else { continue };
        let length = head.length + head.content_length()?.context("a push has no content-length")?;
        if buffer.len() < length {
            continue;
        }
        log.note(signed_resolution(&head));
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
            .await?;
        buffer.drain(..length);
    }
    Ok(())
}

/// Returns the resolution id of a push, or an error unless the push has both signatures.
fn signed_resolution(head: &Head<'_>) -> Result<String> {
    for name in ["a2h-signature", "webhook-signature"] {
        ensure!(
            head.field(name).is_some_and(|value| !value.is_empty()),
            "a push came without {name}"
        );
    }
    Ok(head
        .field("webhook-id")
        .context("a push came without webhook-id")?
        .to_owned())
}

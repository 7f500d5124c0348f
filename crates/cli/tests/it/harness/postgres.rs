//! A database per test in a real PostgreSQL, and a proxy to it that can cut, stall and slow down the connection.

#[path = "../../../../store/tests/suite/postgres/server.rs"]
mod server;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio_postgres::{Client, NoTls};

use super::{Scratch, eventually};

/// The directory of the server's Unix socket.
fn socket_directory() -> PathBuf {
    let address = server::address();
    let host = address.split_whitespace().find_map(|part| part.strip_prefix("host="));
    PathBuf::from(host.expect("the server address names a socket directory"))
}

async fn connect_to(database: &str) -> Client {
    let address = format!("{} dbname={database}", server::address());
    let (client, connection) = tokio_postgres::connect(&address, NoTls)
        .await
        .expect("PostgreSQL answers");
    tokio::spawn(connection);
    client
}

pub struct Database {
    pub name: String,
}

impl Database {
    pub async fn create() -> Self {
        let name = format!("hubs_{}", uuid::Uuid::new_v4().simple());
        connect_to("postgres")
            .await
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .await
            .expect("a new database");
        Self { name }
    }

    pub fn url(&self) -> String {
        url(&socket_directory(), &self.name)
    }

    /// The URL with a password that this server ignores; the hub must never print it.
    pub fn url_with_password(&self) -> String {
        self.url().replace("countersign@", "countersign:s3cret@")
    }

    pub async fn execute(&self, sql: &str) {
        self.connect().await.batch_execute(sql).await.expect(sql);
    }

    /// Connects directly, as an operator with a shell would.
    pub async fn connect(&self) -> Client {
        connect_to(&self.name).await
    }

    pub async fn number(&self, sql: &str) -> i64 {
        self.connect().await.query_one(sql, &[]).await.expect("a number").get(0)
    }

    /// Begins a transaction with a statement that takes locks, held until the transaction ends or the client is dropped.
    pub async fn locked(&self, sql: &str) -> Client {
        let client = self.connect().await;
        client.batch_execute(&format!("BEGIN; {sql}")).await.expect(sql);
        client
    }

    /// Waits until a hub is blocked on a lock.
    pub async fn until_blocked(&self) {
        let blocked = "SELECT count(*) FROM pg_stat_activity \
             WHERE datname = current_database() AND wait_event_type = 'Lock'";
        eventually("a hub waits for the lock", async || {
            (self.number(blocked).await > 0).then_some(())
        })
        .await;
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let name = std::mem::take(&mut self.name);
        // Drop is not async, and blocking on the test's own runtime would panic.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            let sql = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
            runtime
                .block_on(async { connect_to("postgres").await.batch_execute(&sql).await })
                .expect("the database is dropped");
        });
        // A leftover database does not fail the test; it goes away with the test server.
        drop(dropping.join());
    }
}

fn url(directory: &Path, database: &str) -> String {
    let host = directory.to_str().expect("a path in UTF-8").replace('/', "%2F");
    format!("postgres://countersign@{host}/{database}")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireState {
    Open,
    /// Open connections are closed and new ones rejected.
    Cut,
    /// Data is read and not forwarded.
    Stalled,
    /// Every chunk is delayed by this long.
    Slow(Duration),
    /// The next transaction that contains this text commits, but the connection breaks before its reply. Then `Open`.
    CutAfterCommitOf(&'static str),
}

/// A proxy between one hub and its database.
pub struct Wire {
    scratch: Scratch,
    database: String,
    state: Arc<watch::Sender<WireState>>,
    transactions: Arc<AtomicUsize>,
}

impl Wire {
    pub async fn to(database: &Database) -> Self {
        let scratch = Scratch::new();
        let listener = UnixListener::bind(scratch.path(".s.PGSQL.5432")).expect("a socket");
        let (sender, seen) = watch::channel(WireState::Open);
        let state = Arc::new(sender);
        let inner = Arc::clone(&state);
        let server = Arc::new(socket_directory().join(".s.PGSQL.5432"));
        let transactions = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&transactions);
        tokio::spawn(async move {
            while let Ok((hub, _)) = listener.accept().await {
                let (server, switch, count) = (Arc::clone(&server), Arc::clone(&inner), Arc::clone(&count));
                tokio::spawn(relay(hub, server, switch, seen.clone(), count));
            }
        });
        Self {
            scratch,
            database: database.name.clone(),
            state,
            transactions,
        }
    }

    pub fn url(&self) -> String {
        url(&self.scratch.path(""), &self.database)
    }

    pub fn set_state(&self, state: WireState) {
        self.state.send_replace(state);
    }

    pub fn state(&self) -> WireState {
        *self.state.borrow()
    }

    /// How many transactions the hub has begun.
    pub fn transactions(&self) -> usize {
        self.transactions.load(Ordering::SeqCst)
    }
}

async fn relay(
    hub: UnixStream,
    server: Arc<PathBuf>,
    switch: Arc<watch::Sender<WireState>>,
    mut state: watch::Receiver<WireState>,
    transactions: Arc<AtomicUsize>,
) {
    if *state.borrow() == WireState::Cut {
        return;
    }
    let Ok(database) = UnixStream::connect(&*server).await else {
        return;
    };
    let ((from_hub, to_hub), (from_database, to_database)) = (hub.into_split(), database.into_split());
    let mut transaction = Transaction::default();
    let is_lost = AtomicBool::new(false);
    let from_hub_filter = |sent: &[u8]| {
        transactions.fetch_add(begins(sent).count(), Ordering::SeqCst);
        transaction.record(sent);
        let now = *switch.borrow();
        if let WireState::CutAfterCommitOf(expected) = now
            && transaction.commits(expected)
        {
            is_lost.store(true, Ordering::SeqCst);
            switch.send_replace(WireState::Open);
        }
        true
    };
    // The database replies after the commit; that reply closes the connection instead of reaching the hub.
    let from_database_filter = |_: &[u8]| !is_lost.load(Ordering::SeqCst);
    tokio::select! {
        () = forward(from_hub, to_database, state.clone(), from_hub_filter) => {}
        () = forward(from_database, to_hub, state.clone(), from_database_filter) => {}
        _ = state.wait_for(|state| *state == WireState::Cut) => {}
    }
}

/// The positions at which transactions begin.
fn begins(sent: &[u8]) -> impl DoubleEndedIterator<Item = usize> {
    const BEGIN: &[u8] = b"BEGIN ISOLATION LEVEL";
    let windows = sent.windows(BEGIN.len()).enumerate();
    windows.filter_map(|(at, bytes)| (bytes == BEGIN).then_some(at))
}

/// The bytes a hub sent since its last BEGIN.
#[derive(Default)]
struct Transaction(Vec<u8>);

impl Transaction {
    fn record(&mut self, sent: &[u8]) {
        self.0.extend_from_slice(sent);
        let last = begins(&self.0).next_back();
        self.0.drain(..last.unwrap_or_default());
    }

    /// Read-only transactions end with END, so a COMMIT means a write.
    fn commits(&self, expected: &str) -> bool {
        let has = |wanted: &[u8]| self.0.windows(wanted.len()).any(|bytes| bytes == wanted);
        has(expected.as_bytes()) && has(b"COMMIT\0")
    }
}

/// Forwards data until either side closes or `keep_going` returns false.
async fn forward(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut state: watch::Receiver<WireState>,
    mut keep_going: impl FnMut(&[u8]) -> bool,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let now = *state.borrow_and_update();
        if let WireState::Slow(pause) = now {
            tokio::time::sleep(pause).await;
        }
        let _ = state.wait_for(|state| *state != WireState::Stalled).await;
        if !keep_going(&buffer[..read]) || to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

//! A proxy between a hub and its database that breaks connections on command.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use countersign_store::Store;
use countersign_store::clock::ManualClock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;
use tokio_postgres::config::{Config, Host};

use super::fresh::Database;
use crate::scene::at;

/// The socket file name that PostgreSQL clients expect in the given directory.
const SOCKET: &str = ".s.PGSQL.5432";
const COMMIT: &[u8] = b"COMMIT\0";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    Carry,
    /// New and existing connections are closed.
    Refuse,
    /// The next COMMIT never arrives.
    CutBeforeCommit,
    /// The next COMMIT succeeds, but the hub gets no reply.
    CutAfterCommit,
    /// The database ends the connection between the last statement and the next COMMIT.
    EndBeforeCommit,
    /// The next COMMIT is held back silently: the hub stalls inside its transaction.
    HoldCommit,
}

struct Shared {
    rule: Mutex<Rule>,
    connection_attempts: AtomicUsize,
    read_count: AtomicUsize,
    database: Config,
    real: PathBuf,
}

pub struct Proxy {
    directory: PathBuf,
    shared: Arc<Shared>,
    listening: JoinHandle<()>,
}

impl Proxy {
    pub fn before(database: &Database) -> Self {
        let settings: Config = database.url().parse().expect("the tests' own settings");
        let [Host::Unix(real)] = settings.get_hosts() else {
            panic!("the tests' PostgreSQL has a socket")
        };
        let directory = real.join(format!(
            "proxy-{:016x}",
            getrandom::u64().expect("the machine has randomness")
        ));
        std::fs::create_dir(&directory).expect("a directory for the socket");
        let listener = UnixListener::bind(directory.join(SOCKET)).expect("a socket of its own");
        let rule = Mutex::new(Rule::Carry);
        let real = real.join(SOCKET);
        let connection_attempts = AtomicUsize::new(0);
        let read_count = AtomicUsize::new(0);
        let shared = Arc::new(Shared {
            rule,
            connection_attempts,
            read_count,
            database: settings,
            real,
        });
        let listening = tokio::spawn(listen(listener, Arc::clone(&shared)));
        Self {
            directory,
            shared,
            listening,
        }
    }

    /// A hub that connects only through the proxy.
    pub async fn open(&self) -> Store {
        let name = self
            .shared
            .database
            .get_dbname()
            .expect("the tests name their database");
        let url = format!("host={} user=countersign dbname={name}", self.directory.display());
        Store::open_postgres(&url, Arc::new(ManualClock::at(at(0))))
            .await
            .expect("the way is free")
    }

    pub fn set_rule(&self, rule: Rule) {
        self.shared.set(rule);
    }

    /// A rule for one COMMIT ends with that COMMIT.
    pub fn rule(&self) -> Rule {
        self.shared.rule()
    }

    /// The number of attempted connections.
    pub fn connection_attempts(&self) -> usize {
        self.shared.connection_attempts.load(Ordering::SeqCst)
    }

    /// The number of reads from hubs, each of any size: at least the number of round trips.
    pub fn read_count(&self) -> usize {
        self.shared.read_count.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
        // A leftover directory is harmless: it is removed with the cluster.
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

impl Shared {
    fn rule(&self) -> Rule {
        *self.rule.lock().expect("the lock is not poisoned")
    }

    fn set(&self, rule: Rule) {
        *self.rule.lock().expect("the lock is not poisoned") = rule;
    }

    /// Ends all connections of this database that are inside a transaction.
    async fn end_transactions(&self) {
        let end = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
             WHERE datname = current_database() AND state = 'idle in transaction'";
        let (operator, connection) = self
            .database
            .connect(tokio_postgres::NoTls)
            .await
            .expect("PostgreSQL answers");
        tokio::spawn(connection);
        operator.batch_execute(end).await.expect("an operator may");
    }
}

async fn listen(listener: UnixListener, shared: Arc<Shared>) {
    while let Ok((hub, _)) = listener.accept().await {
        shared.connection_attempts.fetch_add(1, Ordering::SeqCst);
        if shared.rule() == Rule::Refuse {
            continue;
        }
        let shared = Arc::clone(&shared);
        // Either side may close at any time; that is the purpose of the proxy.
        tokio::spawn(async move { drop(carry(hub, &shared).await) });
    }
}

/// Forwards until one side closes, or the rule says so; then closes both.
async fn carry(mut hub: UnixStream, shared: &Shared) -> std::io::Result<()> {
    let mut database = UnixStream::connect(&shared.real).await?;
    let mut text = vec![0; 65_536];
    let mut answered = vec![0; 65_536];
    loop {
        tokio::select! {
            length = hub.read(&mut text) => {
                let text = text.get(..length?).unwrap_or_default();
                if text.is_empty() || !pass_on(text, &mut database, shared).await? {
                    return Ok(());
                }
            }
            length = database.read(&mut answered) => {
                let answered = answered.get(..length?).unwrap_or_default();
                if answered.is_empty() || shared.rule() == Rule::Refuse {
                    return Ok(());
                }
                hub.write_all(answered).await?;
            }
        }
    }
}

/// Returns whether to continue.
async fn pass_on(text: &[u8], database: &mut UnixStream, shared: &Shared) -> std::io::Result<bool> {
    shared.read_count.fetch_add(1, Ordering::SeqCst);
    let rule = shared.rule();
    let for_a_commit = !matches!(rule, Rule::Carry | Rule::Refuse);
    // A whole statement, not the READ COMMITTED of a BEGIN.
    let is_commit = text.windows(COMMIT.len()).any(|bytes| bytes == COMMIT);
    if for_a_commit && is_commit {
        shared.set(Rule::Carry);
    }
    match rule {
        Rule::Refuse => return Ok(false),
        Rule::CutBeforeCommit if is_commit => return Ok(false),
        Rule::CutAfterCommit if is_commit => {
            database.write_all(text).await?;
            // The reply comes after the commit.
            let mut answer = [0; 64];
            return database.read(&mut answer).await.map(|_| false);
        }
        Rule::EndBeforeCommit if is_commit => shared.end_transactions().await,
        Rule::HoldCommit if is_commit => return Ok(true),
        Rule::Carry | Rule::CutBeforeCommit | Rule::CutAfterCommit | Rule::EndBeforeCommit | Rule::HoldCommit => {}
    }
    // A database that has just closed accepts nothing more, but its last reply is still to be read.
    match database.write_all(text).await {
        Err(_) if rule == Rule::EndBeforeCommit => Ok(true),
        written => written.map(|()| true),
    }
}

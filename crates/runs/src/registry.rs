//! The runs in memory, and the connections that may follow them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::message::Source;
use countersign_protocol::id::MessageId;
use countersign_protocol::runs::RunStatus;
use countersign_protocol::time::Timestamp;
use countersign_store::model::AgentView;
use tokio::sync::{Notify, Semaphore};

use super::engine::commands::RunCommand;
use super::follow::broadcast::ByteBudget;
use super::follow::client::{Close, RunClient};
use super::refusal::RunRefusal;
use super::remote::replicas::Replicas;
use super::run::TrackedRun;

/// Ended runs kept in memory: the latest ones, bounded by number and by bytes.
const MAX_ENDED_RUNS: usize = 100;
const MAX_ENDED_BYTES: usize = 64 * 1024 * 1024;
const MAX_CLIENTS: usize = 10_000;
/// Each replay may hold all stored events of a run in memory.
const MAX_CONCURRENT_REPLAYS: usize = 8;

pub struct RunRegistry {
    pub(crate) byte_budget: ByteBudget,
    pub(crate) max_live: usize,
    table: Mutex<RunTable>,
    clients: Mutex<HashMap<u64, Arc<RunClient>>>,
    next_client: AtomicU64,
    /// Set on shutdown: no new run may start.
    is_closing: AtomicBool,
    client_left: Notify,
    pub(crate) replicas: Mutex<Replicas>,
    /// Permits for replays that read from the store.
    pub(crate) replays: Semaphore,
    /// Ids of runs that are being adopted.
    adopting: Arc<Mutex<HashSet<String>>>,
}

#[derive(Default)]
pub(crate) struct RunTable {
    pub(crate) runs: HashMap<String, Arc<TrackedRun>>,
    /// Prepared or running.
    pub(crate) live: HashSet<String>,
    /// Ids reserved by a prepare in progress.
    preparing: HashSet<String>,
    /// Oldest first.
    pub(crate) over: VecDeque<String>,
}

impl RunRegistry {
    pub fn new(max_live: usize) -> Self {
        Self {
            byte_budget: ByteBudget::default(),
            max_live,
            table: Mutex::default(),
            clients: Mutex::default(),
            next_client: AtomicU64::new(1),
            is_closing: AtomicBool::new(false),
            client_left: Notify::new(),
            replicas: Mutex::default(),
            replays: Semaphore::new(MAX_CONCURRENT_REPLAYS),
            adopting: Arc::default(),
        }
    }

    pub fn get(&self, run_id: &str) -> Option<Arc<TrackedRun>> {
        self.table().runs.get(run_id).cloned()
    }

    pub fn all(&self) -> Vec<Arc<TrackedRun>> {
        self.table().runs.values().cloned().collect()
    }

    /// Number of prepared and running runs.
    pub fn live(&self) -> usize {
        self.table().live.len()
    }

    /// The live runs, by state.
    pub fn live_by_state(&self) -> [(&'static str, usize); 3] {
        let table = self.table();
        let mut counts = [("prepared", 0), ("running", 0), ("waiting", 0)];
        for run in table.live.iter().filter_map(|run_id| table.runs.get(run_id)) {
            let state = run.lock();
            let index = match state.status() {
                RunStatus::Pending => 0,
                _ if state.pending.is_empty() => 1,
                // For the answer of a person.
                _ => 2,
            };
            counts[index].1 += 1;
        }
        counts
    }

    /// Reserves the id until the guard is dropped. An abandoned prepared run of this id is replaced if the request
    /// brings a strategy or the run is stored.
    pub fn reserve(&self, run_id: &str, has_strategy: bool) -> Result<RunReservation<'_>, RunRefusal> {
        if self.is_closing() {
            return Err(RunRefusal::HubStopping);
        }
        let mut table = self.table();
        if table.preparing.contains(run_id) || !table.is_free(run_id, has_strategy) {
            return Err(RunRefusal::AlreadyExists);
        }
        if table.live.len() + table.preparing.len() >= self.max_live && !table.drop_abandoned() {
            return Err(RunRefusal::TooManyLiveRuns { limit: self.max_live });
        }
        table.preparing.insert(run_id.to_owned());
        Ok(RunReservation {
            runs: self,
            run_id: run_id.to_owned(),
        })
    }

    /// Adds a running run, no matter which process prepared it.
    pub fn make_live(&self, run: Arc<TrackedRun>) {
        self.table().make_live(run);
    }

    /// Adds an ended run from the store, or returns the entry that is already in memory.
    pub fn adopt(&self, run: Arc<TrackedRun>) -> Arc<TrackedRun> {
        let mut table = self.table();
        if let Some(known) = table.runs.get(&run.id) {
            return Arc::clone(known);
        }
        let gone = table.put_over(&run);
        drop(table);
        gone.iter().for_each(|run| forget_followers(run));
        run
    }

    /// `end` ends the run, or returns false. The table is locked meanwhile, so a follower that sees the end never finds
    /// the run listed as live.
    pub fn end(&self, run: &Arc<TrackedRun>, end: impl FnOnce(&TrackedRun) -> bool) -> bool {
        let mut table = self.table();
        if !end(run) {
            return false;
        }
        let gone = table.put_over(run);
        drop(table);
        gone.iter().for_each(|run| forget_followers(run));
        true
    }

    /// Called for every resolved message, after its commit.
    pub fn resolved(&self, view: &AgentView, now: Timestamp) {
        if let Source::Runs(source) = &view.source
            && let Some(run) = self.get(&source.run_id)
        {
            run.resolved(&view.id, now);
        }
    }

    /// The same for a resolution through another node.
    pub fn resolved_remotely(&self, run_id: &str, message_id: &MessageId, now: Timestamp) {
        if let Some(run) = self.get(run_id) {
            run.resolved(message_id, now);
        }
    }

    /// Reserves a run for adoption until the guard is dropped. Returns `None` if it is being adopted already.
    pub fn begin_adoption(&self, run_id: &str) -> Option<AdoptionGuard> {
        let is_free = self
            .adopting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(run_id.to_owned());
        is_free.then(|| AdoptionGuard {
            run_id: run_id.to_owned(),
            all: Arc::clone(&self.adopting),
        })
    }

    /// True if a task drives this run here, or soon will.
    pub fn is_driven(&self, run_id: &str) -> bool {
        let is_adopting = self
            .adopting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(run_id);
        is_adopting
            || self
                .get(run_id)
                .and_then(|run| run.command_sender())
                .is_some_and(|command_sender| !command_sender.is_closed())
    }

    /// Stops all run tasks after other nodes have taken over from this one.
    pub fn release_all(&self) {
        for command_sender in self.all().iter().filter_map(|run| run.command_sender()) {
            // A task with a full queue learns of it at its next commit.
            let _ = command_sender.try_send(RunCommand::OwnershipLost);
        }
    }

    /// Returns `None` if there are too many clients, or the node stops.
    pub fn connect(self: &Arc<Self>) -> Option<ConnectedClient> {
        let mut clients = self.clients();
        if clients.len() >= MAX_CLIENTS || self.is_closing() {
            return None;
        }
        let client = Arc::new(RunClient::new(self.next_client.fetch_add(1, Ordering::Relaxed)));
        clients.insert(client.number, Arc::clone(&client));
        Some(ConnectedClient {
            runs: Arc::clone(self),
            client,
        })
    }

    /// A client for a web page that follows a run. It does not count as a connection.
    pub fn page_client(self: &Arc<Self>) -> ConnectedClient {
        let client = Arc::new(RunClient::new(self.next_client.fetch_add(1, Ordering::Relaxed)));
        ConnectedClient {
            runs: Arc::clone(self),
            client,
        }
    }

    pub fn connected(&self) -> usize {
        self.clients().len()
    }

    pub fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::SeqCst)
    }

    pub fn begin_closing(&self) {
        self.is_closing.store(true, Ordering::SeqCst);
    }

    /// Closes all connections and waits until they are gone.
    pub async fn close_clients(&self) {
        loop {
            let left = self.client_left.notified();
            let clients: Vec<_> = self.clients().values().cloned().collect();
            if clients.is_empty() {
                return;
            }
            clients.iter().for_each(|client| client.close(Close::ShuttingDown));
            left.await;
        }
    }

    pub(crate) fn table(&self) -> MutexGuard<'_, RunTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<u64, Arc<RunClient>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunTable {
    /// Removes this entry, but not another one with the same id.
    pub(crate) fn remove(&mut self, run: &Arc<TrackedRun>) {
        if self.runs.get(&run.id).is_some_and(|known| Arc::ptr_eq(known, run)) {
            self.runs.remove(&run.id);
            self.live.remove(&run.id);
            self.over.retain(|over| *over != run.id);
        }
    }

    fn make_live(&mut self, run: Arc<TrackedRun>) {
        self.over.retain(|over| *over != run.id);
        self.live.insert(run.id.clone());
        self.runs.insert(run.id.clone(), run);
    }

    /// Returns the ended runs that were evicted.
    fn put_over(&mut self, run: &Arc<TrackedRun>) -> Vec<Arc<TrackedRun>> {
        if self.runs.get(&run.id).is_some_and(|known| !Arc::ptr_eq(known, run)) {
            return Vec::new();
        }
        self.live.remove(&run.id);
        self.runs.insert(run.id.clone(), Arc::clone(run));
        self.over.retain(|over| *over != run.id);
        self.over.push_back(run.id.clone());
        let mut gone = Vec::new();
        while self.over.len() > MAX_ENDED_RUNS || (self.over.len() > 1 && self.over_bytes() > MAX_ENDED_BYTES) {
            gone.extend(self.over.pop_front().and_then(|oldest| self.runs.remove(&oldest)));
        }
        gone
    }

    fn over_bytes(&self) -> usize {
        self.over
            .iter()
            .filter_map(|id| self.runs.get(id))
            .map(|run| run.lock().replay.bytes())
            .sum()
    }

    fn is_free(&mut self, run_id: &str, has_strategy: bool) -> bool {
        if !self.live.contains(run_id) {
            return true;
        }
        let run = self.runs.get(run_id).cloned();
        run.is_some_and(|run| (has_strategy || run.lock().is_stored()) && self.undo_preparation(&run))
    }

    fn drop_abandoned(&mut self) -> bool {
        let runs: Vec<_> = self.live.iter().filter_map(|id| self.runs.get(id)).cloned().collect();
        runs.iter().any(|run| self.undo_preparation(run))
    }

    /// Drops an abandoned prepared run. A continuation is still in the store as it was.
    fn undo_preparation(&mut self, run: &TrackedRun) -> bool {
        let is_undone = run.undo_preparation();
        if is_undone {
            self.live.remove(&run.id);
            self.runs.remove(&run.id);
        }
        is_undone
    }
}

pub(crate) fn forget_followers(run: &TrackedRun) {
    let followers = std::mem::take(&mut run.lock().followers);
    followers.iter().for_each(|follower| follower.client.unfollow(&run.id));
}

pub struct RunReservation<'r> {
    runs: &'r RunRegistry,
    run_id: String,
}

impl RunReservation<'_> {
    pub fn fill(self, run: Arc<TrackedRun>) {
        self.runs.table().make_live(run);
    }
}

impl Drop for RunReservation<'_> {
    fn drop(&mut self) {
        self.runs.table().preparing.remove(&self.run_id);
    }
}

pub struct AdoptionGuard {
    run_id: String,
    all: Arc<Mutex<HashSet<String>>>,
}

impl Drop for AdoptionGuard {
    fn drop(&mut self) {
        self.all
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.run_id);
    }
}

/// A registered connection, removed on drop. Its runs go on without it.
pub struct ConnectedClient {
    runs: Arc<RunRegistry>,
    pub client: Arc<RunClient>,
}

impl Drop for ConnectedClient {
    fn drop(&mut self) {
        for run_id in self.client.unfollow_all() {
            if let Some(run) = self.runs.get(&run_id) {
                run.unfollow(&self.client);
            }
        }
        self.runs.clients().remove(&self.client.number);
        self.runs.client_left.notify_waiters();
    }
}

//! The replicas of other nodes' runs that are followed here, and the wake-up of each.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use countersign_store::ops::run::RunVersion;
use tokio::sync::Notify;

use crate::registry::{RunRegistry, forget_followers};
use crate::run::{RunStage, TrackedRun};

pub type Replicas = HashMap<String, Replica>;

pub struct Replica {
    run: Arc<TrackedRun>,
    wakeup: Arc<Notify>,
    /// The row version at the last read.
    seen: Option<RunVersion>,
}

/// The outcome of adding a replica.
pub enum AddedReplica {
    New(Arc<TrackedRun>, Arc<Notify>),
    /// Another request added the run first.
    Existing(Arc<TrackedRun>),
    /// The limit of replicas is reached.
    TooManyReplicas {
        limit: usize,
    },
}

impl RunRegistry {
    /// Adds a replica, unless a run of this id is in memory.
    pub fn add_replica(&self, run: Arc<TrackedRun>) -> AddedReplica {
        let mut table = self.table();
        if let Some(known) = table.runs.get(&run.id) {
            return AddedReplica::Existing(Arc::clone(known));
        }
        let mut replicas = self.replicas();
        if replicas.len() >= self.max_live {
            return AddedReplica::TooManyReplicas { limit: self.max_live };
        }
        table.runs.insert(run.id.clone(), Arc::clone(&run));
        let wakeup = add(&mut replicas, &run);
        AddedReplica::New(run, wakeup)
    }

    /// Registers a run as a replica that was owned here or had ended. Returns `None` if its id is taken by another
    /// entry.
    pub fn register_replica(&self, run: &Arc<TrackedRun>) -> Option<Arc<Notify>> {
        let mut table = self.table();
        if table.runs.get(&run.id).is_some_and(|known| !Arc::ptr_eq(known, run)) {
            return None;
        }
        table.live.remove(&run.id);
        table.over.retain(|over| *over != run.id);
        table.runs.insert(run.id.clone(), Arc::clone(run));
        Some(add(&mut self.replicas(), run))
    }

    /// Returns false if there is no such replica.
    pub fn wake_replica(&self, run_id: &str) -> bool {
        self.replicas()
            .get(run_id)
            .inspect(|replica| replica.wakeup.notify_one())
            .is_some()
    }

    /// Makes all replicas read again.
    pub fn wake_replicas(&self) {
        self.replicas().values().for_each(|replica| replica.wakeup.notify_one());
    }

    pub fn record_version(&self, run: &Arc<TrackedRun>, version: RunVersion) {
        if let Some(replica) = self
            .replicas()
            .get_mut(&run.id)
            .filter(|replica| Arc::ptr_eq(&replica.run, run))
        {
            replica.seen = Some(version);
        }
    }

    /// Wakes the replica if the row version differs from the last one read.
    pub fn wake_if_changed(&self, run: &Arc<TrackedRun>, version: Option<&RunVersion>) {
        if let Some(replica) = self
            .replicas()
            .get(&run.id)
            .filter(|replica| replica.seen.as_ref() != version)
        {
            replica.wakeup.notify_one();
        }
    }

    /// Returns true if the task with this wake-up should go on. A replica without followers is removed.
    pub fn keep_replica(&self, run: &Arc<TrackedRun>, wakeup: &Arc<Notify>) -> bool {
        let mut table = self.table();
        let mut replicas = self.replicas();
        if !replicas
            .get(&run.id)
            .is_some_and(|replica| Arc::ptr_eq(&replica.wakeup, wakeup))
        {
            return false;
        }
        let mut state = run.lock();
        let is_remote = matches!(state.stage, RunStage::Remote);
        if is_remote && !state.followers.is_empty() {
            return true;
        }
        replicas.remove(&run.id);
        if is_remote {
            state.stage = RunStage::Forgotten;
            table.remove(run);
        }
        false
    }

    /// Removes a replica whose run is owned here now or has ended.
    pub fn remove_replica(&self, run_id: &str, wakeup: &Arc<Notify>) {
        let mut replicas = self.replicas();
        if replicas
            .get(run_id)
            .is_some_and(|replica| Arc::ptr_eq(&replica.wakeup, wakeup))
        {
            replicas.remove(run_id);
        }
    }

    /// Forgets an ended or prepared run that has no followers. Returns true if it was forgotten.
    pub fn forget_if_idle(&self, run: &Arc<TrackedRun>) -> bool {
        let mut table = self.table();
        let mut state = run.lock();
        let is_past = matches!(state.stage, RunStage::Over { .. } | RunStage::Prepared(_));
        if !is_past || !state.followers.is_empty() {
            return false;
        }
        state.stage = RunStage::Forgotten;
        table.remove(run);
        true
    }

    /// Drops a replica whose run was deleted from the store.
    pub fn drop_deleted_replica(&self, run: &Arc<TrackedRun>) {
        let mut table = self.table();
        let mut state = run.lock();
        if !matches!(state.stage, RunStage::Remote) {
            return;
        }
        state.stage = RunStage::Forgotten;
        drop(state);
        table.remove(run);
        drop(table);
        forget_followers(run);
    }

    /// Followed runs that another node may have advanced: replicas, and ended or prepared runs. A replica that is stale
    /// or without followers is only woken, and then removes itself.
    pub fn watched(&self) -> Vec<Arc<TrackedRun>> {
        let mut watched = Vec::new();
        for replica in self.replicas().values() {
            let state = replica.run.lock();
            match matches!(state.stage, RunStage::Remote) && !state.followers.is_empty() {
                true => watched.push(Arc::clone(&replica.run)),
                false => replica.wakeup.notify_one(),
            }
        }
        let is_followed = |run: &Arc<TrackedRun>| !run.lock().followers.is_empty();
        watched.extend(
            self.all()
                .into_iter()
                .filter(|run| !run.is_authoritative() && is_followed(run)),
        );
        watched
    }

    fn replicas(&self) -> MutexGuard<'_, Replicas> {
        self.replicas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Replaces an earlier replica of the same run; its task ends when woken.
fn add(replicas: &mut Replicas, run: &Arc<TrackedRun>) -> Arc<Notify> {
    let wakeup = Arc::new(Notify::new());
    let replica = Replica {
        run: Arc::clone(run),
        wakeup: Arc::clone(&wakeup),
        seen: None,
    };
    if let Some(before) = replicas.insert(run.id.clone(), replica) {
        before.wakeup.notify_one();
    }
    wakeup
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::client::RunClient;
    use crate::follow::subscription::{SubscribeOutcome, Subscription};
    use crate::scene::running;

    fn runs(max_live: usize) -> RunRegistry {
        RunRegistry::new(max_live)
    }

    fn elsewhere(id: &str) -> Arc<TrackedRun> {
        let run = running(id, 0);
        run.lock().stage = RunStage::Remote;
        run
    }

    fn put(runs: &RunRegistry, run: &Arc<TrackedRun>) -> Arc<Notify> {
        match runs.add_replica(Arc::clone(run)) {
            AddedReplica::New(_, wakeup) => wakeup,
            AddedReplica::Existing(_) | AddedReplica::TooManyReplicas { .. } => panic!("there is room"),
        }
    }

    #[test]
    fn a_run_that_is_lost_again_has_one_replica_task() {
        let runs = runs(10);
        let run = elsewhere("r");
        assert_eq!(
            run.subscribe(&Arc::new(RunClient::new(1)), &Subscription::default()),
            SubscribeOutcome::Done
        );
        let first = put(&runs, &run);
        // The run was taken over and lost again before the first task woke up.
        let second = runs.register_replica(&run).expect("the entry in memory");
        assert!(!runs.keep_replica(&run, &first));
        runs.remove_replica("r", &first);
        assert!(runs.keep_replica(&run, &second) && runs.wake_replica("r"));
        runs.remove_replica("r", &second);
        assert!(!runs.wake_replica("r"));
    }

    #[test]
    fn joining_a_removed_replica_reports_gone() {
        let runs = runs(10);
        let run = elsewhere("r");
        let wakeup = put(&runs, &run);
        assert!(!runs.keep_replica(&run, &wakeup), "no followers");
        assert_eq!(
            run.subscribe(&Arc::new(RunClient::new(1)), &Subscription::default()),
            SubscribeOutcome::Gone
        );
        assert!(runs.get("r").is_none() && run.lock().followers.is_empty());
    }

    #[test]
    fn the_number_of_replicas_is_bounded() {
        let runs = runs(1);
        let wakeup = put(&runs, &elsewhere("one"));
        assert!(matches!(
            runs.add_replica(elsewhere("two")),
            AddedReplica::TooManyReplicas { limit: 1 }
        ));
        assert!(matches!(runs.add_replica(elsewhere("one")), AddedReplica::Existing(_)));
        runs.remove_replica("one", &wakeup);
        put(&runs, &elsewhere("two"));
    }
}

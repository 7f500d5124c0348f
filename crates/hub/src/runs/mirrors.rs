//! The runs of other hubs that are followed here, and what makes each of them look again.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use countersign_store::ops::run::Glance;
use tokio::sync::Notify;

use super::registry::{Runs, forget_followers};
use super::run::{Run, Stage};

pub type Mirrors = HashMap<String, Mirror>;

pub struct Mirror {
    run: Arc<Run>,
    bell: Arc<Notify>,
    /// How the run stood when it was last read.
    seen: Option<Glance>,
}

/// A run that is put beside those that are here.
pub enum Put {
    New(Arc<Run>, Arc<Notify>),
    /// Somebody was first.
    Known(Arc<Run>),
    /// So many may be followed, and no more.
    TooMany(usize),
}

impl Runs {
    /// A run of another hub, unless there is one of its id.
    pub fn put_mirror(&self, run: Arc<Run>) -> Put {
        let mut table = self.table();
        if let Some(known) = table.runs.get(&run.id) {
            return Put::Known(Arc::clone(known));
        }
        let mut mirrors = self.mirrors();
        if mirrors.len() >= self.max_live {
            return Put::TooMany(self.max_live);
        }
        table.runs.insert(run.id.clone(), Arc::clone(&run));
        let bell = add(&mut mirrors, &run);
        Put::New(run, bell)
    }

    /// A run that was this hub's, or over. Nothing if there is another one of its id.
    pub fn become_mirror(&self, run: &Arc<Run>) -> Option<Arc<Notify>> {
        let mut table = self.table();
        if table.runs.get(&run.id).is_some_and(|known| !Arc::ptr_eq(known, run)) {
            return None;
        }
        table.live.remove(&run.id);
        table.over.retain(|over| *over != run.id);
        table.runs.insert(run.id.clone(), Arc::clone(run));
        Some(add(&mut self.mirrors(), run))
    }

    /// Says whether there is such a mirror.
    pub fn ring_mirror(&self, run_id: &str) -> bool {
        self.mirrors()
            .get(run_id)
            .inspect(|mirror| mirror.bell.notify_one())
            .is_some()
    }

    /// All of them are to look again.
    pub fn ring_mirrors(&self) {
        self.mirrors().values().for_each(|mirror| mirror.bell.notify_one());
    }

    pub fn saw(&self, run: &Arc<Run>, glance: Glance) {
        if let Some(mirror) = self
            .mirrors()
            .get_mut(&run.id)
            .filter(|mirror| Arc::ptr_eq(&mirror.run, run))
        {
            mirror.seen = Some(glance);
        }
    }

    /// Lets a run look again that stands otherwise than it did then.
    pub fn compare(&self, run: &Arc<Run>, glance: Option<&Glance>) {
        if let Some(mirror) = self
            .mirrors()
            .get(&run.id)
            .filter(|mirror| mirror.seen.as_ref() != glance)
        {
            mirror.bell.notify_one();
        }
    }

    /// Says whether it is to be looked at further by whoever has this bell. One that nobody follows is gone from here.
    pub fn keeps_mirror(&self, run: &Arc<Run>, bell: &Arc<Notify>) -> bool {
        let mut table = self.table();
        let mut mirrors = self.mirrors();
        if !mirrors
            .get(&run.id)
            .is_some_and(|mirror| Arc::ptr_eq(&mirror.bell, bell))
        {
            return false;
        }
        let mut state = run.lock();
        let is_elsewhere = matches!(state.stage, Stage::Elsewhere);
        if is_elsewhere && !state.followers.is_empty() {
            return true;
        }
        mirrors.remove(&run.id);
        if is_elsewhere {
            state.stage = Stage::Forgotten;
            table.remove(run);
        }
        false
    }

    /// It is this hub's now, or over.
    pub fn end_mirror(&self, run_id: &str, bell: &Arc<Notify>) {
        let mut mirrors = self.mirrors();
        if mirrors
            .get(run_id)
            .is_some_and(|mirror| Arc::ptr_eq(&mirror.bell, bell))
        {
            mirrors.remove(run_id);
        }
    }

    /// One that is only what it was here, if nobody follows it. Says whether it is gone.
    pub fn forget_past(&self, run: &Arc<Run>) -> bool {
        let mut table = self.table();
        let mut state = run.lock();
        let is_past = matches!(state.stage, Stage::Over { .. } | Stage::Prepared(_));
        if !is_past || !state.followers.is_empty() {
            return false;
        }
        state.stage = Stage::Forgotten;
        table.remove(run);
        true
    }

    /// One that the store does not know any more.
    pub fn lose_mirror(&self, run: &Arc<Run>) {
        let mut table = self.table();
        let mut state = run.lock();
        if !matches!(state.stage, Stage::Elsewhere) {
            return;
        }
        state.stage = Stage::Forgotten;
        drop(state);
        table.remove(run);
        drop(table);
        forget_followers(run);
    }

    /// Those of which others may know more: mirrors, and what somebody follows that could go on elsewhere. What is a mirror
    /// no longer, or for nobody, finds out by itself.
    pub fn watched(&self) -> Vec<Arc<Run>> {
        let mut watched = Vec::new();
        for mirror in self.mirrors().values() {
            let state = mirror.run.lock();
            match matches!(state.stage, Stage::Elsewhere) && !state.followers.is_empty() {
                true => watched.push(Arc::clone(&mirror.run)),
                false => mirror.bell.notify_one(),
            }
        }
        let is_followed = |run: &Arc<Run>| !run.lock().followers.is_empty();
        watched.extend(
            self.all()
                .into_iter()
                .filter(|run| !run.is_certain() && is_followed(run)),
        );
        watched
    }

    fn mirrors(&self) -> MutexGuard<'_, Mirrors> {
        self.mirrors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whoever looked after it before finds that this is over.
fn add(mirrors: &mut Mirrors, run: &Arc<Run>) -> Arc<Notify> {
    let bell = Arc::new(Notify::new());
    let mirror = Mirror {
        run: Arc::clone(run),
        bell: Arc::clone(&bell),
        seen: None,
    };
    if let Some(before) = mirrors.insert(run.id.clone(), mirror) {
        before.bell.notify_one();
    }
    bell
}

#[cfg(test)]
mod tests {
    use super::super::agents::Tools;
    use super::super::client::Client;
    use super::super::join::{Joined, Joining};
    use super::super::scene::running;
    use super::*;
    use crate::config::{LlmSettings, RunsSettings};

    fn runs(max_live: usize) -> Runs {
        Runs::new(
            Tools::new(&RunsSettings::default(), &LlmSettings::default()).expect("tools"),
            max_live,
        )
    }

    fn elsewhere(id: &str) -> Arc<Run> {
        let run = running(id, 0);
        run.lock().stage = Stage::Elsewhere;
        run
    }

    fn put(runs: &Runs, run: &Arc<Run>) -> Arc<Notify> {
        match runs.put_mirror(Arc::clone(run)) {
            Put::New(_, bell) => bell,
            Put::Known(_) | Put::TooMany(_) => panic!("there is room"),
        }
    }

    #[test]
    fn a_run_that_is_lost_again_is_looked_after_by_one() {
        let runs = runs(10);
        let run = elsewhere("r");
        assert_eq!(run.join(&Arc::new(Client::new(1)), &Joining::default()), Joined::Done);
        let first = put(&runs, &run);
        // It was taken over, and then lost again before the first looked.
        let second = runs.become_mirror(&run).expect("it is the one that is here");
        assert!(!runs.keeps_mirror(&run, &first));
        runs.end_mirror("r", &first);
        assert!(runs.keeps_mirror(&run, &second) && runs.ring_mirror("r"));
        runs.end_mirror("r", &second);
        assert!(!runs.ring_mirror("r"));
    }

    #[test]
    fn whoever_joins_a_mirror_that_went_away_is_told() {
        let runs = runs(10);
        let run = elsewhere("r");
        let bell = put(&runs, &run);
        assert!(!runs.keeps_mirror(&run, &bell), "nobody follows it");
        assert_eq!(run.join(&Arc::new(Client::new(1)), &Joining::default()), Joined::Gone);
        assert!(runs.get("r").is_none() && run.lock().followers.is_empty());
    }

    #[test]
    fn so_many_mirrors_are_there_and_no_more() {
        let runs = runs(1);
        let bell = put(&runs, &elsewhere("one"));
        assert!(matches!(runs.put_mirror(elsewhere("two")), Put::TooMany(1)));
        assert!(matches!(runs.put_mirror(elsewhere("one")), Put::Known(_)));
        runs.end_mirror("one", &bell);
        put(&runs, &elsewhere("two"));
    }
}

//! One task per host with obligations. A receiver that hangs holds up its own lane and nobody else's.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_core::delivery::Attempt;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::model::Claim;
use countersign_store::ops::deliver::{ClaimDue, GiveBack, NextDue};
use tokio::sync::{Notify, OwnedSemaphorePermit, watch};
use tokio::task::{JoinError, JoinSet};

use super::outbox::Outbox;
use super::width::Width;

/// Beyond the attempt itself: for the writing down of its end.
const LEASE_RESERVE: Duration = Duration::from_secs(30);
const SHORTEST_NAP: Duration = Duration::from_millis(1);
/// The wall clock may be set while we sleep by another one, so no nap is longer than this.
const LONGEST_NAP: Duration = Duration::from_secs(60);
const STORE_PAUSE: Duration = Duration::from_secs(1);
/// Attempts that have their answer but are not written down yet, for each one the host may have under way.
const UNWRITTEN: usize = 4;

pub struct Lane {
    outbox: Arc<Outbox>,
    host: String,
    /// Keeps a ring that nobody waits for, so none is lost between a look and the wait after it.
    bell: Arc<Notify>,
    under_way: JoinSet<Attempt>,
    /// How many of those under way have left the host and are being written down.
    leaving: Arc<AtomicUsize>,
    /// What is under way.
    claimed: Arc<Mutex<HashSet<MessageId>>>,
    /// Something may have been claimed that this lane was not told of.
    has_lost_count: bool,
    width: Width,
}

enum Look {
    /// No room for another attempt.
    Full,
    /// Nothing is pending for this host.
    Nothing,
    /// Nothing to do before then.
    Until(Timestamp),
}

impl Lane {
    pub fn new(outbox: Arc<Outbox>, host: String, bell: Arc<Notify>) -> Self {
        let width = Width::up_to(outbox.settings().per_host_concurrency);
        Self {
            outbox,
            host,
            bell,
            under_way: JoinSet::new(),
            leaving: Arc::default(),
            claimed: Arc::default(),
            has_lost_count: false,
            width,
        }
    }

    /// Runs until nothing is pending, or until told to stop; then what is under way may still finish.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        loop {
            let goes_on = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => false,
                goes_on = self.round() => goes_on,
            };
            if !goes_on {
                break;
            }
        }
        while self.under_way.join_next().await.is_some() {}
    }

    /// One look and the wait after it. Says whether the lane stays open.
    async fn round(&mut self) -> bool {
        let look = match self.fill().await {
            Ok(look) => look,
            Err(error) => {
                tracing::warn!(host = self.host, %error, "obligations could not be read");
                Look::Until(self.now().plus(STORE_PAUSE))
            }
        };
        if matches!(look, Look::Nothing) && self.under_way.is_empty() {
            return !self.outbox.close_lane(&self.host, &self.bell);
        }
        self.wait(look).await;
        true
    }

    fn room(&self) -> usize {
        let at_the_host = self
            .under_way
            .len()
            .saturating_sub(self.leaving.load(Ordering::Acquire));
        let unwritten = UNWRITTEN * self.outbox.settings().per_host_concurrency;
        self.width
            .room(at_the_host)
            .min(unwritten.saturating_sub(self.under_way.len()))
    }

    fn now(&self) -> Timestamp {
        self.outbox.store().clock().now()
    }

    /// Begins attempts while there is room and something is due. Places are taken before obligations are claimed: a
    /// claim that waits for a place would use up its lease.
    async fn fill(&mut self) -> Result<Look, StoreError> {
        self.give_back().await?;
        loop {
            let room = self.room();
            if room == 0 {
                return Ok(Look::Full);
            }
            // A read, and only then a claim: the writer is shared by everybody and need not hear "nothing to do".
            let next = NextDue {
                host: self.host.clone(),
            };
            let Some(due_at) = self.outbox.store().run(next).await? else {
                return Ok(Look::Nothing);
            };
            if due_at > self.now() {
                return Ok(Look::Until(due_at));
            }
            let Some(places) = self.outbox.places(room).await else {
                return Ok(Look::Full);
            };
            self.give_back().await?;
            let claims = self.claim(places.num_permits()).await?;
            if claims.is_empty() {
                return Ok(Look::Until(self.now().plus(STORE_PAUSE)));
            }
            self.begin(claims, places);
        }
    }

    /// After a claim that nobody was told of: otherwise it would lie there until its lease is over.
    async fn give_back(&mut self) -> Result<(), StoreError> {
        if self.has_lost_count {
            let under_way = self
                .claimed
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .iter()
                .cloned()
                .collect();
            let store = self.outbox.store();
            store
                .run(GiveBack {
                    node: store.node(),
                    host: self.host.clone(),
                    under_way,
                })
                .await?;
            self.has_lost_count = false;
        }
        Ok(())
    }

    async fn claim(&mut self, limit: usize) -> Result<Vec<Claim>, StoreError> {
        let lease = self.outbox.settings().attempt_timeout.saturating_add(LEASE_RESERVE);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let store = self.outbox.store();
        self.has_lost_count = true;
        let claims = store
            .run(ClaimDue {
                node: store.node(),
                host: self.host.clone(),
                limit,
                lease,
            })
            .await;
        self.has_lost_count = matches!(claims, Err(StoreError::Unsure(_) | StoreError::Unavailable(_)));
        claims
    }

    fn begin(&mut self, claims: Vec<Claim>, mut places: OwnedSemaphorePermit) {
        for claim in claims {
            let Some(place) = places.split(1) else { return };
            let outbox = Arc::clone(&self.outbox);
            let host = self.host.clone();
            let leaving = Arc::clone(&self.leaving);
            let bell = Arc::clone(&self.bell);
            let under_way = UnderWay::new(&self.claimed, claim.message_id.clone());
            self.under_way.spawn(async move {
                let attempt = outbox.attempt(&claim).await;
                // The next push need not wait until the end of this one has been committed.
                drop(place);
                let _leaving = Leaving::new(leaving, &bell);
                outbox.settle(&host, claim, &attempt).await;
                drop(under_way);
                attempt
            });
        }
    }

    async fn wait(&mut self, look: Look) {
        let nap = match look {
            Look::Full | Look::Nothing => LONGEST_NAP,
            Look::Until(at) => at.since(self.now()).clamp(SHORTEST_NAP, LONGEST_NAP),
        };
        tokio::select! {
            Some(ended) = self.under_way.join_next() => self.learn(ended),
            () = self.bell.notified() => {}
            () = tokio::time::sleep(nap) => {}
        }
        while let Some(ended) = self.under_way.try_join_next() {
            self.learn(ended);
        }
    }

    fn learn(&mut self, ended: Result<Attempt, JoinError>) {
        match ended {
            Ok(attempt) => self.width.learn(&attempt),
            // Its claim runs out by itself.
            Err(error) => tracing::error!(host = self.host, %error, "an attempt broke off"),
        }
    }
}

/// Held by an attempt from its claim to its end, however it ends.
struct UnderWay {
    all: Arc<Mutex<HashSet<MessageId>>>,
    id: MessageId,
}

impl UnderWay {
    fn new(all: &Arc<Mutex<HashSet<MessageId>>>, id: MessageId) -> Self {
        all.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        Self {
            all: Arc::clone(all),
            id,
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// Held by an attempt from its answer to its end.
struct Leaving(Arc<AtomicUsize>);

impl Leaving {
    fn new(count: Arc<AtomicUsize>, bell: &Notify) -> Self {
        count.fetch_add(1, Ordering::Release);
        bell.notify_one();
        Self(count)
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

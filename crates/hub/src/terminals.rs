//! Which cues somebody still waits for: how many connections are held for each, and when the last one ended. It is known in
//! memory only; hubs on one store tell each other. After a start nothing is known, and everybody gets a while to come back
//! before being called gone.

mod sight;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_core::message::{Door, Message, Source, State};
use countersign_protocol::hap::Kind;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::ops::terminal::Terminals as ListTerminals;
use serde::Serialize;
use tokio::sync::Notify;

use crate::app::Hub;
use crate::inbox::news::{Change, News};
use crate::peers::{Peers, Signal};
use sight::{Elsewhere, LINGER, Sight};

/// From a start until whoever has not come back is gone.
const SETTLE: Duration = Duration::from_secs(10);
/// So often those who linger are looked at; while nobody does, never.
const ROUND: Duration = Duration::from_secs(1);
/// How many agents are told about when a start has settled.
const MOST_TOLD: i64 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CueState {
    Waiting,
    Paused,
    Gone,
}

/// Both are nothing for whatever is no open cue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct CuePresence {
    pub state: Option<CueState>,
    /// Nothing where this process cannot know.
    pub since: Option<Timestamp>,
}

/// Whether a message came from a terminal, and as what.
pub fn cue_kind(source: &Source) -> Option<Kind> {
    match source.door {
        Door::Hap if source.ids.get("cue").is_some_and(|cue| cue == Kind::Pause.as_str()) => Some(Kind::Pause),
        Door::Hap => Some(Kind::Cue),
        Door::A2h | Door::Runs => None,
    }
}

pub struct Terminals {
    /// For its clock.
    store: Arc<Store>,
    news: Arc<News>,
    started_at: Timestamp,
    peers: Arc<Peers>,
    /// Of open cues only.
    cues: Mutex<HashMap<MessageId, Sight>>,
    /// What other hubs see.
    elsewhere: Mutex<Elsewhere>,
    /// Of cues that are over: when their end was handed to whoever waited. It is being printed there.
    handed: Mutex<HashMap<MessageId, Timestamp>>,
    bell: Notify,
}

impl Terminals {
    pub fn new(store: Arc<Store>, news: Arc<News>, peers: Arc<Peers>, started_at: Timestamp) -> Arc<Self> {
        let cues = Mutex::default();
        let elsewhere = Mutex::default();
        let handed = Mutex::default();
        Arc::new(Self {
            store,
            news,
            peers,
            started_at,
            cues,
            elsewhere,
            handed,
            bell: Notify::new(),
        })
    }

    /// A process has spoken and will wait in a moment. Call it before looking whether there is something to wait for, and
    /// `take_back` if there is not.
    pub fn expect(&self, id: &MessageId, kind: Kind) {
        let now = self.store.clock().now();
        let mut cues = self.lock();
        let sight = Self::sight(&mut cues, id, kind, now);
        sight.left_at = now;
        sight.is_gone = false;
        let sight = *sight;
        drop(cues);
        self.say_here(id, sight);
        self.bell.notify_one();
    }

    /// For as long as a connection waits. Call it before the last look at the cue.
    pub fn hold(self: &Arc<Self>, id: &MessageId, kind: Kind) -> Held {
        let now = self.store.clock().now();
        let is_news = !self.was_here(id, now);
        let mut cues = self.lock();
        let sight = Self::sight(&mut cues, id, kind, now);
        sight.held += 1;
        let sight = *sight;
        drop(cues);
        if sight.held == 1 {
            self.say_here(id, sight);
        }
        if is_news {
            self.news.tell(Change::Tracked(id.clone()));
        }
        Held {
            terminals: Arc::clone(self),
            id: id.clone(),
            ending: Ending::Broken,
        }
    }

    fn sight<'c>(cues: &'c mut HashMap<MessageId, Sight>, id: &MessageId, kind: Kind, now: Timestamp) -> &'c mut Sight {
        let fresh = Sight {
            kind,
            held: 0,
            here_since: now,
            left_at: now,
            is_gone: false,
        };
        let sight = cues.entry(id.clone()).or_insert(fresh);
        if !sight.is_here(now) {
            sight.here_since = now;
        }
        sight
    }

    /// An open cue of a process that waited elsewhere, if it still does.
    pub fn missing(&self, id: &MessageId, kind: Kind, since: Timestamp) {
        let sight = Sight {
            kind,
            held: 0,
            here_since: since,
            left_at: since,
            is_gone: true,
        };
        self.lock().entry(id.clone()).or_insert(sight);
    }

    /// There is no such cue any more.
    pub fn forget(&self, id: &MessageId) {
        self.lock().remove(id);
        self.lock_elsewhere().forget(id);
    }

    /// Nobody will wait for it after all: there is no such cue, or it is over. Other hubs may have been told otherwise.
    pub fn take_back(&self, id: &MessageId) {
        self.forget(id);
        self.peers.say(|| Signal::NoCue(id.clone()));
    }

    /// Another hub takes back what it said.
    pub fn taken_back_elsewhere(&self, node: &str, id: &MessageId) {
        self.lock_elsewhere().take_back(node, id);
    }

    /// The cue is over. Whoever is there for it gets its end.
    pub fn end(&self, id: &MessageId) {
        let now = self.store.clock().now();
        let is_here = self.seen(id, now).is_some_and(|sight| sight.is_here(now));
        if is_here { self.hand(id) } else { self.forget(id) }
    }

    /// A process has the end of the cue and is about to print it.
    pub fn hand(&self, id: &MessageId) {
        let now = self.store.clock().now();
        let mut handed = self.lock_handed();
        handed.retain(|_, at| now < at.plus(LINGER));
        handed.insert(id.clone(), now);
        drop(handed);
        // Afterwards, so that at no moment it is neither here nor there.
        self.forget(id);
    }

    /// Whether some process is there to print the end of the cue, or just does: nobody else has to.
    pub fn is_handed(&self, id: &MessageId) -> bool {
        let now = self.store.clock().now();
        let is_here = self.seen(id, now).is_some_and(|sight| sight.is_here(now));
        is_here || self.lock_handed().get(id).is_some_and(|at| now < at.plus(LINGER))
    }

    pub fn is_gone(&self, id: &MessageId) -> bool {
        let now = self.store.clock().now();
        !self.was_here(id, now)
    }

    fn was_here(&self, id: &MessageId, now: Timestamp) -> bool {
        self.seen(id, now)
            .map_or_else(|| now < self.started_at.plus(SETTLE), |sight| sight.is_here(now))
    }

    /// Here or elsewhere: where somebody is, if anybody is.
    fn seen(&self, id: &MessageId, now: Timestamp) -> Option<Sight> {
        let here = self.lock().get(id).copied();
        let elsewhere = self.lock_elsewhere().seen(id, now);
        here.into_iter()
            .chain(elsewhere)
            .max_by_key(|sight| (sight.is_here(now), sight.left_at))
    }

    /// Of an open cue.
    pub fn presence(&self, id: &MessageId, kind: Kind) -> CuePresence {
        let now = self.store.clock().now();
        let sight = self.seen(id, now);
        let is_here = self.was_here(id, now);
        let state = match (is_here, sight.map_or(kind, |sight| sight.kind)) {
            (true, Kind::Cue) => CueState::Waiting,
            (true, Kind::Pause) => CueState::Paused,
            (false, Kind::Cue | Kind::Pause) => CueState::Gone,
        };
        let since = sight.map(|sight| if is_here { sight.here_since } else { sight.left_at });
        CuePresence {
            state: Some(state),
            since,
        }
    }

    fn leave(&self, id: &MessageId, ending: Ending) {
        let now = self.store.clock().now();
        let mut cues = self.lock();
        // Nothing is left of a cue that is over.
        let Some(sight) = cues.get_mut(id) else { return };
        sight.held = sight.held.saturating_sub(1);
        if sight.held > 0 {
            return;
        }
        sight.left_at = now;
        sight.is_gone = ending == Ending::Broken;
        drop(cues);
        self.peers.say(|| Signal::Away {
            id: id.clone(),
            at: now,
            broken: ending == Ending::Broken,
        });
        match ending {
            Ending::Broken => self.news.tell(Change::Tracked(id.clone())),
            Ending::Finished => self.bell.notify_one(),
        }
    }

    /// Tells of those who did not come back in time. Says whether others still may.
    fn tell_gone(&self) -> bool {
        let now = self.store.clock().now();
        let mut gone = Vec::new();
        let mut is_anybody_expected = false;
        for (id, sight) in self
            .lock()
            .iter_mut()
            .filter(|(_, sight)| sight.held == 0 && !sight.is_gone)
        {
            if sight.is_here(now) {
                is_anybody_expected = true;
            } else {
                sight.is_gone = true;
                gone.push(id.clone());
            }
        }
        gone.into_iter().for_each(|id| self.news.tell(Change::Tracked(id)));
        is_anybody_expected
    }

    async fn follow(&self) {
        loop {
            self.bell.notified().await;
            loop {
                tokio::time::sleep(ROUND).await;
                if !self.tell_gone() {
                    break;
                }
            }
        }
    }

    fn say_here(&self, id: &MessageId, sight: Sight) {
        let Sight {
            kind,
            held,
            here_since: since,
            ..
        } = sight;
        self.peers.say(|| Signal::Here {
            id: id.clone(),
            kind,
            since,
            held: held > 0,
        });
    }

    /// Another hub may not know it.
    pub fn say_again(&self) {
        let now = self.store.clock().now();
        let here: Vec<_> = self.lock().iter().map(|(id, sight)| (id.clone(), *sight)).collect();
        here.iter()
            .filter(|(_, sight)| sight.is_here(now))
            .for_each(|(id, sight)| self.say_here(id, *sight));
    }

    /// Another hub says that somebody waits there.
    pub fn is_elsewhere(&self, node: &str, id: &MessageId, kind: Kind, since: Timestamp, held: bool) {
        let left_at = self.store.clock().now();
        let sight = Sight {
            kind,
            held: usize::from(held),
            here_since: since,
            left_at,
            is_gone: false,
        };
        self.lock_elsewhere().note(node, id, sight);
    }

    /// Another hub says that nobody does there any more. It tells its own of it, and this one's.
    pub fn left_elsewhere(&self, node: &str, id: &MessageId, at: Timestamp, broken: bool) {
        self.lock_elsewhere().left(node, id, at, broken);
    }

    /// Another hub is gone, and with it whoever was connected there.
    pub fn gone_elsewhere(&self, node: &str) {
        let now = self.store.clock().now();
        let left = self.lock_elsewhere().gone(node, now);
        left.into_iter().for_each(|id| self.news.tell_here(Change::Tracked(id)));
    }

    fn lock_elsewhere(&self) -> MutexGuard<'_, Elsewhere> {
        self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_handed(&self) -> MutexGuard<'_, HashMap<MessageId, Timestamp>> {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<MessageId, Sight>> {
        self.cues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The other end went away in the middle.
    Broken,
    Finished,
}

/// One connection that waits. Dropped in the middle, it means that nobody is there any more.
pub struct Held {
    terminals: Arc<Terminals>,
    id: MessageId,
    ending: Ending,
}

impl Held {
    /// The wait has its reply.
    pub fn finish(mut self) {
        self.ending = Ending::Finished;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.terminals.leave(&self.id, self.ending);
    }
}

impl Hub {
    pub fn cue_presence(&self, message: &Message) -> CuePresence {
        match (&message.state, cue_kind(&message.source)) {
            (State::Open, Some(kind)) => self.terminals.presence(&message.id, kind),
            (State::Open | State::Delivered | State::Resolved(_), _) => CuePresence::default(),
        }
    }
}

/// Runs until it is dropped.
pub async fn run(hub: Arc<Hub>) {
    tokio::join!(settle(&hub), hub.terminals.follow());
}

/// Whoever waited before the start and has not come back is gone from here on.
async fn settle(hub: &Hub) {
    let settled_at = hub.started_at.plus(SETTLE);
    tokio::time::sleep(settled_at.since(hub.store.clock().now())).await;
    match hub.store.run(ListTerminals { limit: MOST_TOLD }).await {
        Ok(terminals) => {
            let open = terminals.into_iter().filter(|terminal| terminal.open > 0);
            let gone = open
                .filter_map(|terminal| terminal.last_cue_id)
                .filter(|id| hub.terminals.is_gone(id));
            gone.for_each(|id| hub.news.tell(Change::Tracked(id)));
        }
        Err(error) => tracing::warn!(%error, "who did not come back could not be told"),
    }
}

//! A simple reference model of the store: a list of messages, and what happens to them.

use countersign_core::message::{Outcome, Status};
use countersign_protocol::a2h::Kind;
use countersign_protocol::time::Timestamp;
use countersign_store::model::Submission;

use crate::scene::{Draft, at};

pub const MAX_OPEN: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// By an authorized person, with a command valid for the kind.
    Finish,
    /// By an authorized person, with a command of another kind.
    Misfit,
    Cancel,
    Expire,
}

#[derive(Debug, Clone)]
pub enum Step {
    Submit {
        agent: &'static str,
        kind: Kind,
        life: Option<i64>,
        key: Option<&'static str>,
        variant: u8,
    },
    Act {
        on: usize,
        act: Act,
    },
    Purge {
        age: i64,
    },
    Sweep,
    Wait(i64),
}

#[derive(Debug, Clone)]
pub struct Known {
    pub number: u64,
    pub agent: &'static str,
    pub kind: Kind,
    pub status: Status,
    pub expires_at: Option<i64>,
    pub ended_at: Option<i64>,
    pub key: Option<&'static str>,
    pub variant: u8,
    pub gone: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    NotFound,
    Gone,
    Refused,
    Ended(Outcome),
}

#[derive(Debug, Default)]
pub struct Model {
    pub now: i64,
    pub messages: Vec<Known>,
}

impl Model {
    pub fn open_of(&self, agent: &str) -> usize {
        self.messages
            .iter()
            .filter(|known| known.agent == agent && known.status == Status::Open)
            .count()
    }

    pub fn open(&self) -> impl Iterator<Item = &Known> {
        self.messages.iter().filter(|known| known.status == Status::Open)
    }

    /// In the order of the inbox: what expires within an hour, then by arrival, because all have one priority.
    pub fn inbox(&self) -> Vec<u64> {
        let soon_before = self.now + 3_600_000;
        let mut open: Vec<_> = self
            .open()
            .map(|known| (known.expires_at.filter(|at| *at < soon_before), known.number))
            .collect();
        open.sort_by_key(|(soon, number)| (soon.is_none(), *soon, *number));
        open.into_iter().map(|(_, number)| number).collect()
    }

    pub fn next_expiry(&self) -> Option<Timestamp> {
        self.open().filter_map(|known| known.expires_at).min().map(at)
    }

    /// Expires overdue messages, and returns their numbers.
    pub fn sweep(&mut self) -> Vec<u64> {
        let now = self.now;
        let late = self
            .messages
            .iter_mut()
            .filter(|known| known.status == Status::Open && known.is_late(now));
        let ended = late.map(|known| {
            (known.status, known.ended_at) = (Status::Resolved(Outcome::Expired), Some(now));
            known.number
        });
        ended.collect()
    }

    /// `known` is the message as it would be stored.
    pub fn submit(&mut self, known: Known) -> Submission {
        let same_key = |other: &&Known| !other.gone && other.agent == known.agent && other.key == known.key;
        let earlier = self.messages.iter().filter(|_| known.key.is_some()).find(same_key);
        if let Some(earlier) = earlier {
            return earlier.draft().taken(earlier.status);
        }
        if known.kind != Kind::Notify && self.open_of(known.agent) >= MAX_OPEN {
            return Submission::TooManyOpen;
        }
        self.messages.push(known);
        Submission::Created
    }

    pub fn act(&mut self, on: usize, act: Act) -> Effect {
        let now = self.now;
        let Some(known) = self.messages.get_mut(on) else {
            return Effect::NotFound;
        };
        if known.gone {
            return Effect::Gone;
        }
        let late = known.is_late(now);
        let wanted = match (known.kind, act) {
            (Kind::Ask, Act::Finish) => Outcome::Answered,
            (Kind::Task, Act::Finish) => Outcome::Completed,
            (Kind::Ask, Act::Cancel) => Outcome::Cancelled,
            (Kind::Ask | Kind::Task, Act::Expire) if late => Outcome::Expired,
            _ => return Effect::Refused,
        };
        if known.status != Status::Open {
            return Effect::Refused;
        }
        let outcome = if late { Outcome::Expired } else { wanted };
        (known.status, known.ended_at) = (Status::Resolved(outcome), Some(now));
        Effect::Ended(outcome)
    }

    pub fn purge(&mut self, before: i64) -> u64 {
        let due = |known: &&mut Known| !known.gone && known.ended_at.is_some_and(|ended_at| ended_at < before);
        self.messages
            .iter_mut()
            .filter(due)
            .map(|known| known.gone = true)
            .count() as u64
    }
}

impl Known {
    pub fn draft(&self) -> Draft {
        let plain = match self.kind {
            Kind::Ask => Draft::pushed(self.number),
            Kind::Task => Draft::task(self.number),
            Kind::Notify => Draft::notify(self.number),
        };
        let agent = self.agent;
        let key = self.key;
        let variant = self.variant;
        Draft {
            agent,
            key,
            variant,
            expires_at: self.expires_at.map(at),
            ..plain
        }
    }

    pub fn is_late(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|expires_at| now > expires_at)
    }
}

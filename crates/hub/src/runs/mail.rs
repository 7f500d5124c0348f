use std::collections::VecDeque;

use countersign_core::runs::policy::TooManyRules;
use countersign_protocol::runs::UpdatePolicy;
use tokio::sync::{mpsc, oneshot};

/// What others say to the task of a run. A reply that never comes means that the run is over.
pub enum Mail {
    Steer {
        text: String,
        /// Whether there was room for it.
        taken: oneshot::Sender<bool>,
    },
    Policy {
        change: UpdatePolicy,
        changed: oneshot::Sender<Result<(), TooManyRules>>,
    },
    Stop {
        stopped: oneshot::Sender<()>,
    },
    /// Another hub moves the run from now on.
    Moved,
    /// A run that waits for a person may stay as it is.
    HubStops {
        settled: oneshot::Sender<()>,
    },
}

/// Where the task of a run hears.
pub struct Mailbox {
    mail: mpsc::Receiver<Mail>,
    /// What came at a bad moment.
    put_off: VecDeque<Mail>,
}

impl Mailbox {
    /// In the order in which it came. Nothing once nobody can write any more.
    pub async fn next(&mut self) -> Option<Mail> {
        match self.put_off.pop_front() {
            Some(mail) => Some(mail),
            None => self.mail.recv().await,
        }
    }

    /// What is there already.
    pub fn try_next(&mut self) -> Option<Mail> {
        self.put_off.pop_front().or_else(|| self.mail.try_recv().ok())
    }

    /// What has not been seen yet.
    pub async fn fresh(&mut self) -> Option<Mail> {
        self.mail.recv().await
    }

    /// To be heard next time, behind what was put off before.
    pub fn put_off(&mut self, mail: Mail) {
        self.put_off.push_back(mail);
    }
}

impl From<mpsc::Receiver<Mail>> for Mailbox {
    fn from(mail: mpsc::Receiver<Mail>) -> Self {
        Self {
            mail,
            put_off: VecDeque::new(),
        }
    }
}

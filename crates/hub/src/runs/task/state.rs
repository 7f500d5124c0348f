use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use countersign_core::runs::{Output, Policy};
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::Phase;
use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot};

use super::memory::Memory;
use super::waiting::Waiting;
use crate::app::Hub;
use crate::inbox::news::Change;
use crate::peers::Signal;
use crate::runs::ledger::Ledger;
use crate::runs::mail::{Mail, Mailbox};
use crate::runs::plan::{Plan, Segment};
use crate::runs::run::Run;
use crate::runs::standing::Standing;
use crate::runs::telling::News;

pub struct Task {
    pub(super) hub: Arc<Hub>,
    pub(super) run: Arc<Run>,
    pub(super) plan: Arc<Plan>,
    pub(super) segment: Segment,
    pub(super) standing: Standing,
    pub(super) ledger: Ledger,
    /// As it is stored.
    pub(super) phase: Phase,
    pub(super) mail: Mailbox,
    /// What people have been asked and have not answered.
    pub(super) open: Vec<MessageId>,
    /// What an earlier process had asked when it ended.
    pub(super) left: Vec<Waiting>,
    pub(super) memory: Memory,
    /// Of the agent that worked last.
    pub(super) finish_reason: String,
    /// What an agent at work sees of the policy.
    pub(super) judged: Arc<Mutex<Policy>>,
    /// Whoever stops the run waits for it.
    pub(super) stopped: Vec<oneshot::Sender<()>>,
    /// Nothing keeps it from that any more.
    pub(super) is_ending: bool,
}

/// How a segment begins, or goes on in another process.
pub struct Beginning {
    pub run: Arc<Run>,
    /// Under which this process moves it. It may have another id by now, and then the run is not its own.
    pub node: String,
    pub plan: Arc<Plan>,
    pub segment: Segment,
    pub standing: Standing,
    pub last_seq: u64,
    pub mail: mpsc::Receiver<Mail>,
    pub left: Vec<Waiting>,
    /// The run has a past that this process has not seen.
    pub has_past: bool,
}

/// Who ended a run before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    ByClient,
    ByTheHub,
}

/// Why a run does not go on.
pub(super) enum Halt {
    Completed(Output),
    Failed(String),
    Cancelled(Stopped),
    /// The hub stops, and goes on with it after its next start.
    Left,
    /// The store says that this segment is over, or another hub's.
    Lost,
}

impl Task {
    pub fn new(hub: Arc<Hub>, beginning: Beginning) -> Self {
        let Beginning {
            run,
            node,
            plan,
            segment,
            standing,
            last_seq,
            mail,
            left,
            has_past,
        } = beginning;
        Self {
            ledger: Ledger::new(&run.id, &node, segment.number, segment.request_id.clone(), last_seq),
            open: left.iter().map(|waiting| waiting.id.clone()).collect(),
            judged: Arc::new(Mutex::new(standing.policy.clone())),
            memory: if has_past { Memory::unread() } else { Memory::empty() },
            finish_reason: String::new(),
            phase: Phase::Between,
            stopped: Vec::new(),
            is_ending: false,
            hub,
            run,
            plan,
            segment,
            standing,
            mail: mail.into(),
            left,
        }
    }

    pub fn spawn(mut self) {
        tokio::spawn(async move {
            self.hub.news.tell(Change::Run(self.run.id.clone()));
            // Whatever it was in the middle of, the run itself can still be ended.
            let halt = AssertUnwindSafe(self.drive())
                .catch_unwind()
                .await
                .unwrap_or_else(|_panic| {
                    tracing::error!(run_id = self.run.id, "the task of a run panicked");
                    Halt::Failed("The hub failed; its log says why.".to_owned())
                });
            // Boxed: every run that waits would carry the room for it.
            Box::pin(self.end(halt)).await;
        });
    }

    /// What was stored, to those who follow here and to other hubs.
    pub(super) fn tell(&self, news: News) {
        self.run.tell(news);
        self.tell_peers();
    }

    pub(super) fn tell_peers(&self) {
        self.hub.peers.say(|| Signal::Advanced(self.run.id.clone()));
    }

    pub(super) fn now(&self) -> Timestamp {
        self.hub.store.clock().now()
    }
}

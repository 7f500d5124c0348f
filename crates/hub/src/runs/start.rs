//! start_run and continue_run.

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::ops::run::{BeginRun, Begun, Ending, NewRun, StoredEvent};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::client::Client;
use super::frame::Frame;
use super::join::{Joined, Joining};
use super::mail::Mail;
use super::plan::{Plan, Segment};
use super::refusal::Refusal;
use super::run::{Prepared, Run, Stage};
use super::standing::Standing;
use super::task::{Beginning, Task};
use super::telling::News;
use crate::app::Hub;
use crate::peers::Signal;

/// Mail that waits while a run is busy; who writes more waits too.
pub const MAILBOX: usize = 16;
/// After the store went away in the middle of a commit.
const BEFORE_ANOTHER_TRY: Duration = Duration::from_millis(200);
const MOST_TRIES: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Start,
    Continue,
}

impl How {
    fn refuse(self, what: &str, run_id: &str) -> Refusal {
        let code = match self {
            Self::Start => "START_FAILED",
            Self::Continue => "CONTINUE_FAILED",
        };
        Refusal::new(code, format!("{what}: {run_id}"))
    }
}

/// What begins, and what was said before.
struct Taken {
    prepared: Prepared,
    plan: Arc<Plan>,
    segment: Segment,
    last_seq: u64,
    mail: mpsc::Receiver<Mail>,
}

impl Hub {
    pub async fn start_run(
        self: &Arc<Self>,
        how: How,
        (run_id, input): (&str, String),
        request_id: Option<&str>,
        client: &Arc<Client>,
    ) -> Result<(), Refusal> {
        let Some(run) = self.runs.get(run_id) else {
            return Err(how.refuse("Prepared run not found", run_id));
        };
        if self.runs.is_closing() {
            return Err(how.refuse("The hub is stopping and begins nothing", run_id));
        }
        check(&run, how)?;
        if run.join(client, &Joining::default()) == Joined::TooMany {
            return Err(how.refuse("This connection follows too many runs; unsubscribe from some", run_id));
        }
        let taken = take(&run, how, input, request_id)?;
        // By itself: a connection that ends in the middle does not leave half a start behind.
        let begun = tokio::spawn(begin(Arc::clone(self), Arc::clone(&run), taken));
        match begun.await.map_err(|error| Refusal::internal(&error))?? {
            Begun::New => Ok(()),
            Begun::Exists => Err(how.refuse("Run already started", run_id)),
            Begun::Missing => Err(how.refuse("Prepared run not found", run_id)),
        }
    }
}

fn check(run: &Run, how: How) -> Result<(), Refusal> {
    let state = run.lock();
    let is_prepared = matches!(state.stage, Stage::Prepared(_));
    let refuse = |what| Err(how.refuse(what, &run.id));
    if matches!(state.stage, Stage::Over { .. }) && !state.is_stored() {
        // It was stopped before it began, so there is nothing of it to start or to go on with.
        return refuse("Prepared run not found");
    }
    match (how, is_prepared, state.is_continuation) {
        (How::Start, true, false) | (How::Continue, true, true) => Ok(()),
        (How::Start, false, _) | (How::Continue, false, true) => refuse("Run already started"),
        (How::Start, true, true) => refuse("Run was prepared for continuation"),
        (How::Continue, _, false) => refuse("Run was not prepared for continuation"),
    }
}

/// Of two who start it, one finds it prepared.
fn take(run: &Run, how: How, input: String, request_id: Option<&str>) -> Result<Taken, Refusal> {
    let (mailbox, mail) = mpsc::channel(MAILBOX);
    let mut state = run.lock();
    let stage = std::mem::replace(&mut state.stage, Stage::Starting(mailbox));
    let Stage::Prepared(prepared) = stage else {
        state.stage = stage;
        return Err(how.refuse("Run already started", &run.id));
    };
    let segment = Segment {
        number: state.segment + 1,
        input,
        request_id: request_id.map(str::to_owned),
        first_record_id: Uuid::new_v4().to_string(),
        inputs: state.inputs.clone(),
        policy: prepared.policy.clone(),
    };
    let segment = segment.add_input();
    Ok(Taken {
        prepared,
        plan: Arc::clone(&state.plan),
        segment,
        last_seq: state.last_seq,
        mail,
    })
}

/// Stored first, then told.
async fn begin(hub: Arc<Hub>, run: Arc<Run>, taken: Taken) -> Result<Begun, Refusal> {
    let now = hub.store.clock().now();
    let standing = taken.standing();
    let node = hub.store.node();
    let (op, started) = match taken.first_entry(&run.id, &node, &standing, now) {
        Ok(entry) => entry,
        Err(error) => return Err(back_to_prepared(&run, taken.prepared, Refusal::internal(&error))),
    };
    match store_begin(&hub, op).await {
        Ok(Begun::New) => {
            let Taken {
                plan, segment, mail, ..
            } = taken;
            let last_seq = started.seq;
            let has_past = segment.number > 1;
            hub.runs.make_live(Arc::clone(&run));
            become_running(&run, &segment, started, now);
            hub.peers.say(|| Signal::Advanced(run.id.clone()));
            let beginning = Beginning {
                run,
                node,
                plan,
                segment,
                standing,
                last_seq,
                mail,
                left: Vec::new(),
                has_past,
            };
            Task::new(hub, beginning).spawn();
            Ok(Begun::New)
        }
        // Another hub was first: from here on it is followed.
        Ok(Begun::Exists) if hub.store.is_shared() => {
            hub.moved_elsewhere(&run);
            Ok(Begun::Exists)
        }
        Ok(refused @ (Begun::Exists | Begun::Missing)) => {
            hub.runs
                .end(&run, |run| run.end(Ending::Cancelled, now, News::default()));
            Ok(refused)
        }
        Err(error) => Err(back_to_prepared(&run, taken.prepared, error.into())),
    }
}

/// What may have been stored is stored again, which changes nothing if it was.
async fn store_begin(hub: &Hub, op: BeginRun) -> Result<Begun, StoreError> {
    let mut is_sure = true;
    for _ in 0..MOST_TRIES {
        match hub.store.run(op.clone()).await {
            Err(StoreError::Unsure(_)) => is_sure = false,
            // Now that it may be there, only the store can say that it is not.
            Err(StoreError::Unavailable(_) | StoreError::Ended(_)) if !is_sure => {}
            begun => return begun,
        }
        tokio::time::sleep(BEFORE_ANOTHER_TRY).await;
    }
    hub.store.run(op).await
}

impl Taken {
    fn standing(&self) -> Standing {
        Standing::start(
            &self.segment.input,
            self.prepared.steering.clone(),
            self.prepared.policy.clone(),
        )
    }

    /// What is stored, and what is told then.
    fn first_entry(
        &self,
        run_id: &str,
        node: &str,
        standing: &Standing,
        now: Timestamp,
    ) -> Result<(BeginRun, Frame), serde_json::Error> {
        let plan = &self.plan;
        let segment = &self.segment;
        let seq = self.last_seq + 1;
        let event = plan.started();
        let text = event.frame(run_id, seq, now, segment.request_id.as_deref());
        let run = NewRun {
            run_id: run_id.to_owned(),
            node: node.to_owned(),
            write_id: Uuid::new_v4().to_string(),
            segment: segment.number,
            strategy_path: plan.strategy_path.clone(),
            strategy_name: plan.strategy.name.clone(),
            cwd: plan.cwd.clone(),
            started_at: now,
            last_seq: seq,
            machine: standing.text()?,
            body: plan.body(segment)?,
        };
        let events = self
            .prepared
            .told
            .iter()
            .cloned()
            .chain(StoredEvent::of(&event, seq, &text))
            .collect();
        Ok((BeginRun { run, events }, Frame::of(&event, seq, text)))
    }
}

fn back_to_prepared(run: &Run, prepared: Prepared, refusal: Refusal) -> Refusal {
    run.lock().stage = Stage::Prepared(prepared);
    refusal
}

fn become_running(run: &Run, segment: &Segment, started: Frame, now: Timestamp) {
    let mut state = run.lock();
    let Stage::Starting(mailbox) = &state.stage else { return };
    state.stage = Stage::Running(mailbox.clone());
    state.segment = segment.number;
    state.inputs.clone_from(&segment.inputs);
    state.started_at = now;
    state.tell(News {
        frames: vec![started],
        ..News::default()
    });
}

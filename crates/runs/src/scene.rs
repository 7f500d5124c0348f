//! A test run, for tests of the code around it.

use std::sync::Arc;

use countersign_protocol::id::MessageId;
use countersign_protocol::runs::Event;
use countersign_protocol::runs::strategy::{Flow, FlowKind, Step, Strategy};
use countersign_protocol::time::Timestamp;
use serde_json::Value;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::engine::plan::RunPlan;
use super::follow::broadcast::EventFrame;
use super::follow::broadcast::RunUpdate;
use super::follow::broadcast::{ByteBudget, ReplayBuffer};
use super::follow::client::{ClientAction, RunClient};
use super::follow::pending::PendingAsk;
use super::run::{RunStage, TrackedRun, TrackedRunState};

pub const NOW: Timestamp = Timestamp::from_millis(1);

pub fn running(id: &str, floor: u64) -> Arc<TrackedRun> {
    let flow = Flow {
        name: "Main".to_owned(),
        kind: FlowKind::Sequential,
        steps: vec![Step::Agent("user".to_owned())],
    };
    let strategy = Strategy {
        name: "Test".to_owned(),
        version: "1".to_owned(),
        description: None,
        agents: Vec::new(),
        flow,
        flow_tree: Value::Null,
    };
    let plan = RunPlan {
        strategy,
        strategy_path: "test.json".to_owned(),
        cwd: "/".to_owned(),
        model_override: None,
        manifest_path: None,
    };
    let state = TrackedRunState {
        plan: Arc::new(plan),
        stage: RunStage::Running(mpsc::channel(1).0),
        is_continuation: false,
        segment: 1,
        inputs: Vec::new(),
        started_at: NOW,
        last_seq: floor,
        records: 0,
        replay: ReplayBuffer::above(floor, &ByteBudget::default()),
        pending: Vec::new(),
        followers: Vec::new(),
    };
    TrackedRun::new(id.to_owned(), state)
}

pub fn step(seq: u64) -> EventFrame {
    let event = Event::StepStarted {
        step_name: "user".to_owned(),
        message: String::new(),
    };
    EventFrame::of(&event, seq, format!("{{\"seq\":{seq}}}"))
}

pub fn broadcast(run: &TrackedRun, seqs: impl IntoIterator<Item = u64>) {
    run.lock().broadcast(RunUpdate {
        frames: seqs.into_iter().map(step).collect(),
        ..RunUpdate::default()
    });
}

/// Adds a pending ask and returns its message id.
pub fn ask(run: &TrackedRun, seq: u64) -> MessageId {
    let message_id = MessageId::from_uuid(Uuid::from_u128(u128::from(seq)));
    let event = Event::RequestInput {
        agent_name: "user".to_owned(),
        prompt: None,
        input_id: seq.to_string(),
    };
    let frame = EventFrame::of(&event, seq, format!("{{\"seq\":{seq}}}"));
    let pending = PendingAsk::from_event(message_id.clone(), &event, NOW, frame.clone())
        .into_iter()
        .collect();
    run.lock().broadcast(RunUpdate {
        frames: vec![frame],
        pending,
        records: 0,
    });
    message_id
}

pub fn received(client: &RunClient) -> Vec<String> {
    use futures_util::FutureExt;
    let next = || match client.next().now_or_never() {
        Some(ClientAction::Send(text)) => Some(text.to_string()),
        Some(ClientAction::Close(_)) | None => None,
    };
    std::iter::from_fn(next).collect()
}

//! A run for tests of what surrounds it.

use std::sync::Arc;

use countersign_protocol::id::MessageId;
use countersign_protocol::runs::Event;
use countersign_protocol::runs::strategy::{Flow, FlowKind, Step, Strategy};
use countersign_protocol::time::Timestamp;
use serde_json::Value;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::client::{Client, Next};
use super::frame::Frame;
use super::pending::Pending;
use super::plan::Plan;
use super::ring::{Ring, Together};
use super::run::{Run, RunState, Stage};
use super::telling::News;

pub const NOW: Timestamp = Timestamp::from_millis(1);

pub fn running(id: &str, floor: u64) -> Arc<Run> {
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
    let plan = Plan {
        strategy,
        strategy_path: "test.json".to_owned(),
        cwd: "/".to_owned(),
        model_override: None,
        manifest_path: None,
    };
    let state = RunState {
        plan: Arc::new(plan),
        stage: Stage::Running(mpsc::channel(1).0),
        is_continuation: false,
        segment: 1,
        inputs: Vec::new(),
        started_at: NOW,
        last_seq: floor,
        records: 0,
        ring: Ring::above(floor, &Together::default()),
        pending: Vec::new(),
        followers: Vec::new(),
    };
    Run::new(id.to_owned(), state)
}

pub fn step(seq: u64) -> Frame {
    let event = Event::StepStarted {
        step_name: "user".to_owned(),
        message: String::new(),
    };
    Frame::of(&event, seq, format!("{{\"seq\":{seq}}}"))
}

pub fn tell(run: &Run, seqs: impl IntoIterator<Item = u64>) {
    run.tell(News {
        frames: seqs.into_iter().map(step).collect(),
        ..News::default()
    });
}

/// Asks, and gives the id of the message.
pub fn ask(run: &Run, seq: u64) -> MessageId {
    let message_id = MessageId::from_uuid(Uuid::from_u128(u128::from(seq)));
    let event = Event::RequestInput {
        agent_name: "user".to_owned(),
        prompt: None,
        input_id: seq.to_string(),
    };
    let frame = Frame::of(&event, seq, format!("{{\"seq\":{seq}}}"));
    let pending = Pending::of(message_id.clone(), &event, NOW, frame.clone())
        .into_iter()
        .collect();
    run.tell(News {
        frames: vec![frame],
        pending,
        records: 0,
    });
    message_id
}

pub fn heard(client: &Client) -> Vec<String> {
    use futures_util::FutureExt;
    let next = || match client.next().now_or_never() {
        Some(Next::Send(text)) => Some(text.to_string()),
        Some(Next::Close(_)) | None => None,
    };
    std::iter::from_fn(next).collect()
}

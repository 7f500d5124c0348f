//! A test double of the agent context, which records all calls.

use std::collections::VecDeque;

use countersign_core::runs::{AskKind, Judgement, Policy};
use countersign_protocol::runs::StreamEvent;
use countersign_runs::engine::agents::AgentContext;
use serde_json::Value;
use tokio::sync::mpsc;

#[derive(Default)]
pub struct TestContext {
    pub events: Vec<StreamEvent>,
    pub asked: Vec<(Vec<AskKind>, Value)>,
    pub remembered: Vec<(String, bool)>,
    pub policy: Policy,
    answers: VecDeque<Vec<String>>,
    /// Gets every emitted event, for tests that act in the middle.
    listener: Option<mpsc::UnboundedSender<StreamEvent>>,
}

impl TestContext {
    pub fn answering(answers: &[&[&str]]) -> Self {
        let answers = answers
            .iter()
            .map(|answers| answers.iter().map(|&answer| answer.to_owned()).collect());
        Self {
            answers: answers.collect(),
            ..Self::default()
        }
    }

    pub fn listen(&mut self) -> mpsc::UnboundedReceiver<StreamEvent> {
        let (listener, events) = mpsc::unbounded_channel();
        self.listener = Some(listener);
        events
    }

    /// The streamed text.
    pub fn text(&self) -> String {
        let text = |event: &StreamEvent| match event {
            StreamEvent::Text { text } => Some(text.clone()),
            _ => None,
        };
        self.events.iter().filter_map(text).collect()
    }

    pub fn questions(&self) -> Vec<&str> {
        let asks = self.asked.iter().flat_map(|(asks, _)| asks);
        asks.filter_map(|ask| match ask {
            AskKind::Question { question, .. } => Some(question.as_str()),
            AskKind::Permission { .. } | AskKind::Input { .. } => None,
        })
        .collect()
    }
}

impl AgentContext for TestContext {
    async fn emit(&mut self, event: StreamEvent) {
        if let Some(listener) = &self.listener {
            drop(listener.send(event.clone()));
        }
        self.events.push(event);
    }

    /// Fails without a prepared answer, like an ask that timed out.
    async fn ask(&mut self, asks: Vec<AskKind>, state: Value) -> Result<Vec<String>, String> {
        self.asked.push((asks, state));
        self.answers.pop_front().ok_or_else(|| "no answer in time".to_owned())
    }

    fn judge(&self, resource: &str) -> Judgement {
        self.policy.judge(resource)
    }

    async fn remember(&mut self, resource: &str, allow: bool) {
        self.policy.remember(resource, allow);
        self.remembered.push((resource.to_owned(), allow));
    }
}

//! The context of a working agent. Its requests go to the task of the run, which handles them in order.

use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::runs::{Judgement, Policy};
use countersign_protocol::runs::StreamEvent;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::engine::agents::{AgentAsk, AgentContext};

pub enum AgentRequest {
    Stream(StreamEvent),
    Ask {
        asks: Vec<AgentAsk>,
        state: Value,
        answers: oneshot::Sender<Result<Vec<String>, String>>,
    },
    Remember {
        resource: String,
        allow: bool,
        remembered: oneshot::Sender<()>,
    },
}

pub struct TaskContext {
    pub requests: mpsc::Sender<AgentRequest>,
    pub shared_policy: Arc<Mutex<Policy>>,
}

impl AgentContext for TaskContext {
    async fn emit(&mut self, event: StreamEvent) {
        // A closed channel means that the run has ended, and this future is about to be dropped.
        let _ = self.requests.send(AgentRequest::Stream(event)).await;
    }

    async fn ask(&mut self, asks: Vec<AgentAsk>, state: Value) -> Result<Vec<String>, String> {
        let (answers, answered) = oneshot::channel();
        let _ = self.requests.send(AgentRequest::Ask { asks, state, answers }).await;
        answered.await.unwrap_or_else(|_| Err("the run has ended".to_owned()))
    }

    fn judge(&self, resource: &str) -> Judgement {
        self.shared_policy
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .judge(resource)
    }

    async fn remember(&mut self, resource: &str, allow: bool) {
        let (remembered, done) = oneshot::channel();
        let _ = self
            .requests
            .send(AgentRequest::Remember {
                resource: resource.to_owned(),
                allow,
                remembered,
            })
            .await;
        let _ = done.await;
    }
}

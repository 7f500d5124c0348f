//! Items as the hub sends them, for tests.

use serde_json::{Value, json};

/// An ask of the agent `editor`, as the hub sends it.
pub fn asked(question: &Value) -> Value {
    json!({
        "agent": {"id": "editor#r1", "run_id": "r1", "runtime": "run", "project": "Topic writer", "labels": {"cwd": "/srv"}},
        "source": {"door": "runs", "runId": "r1", "agentName": "editor", "strategy": "Topic writer", "ask": "input",
            "inputId": "7"},
        "permissions": {"respond": true, "ignore": false}, "may_be_empty": true,
        "question": question,
    })
}

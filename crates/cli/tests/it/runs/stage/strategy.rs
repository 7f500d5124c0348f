//! Complete, valid strategy files. A test changes only the part it is about.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::harness::Hub;

pub fn strategy(agents: Value, flow: Value) -> Value {
    json!({"name": "Test strategy", "version": "1.0", "agents": agents, "flow": flow})
}

pub fn flow(name: &str, kind: &str, steps: &[&str]) -> Value {
    let steps: Vec<Value> = steps.iter().map(|agent| json!({"agent": agent})).collect();
    json!({"name": name, "type": kind, "steps": steps})
}

/// A sequential flow of these agents.
pub fn sequence(agents: Value, steps: &[&str]) -> Value {
    strategy(agents, flow("Main", "sequential", steps))
}

/// A cycle of these agents, with additional flow keys.
pub fn cycle(agents: Value, steps: &[&str], more: Value) -> Value {
    let mut flow = flow("Main", "cycle", steps);
    for (key, value) in more.as_object().expect("an object") {
        flow[key] = value.clone();
    }
    strategy(agents, flow)
}

/// A person, then an echo.
pub fn talk() -> Value {
    sequence(json!({"user": person(), "assistant": echo()}), &["user", "assistant"])
}

/// A person between two other agents.
pub fn review() -> Value {
    let agents = json!({"draft": template("Draft: {{input}}"), "editor": person(), "print": echo()});
    sequence(agents, &["draft", "editor", "print"])
}

pub fn person() -> Value {
    json!({"type": "user"})
}

pub fn person_with(config: Value) -> Value {
    json!({"type": "user", "config": config})
}

pub fn echo() -> Value {
    json!({"type": "echo"})
}

pub fn template(template: &str) -> Value {
    json!({"type": "template", "config": {"template": template}})
}

pub fn command(program: &str, args: &[&str]) -> Value {
    json!({"type": "command", "config": {"program": program, "args": args}})
}

pub fn llm() -> Value {
    json!({"model": "test-model"})
}

/// A strategy with a single agent.
pub fn alone(agent: Value) -> Value {
    sequence(json!({"worker": agent}), &["worker"])
}

pub fn strategy_file(hub: &Hub, strategy: &Value) -> PathBuf {
    strategy_text(hub, "json", &format!("{strategy:#}"))
}

pub fn strategy_text(hub: &Hub, extension: &str, text: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("strategy-{}.{extension}", COUNT.fetch_add(1, Ordering::Relaxed));
    hub.scratch().write(&name, text)
}

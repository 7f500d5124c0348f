use std::cell::Cell;

use serde_json::Value;

use super::model::{Cycle, Flow, FlowKind, Match, Step};
use super::text;
use crate::runs::fault::{FaultList, FaultPath};
use crate::runs::object::{MAX_SAFE, Object, expected};

const MAX_STEPS: usize = 2000;
const KEYS: [&str; 4] = ["name", "type", "description", "steps"];
const CYCLE_KEYS: [&str; 4] = ["cycles", "observer", "breakCycleSignals", "breakCycleSignalMatch"];
const SIGNALS: [&str; 3] = ["end cycle", "stop", "done"];
const SEPARATOR: &str = "\n\n";

/// Reads the whole tree. The placeholder for a flow that is not an object is never used.
pub(super) fn read(strategy: &Object<'_>) -> Flow {
    let place = FaultPath::Key(strategy.place(), "flow");
    let tree = strategy
        .required("flow")
        .and_then(|tree| Object::of(tree, place, strategy.faults()));
    let flow = tree.and_then(|tree| flow(&tree, &Cell::new(MAX_STEPS)));
    flow.unwrap_or_else(|| Flow {
        name: String::new(),
        kind: FlowKind::Sequential,
        steps: Vec::new(),
    })
}

fn flow(object: &Object<'_>, steps_left: &Cell<usize>) -> Option<Flow> {
    object.optional_text("description", text::ANY);
    let name = text::name(object, "name");
    let kind = kind(object);
    let steps = steps(object, steps_left);
    Some(Flow {
        name,
        kind: kind?,
        steps,
    })
}

fn kind(object: &Object<'_>) -> Option<FlowKind> {
    match object.required("type")? {
        Value::String(word) => match word.as_str() {
            "sequential" => {
                object.only(&[&KEYS]);
                Some(FlowKind::Sequential)
            }
            "cycle" => {
                object.only(&[&KEYS, &CYCLE_KEYS]);
                Some(cycle(object))
            }
            "broadcast" => {
                object.only(&[&KEYS, &["separator"]]);
                let separator = object.optional_text("separator", text::ANY);
                Some(FlowKind::Broadcast {
                    separator: separator.unwrap_or_else(|| SEPARATOR.to_owned()),
                })
            }
            _ => {
                object.fault("type", "unknown flow type; known: sequential, cycle, broadcast");
                None
            }
        },
        other => {
            object.fault("type", expected("sequential, cycle or broadcast", other));
            None
        }
    }
}

fn cycle(object: &Object<'_>) -> FlowKind {
    const MATCHES: [(&str, Match); 4] = [
        ("substring", Match::Substring),
        ("first-line", Match::FirstLine),
        ("any-line", Match::AnyLine),
        ("exact", Match::Exact),
    ];
    let signals = object.optional_texts("breakCycleSignals", text::NOT_EMPTY);
    if object
        .entries()
        .get("breakCycleSignals")
        .and_then(Value::as_array)
        .is_some_and(Vec::is_empty)
    {
        object.fault("breakCycleSignals", "must have at least one entry");
    }
    FlowKind::Cycle(Cycle {
        cycles: cycles(object),
        observer: object.optional_text("observer", text::NOT_EMPTY),
        signals: signals.unwrap_or_else(|| SIGNALS.map(str::to_owned).to_vec()),
        matching: object
            .optional_word("breakCycleSignalMatch", &MATCHES)
            .unwrap_or(Match::Substring),
    })
}

fn cycles(object: &Object<'_>) -> Option<u64> {
    match object.entries().get("cycles") {
        None => Some(1),
        Some(Value::String(word)) if word == "Infinity" => None,
        Some(Value::Number(_)) => object.whole("cycles", 1..=MAX_SAFE).map(i64::unsigned_abs),
        Some(_) => {
            object.fault("cycles", "must be a whole number from 1, or \"Infinity\"");
            None
        }
    }
}

fn steps(object: &Object<'_>, steps_left: &Cell<usize>) -> Vec<Step> {
    object.required("steps");
    let Some(items) = object.list("steps") else {
        return Vec::new();
    };
    if items.is_empty() {
        object.fault("steps", "must have at least one step");
    }
    let Some(left) = steps_left.get().checked_sub(items.len()) else {
        object.fault("steps", format!("a strategy has at most {MAX_STEPS} steps in all"));
        return Vec::new();
    };
    steps_left.set(left);
    let place = FaultPath::Key(object.place(), "steps");
    let step = |(index, item)| step(item, FaultPath::Item(&place, index), object.faults(), steps_left);
    items.iter().enumerate().filter_map(step).collect()
}

fn step(value: &Value, place: FaultPath<'_>, faults: &FaultList, steps_left: &Cell<usize>) -> Option<Step> {
    let object = Object::of(value, place, faults)?;
    if object.has("agent") {
        object.only(&[&["agent", "description"]]);
        object.optional_text("description", text::ANY);
        return Some(Step::Agent(object.text("agent", text::NOT_EMPTY)));
    }
    if !KEYS.iter().any(|key| *key != "description" && object.has(key)) {
        faults.add(place, "must be a step ({agent}) or a flow ({name, type, steps})");
        return None;
    }
    flow(&object, steps_left).map(Step::Flow)
}

use serde_json::Value;

use super::error::StrategyError;
use super::locate::Locator;
use super::model::Strategy;
use super::{StrategyFormat, agents, flow, loop_check, references, text};
use crate::runs::fault::{FaultList, FaultPath, PathPart};
use crate::runs::object::Object;

/// Size limit of a strategy file.
pub const MAX_BYTES: usize = 1024 * 1024;
/// Nesting limit of objects and arrays.
pub(super) const MAX_DEPTH: usize = 32;

/// Reads and validates a strategy.
pub fn read(text: &str, format: StrategyFormat) -> Result<Strategy, StrategyError> {
    let value = parsed(text, format)
        .map_err(|why| StrategyError::Syntax(format!("Failed to parse strategy {}: {why}", format.word())))?;
    let faults = FaultList::default();
    let strategy = Object::of(&value, FaultPath::Root, &faults).map(|object| strategy(&object));
    match strategy {
        Some(strategy) if is_sound(&strategy, &faults) => Ok(strategy),
        Some(_) | None => {
            let places = Locator::new(without_mark(text), format);
            Err(StrategyError::Invalid(
                faults.into_located(|parts| places.position(parts)),
            ))
        }
    }
}

/// References are checked only in a strategy that is complete, and loops only where every agent is defined.
fn is_sound(strategy: &Strategy, faults: &FaultList) -> bool {
    let checks = [references::check, loop_check::check];
    faults.is_empty()
        && checks.iter().all(|check| {
            check(strategy, faults);
            faults.is_empty()
        })
}

/// Some editors write a byte order mark.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn parsed(text: &str, format: StrategyFormat) -> Result<Value, String> {
    if text.len() > MAX_BYTES {
        return Err(format!(
            "the file has {} bytes; at most {MAX_BYTES} are read",
            text.len()
        ));
    }
    let text = without_mark(text);
    let value = format.parse(text)?;
    match too_deep(&value, FaultPath::Root, MAX_DEPTH) {
        Some(parts) => {
            let why = format!("nested deeper than {MAX_DEPTH} levels");
            let position = Locator::new(text, format).position(&parts);
            Err(position.map_or_else(|| why.clone(), |position| position.before(&why)))
        }
        None => Ok(value),
    }
}

/// The path of the first value nested too deeply.
fn too_deep(value: &Value, place: FaultPath<'_>, left: usize) -> Option<Vec<PathPart>> {
    match (value, left.checked_sub(1)) {
        (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_), _) => None,
        (Value::Array(_) | Value::Object(_), None) => Some(place.parts()),
        (Value::Array(items), Some(left)) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| too_deep(item, FaultPath::Item(&place, index), left)),
        (Value::Object(entries), Some(left)) => entries
            .iter()
            .find_map(|(key, value)| too_deep(value, FaultPath::Entry(&place, key), left)),
    }
}

fn strategy(object: &Object<'_>) -> Strategy {
    object.only(&[&["name", "version", "description", "mcpServers", "agents", "flow"]]);
    Strategy {
        name: text::name(object, "name"),
        version: text::name(object, "version"),
        description: object.optional_text("description", text::ANY),
        agents: agents::read(object),
        flow: flow::read(object),
        flow_tree: object.entries().get("flow").cloned().unwrap_or_default(),
    }
}

use serde_json::Value;

use super::error::StrategyError;
use super::model::Strategy;
use super::{StrategyFormat, agents, flow, loop_check, references, text};
use crate::runs::fault::{FaultList, FaultPath};
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
    let faults = faults.into_list();
    match strategy {
        Some(strategy) if faults.is_empty() => {
            references::check(&strategy)?;
            loop_check::check(&strategy)?;
            Ok(strategy)
        }
        Some(_) | None => Err(StrategyError::Invalid(faults)),
    }
}

fn parsed(text: &str, format: StrategyFormat) -> Result<Value, String> {
    if text.len() > MAX_BYTES {
        return Err(format!(
            "the file has {} bytes; at most {MAX_BYTES} are read",
            text.len()
        ));
    }
    // Some editors write a byte order mark.
    let value = format.parse(text.strip_prefix('\u{feff}').unwrap_or(text))?;
    match too_deep(&value, FaultPath::Root, MAX_DEPTH) {
        Some(path) => Err(format!("{path}: nested deeper than {MAX_DEPTH} levels")),
        None => Ok(value),
    }
}

/// The path of the first value nested too deeply.
fn too_deep(value: &Value, place: FaultPath<'_>, left: usize) -> Option<String> {
    let is_leaf = matches!(
        value,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)
    );
    match (value, left.checked_sub(1)) {
        _ if is_leaf => None,
        (_, None) => Some(place.to_string()),
        (Value::Array(items), Some(left)) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| too_deep(item, FaultPath::Item(&place, index), left)),
        (Value::Object(entries), Some(left)) => entries
            .iter()
            .find_map(|(key, value)| too_deep(value, FaultPath::Key(&place, key), left)),
        (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_), Some(_)) => None,
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

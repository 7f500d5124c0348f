//! Tool calls, assembled from streamed deltas.

use super::chunk::CallDelta;

/// Tool calls in one answer.
const MAX_CALLS: usize = 64;
/// Four times the longest allowed tool name; a longer name is cut, since it cannot be one of our tools.
const MAX_NAME_BYTES: usize = 256;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall {
    index: Option<u64>,
    pub id: String,
    pub name: String,
    /// Raw text from the model; parsed as JSON later.
    pub arguments: String,
}

#[derive(Debug, Default)]
pub struct ToolCalls(Vec<ToolCall>);

impl ToolCalls {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of bytes added, or `None` if there are too many calls.
    pub fn add(&mut self, delta: CallDelta) -> Option<usize> {
        let id = delta.id.unwrap_or_default();
        let index = self.index_of(&id, delta.index);
        if index == self.0.len() {
            if index == MAX_CALLS {
                return None;
            }
            self.0.push(ToolCall {
                index: delta.index,
                id: id.clone(),
                ..ToolCall::default()
            });
        }
        let call = &mut self.0[index];
        let function = delta.function.unwrap_or_default();
        let mut added = id.len();
        // The name comes in one piece, and some servers repeat it in every delta.
        if let Some(name) = function.name
            && call.name.is_empty()
        {
            name[..name.floor_char_boundary(MAX_NAME_BYTES)].clone_into(&mut call.name);
            added += call.name.len();
        }
        let piece = function
            .arguments
            .map(|arguments| arguments.into_text())
            .unwrap_or_default();
        call.arguments.push_str(&piece);
        Some(added + piece.len())
    }

    /// By id if there is one: some servers send index 0 for every call, others send no index.
    fn index_of(&self, id: &str, index: Option<u64>) -> usize {
        let known = |call: &ToolCall| {
            if id.is_empty() {
                index.is_none() || call.index == index
            } else {
                call.id == id
            }
        };
        self.0.iter().rposition(known).unwrap_or(self.0.len())
    }

    /// Gives every call an id, because its result must name it.
    pub fn finish(self) -> Vec<ToolCall> {
        let mut calls = self.0;
        for (number, call) in calls.iter_mut().enumerate() {
            if call.id.is_empty() {
                call.id = format!("call_{number}");
            }
        }
        calls
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn collected(deltas: Vec<Value>) -> Vec<(String, String, String)> {
        let mut calls = ToolCalls::default();
        for delta in deltas {
            calls.add(serde_json::from_value(delta).unwrap()).unwrap();
        }
        calls
            .finish()
            .into_iter()
            .map(|call| (call.id, call.name, call.arguments))
            .collect()
    }

    fn call(id: &str, arguments: &str) -> (String, String, String) {
        (id.to_owned(), "ask".to_owned(), arguments.to_owned())
    }

    #[test]
    fn deltas_are_matched_by_index() {
        let calls = collected(vec![
            json!({"index": 0, "id": "a", "type": "function", "function": {"name": "ask", "arguments": ""}}),
            json!({"index": 1, "id": "b", "function": {"name": "ask", "arguments": "{\"q\""}}),
            json!({"index": 0, "function": {"arguments": "{}"}}),
            json!({"index": 1, "function": {"arguments": ":1}"}}),
        ]);
        assert_eq!(calls, [call("a", "{}"), call("b", "{\"q\":1}")]);
    }

    #[test]
    fn wrong_or_missing_indexes_are_tolerated() {
        let same_index = collected(vec![
            json!({"index": 0, "id": "a", "function": {"name": "ask", "arguments": "{}"}}),
            json!({"index": 0, "id": "b", "function": {"name": "ask", "arguments": {"q": 1}}}),
        ]);
        assert_eq!(same_index, [call("a", "{}"), call("b", "{\"q\":1}")]);

        let no_index = collected(vec![
            json!({"id": "a", "function": {"name": "ask", "arguments": "{"}}),
            json!({"id": "a", "function": {"name": "ask", "arguments": "}"}}),
        ]);
        assert_eq!(no_index, [call("a", "{}")]);

        let no_id = collected(vec![
            json!({"index": 0, "function": {"name": "ask", "arguments": "{"}}),
            json!({"index": 0, "id": "", "function": {"arguments": "}"}}),
            json!({"index": 1, "function": {"name": "ask"}}),
        ]);
        assert_eq!(no_id, [call("call_0", "{}"), call("call_1", "")]);
    }

    #[test]
    fn a_tool_name_is_counted_and_bounded() {
        let mut calls = ToolCalls::default();
        let mut add = |delta: Value| calls.add(serde_json::from_value(delta).unwrap());
        assert_eq!(
            add(json!({"index": 0, "id": "a", "function": {"name": "ask", "arguments": "{}"}})),
            Some(6)
        );
        assert_eq!(add(json!({"index": 0, "function": {"name": "ask"}})), Some(0));
        assert_eq!(
            add(json!({"index": 1, "function": {"name": "ä".repeat(1_000_000)}})),
            Some(MAX_NAME_BYTES)
        );
        assert_eq!(calls.finish()[1].name.len(), MAX_NAME_BYTES);
    }

    #[test]
    fn too_many_calls_are_refused() {
        let mut calls = ToolCalls::default();
        let added =
            (0..=MAX_CALLS).map(|number| calls.add(serde_json::from_value(json!({"id": number.to_string()})).unwrap()));
        assert_eq!(added.filter(Option::is_none).count(), 1);
    }
}

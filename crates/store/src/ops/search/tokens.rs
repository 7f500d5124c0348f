//! The words of a message for the index.

use std::collections::BTreeSet;

use countersign_core::search::words;
use countersign_core::{Content, Payload};

/// More than the largest body can hold; PostgreSQL refuses a tsvector of a megabyte.
const MAX_WORDS: usize = 8_192;

/// The distinct words of a message, separated by spaces. None for a sensitive message.
pub fn of_message(content: &Content) -> String {
    if content.sensitive {
        return String::new();
    }
    let instructions = match &content.payload {
        Payload::Task(task) => Some(&task.instructions),
        Payload::Ask(_) | Payload::Notify => None,
    };
    let texts = [
        Some(&content.title),
        content.body.as_ref(),
        instructions,
        Some(&content.agent.id),
    ];
    let named = content.agent.project.iter().chain(&content.tags);
    let all = texts.into_iter().flatten().chain(named).flat_map(|text| words(text));
    let each_once: BTreeSet<String> = all.take(MAX_WORDS).collect();
    each_once.into_iter().collect::<Vec<_>>().join(" ")
}

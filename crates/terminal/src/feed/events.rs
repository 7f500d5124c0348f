//! Parses server-sent events from chunks of any size.

use serde::Deserialize;

/// Far above any event's size; a larger one does not come from a hub.
const MAX_EVENT_BYTES: usize = 1024 * 1024;

#[derive(Debug, Clone, PartialEq)]
pub enum InboxChange {
    Opened(String),
    Noticed(String),
    Resolved {
        id: String,
        words: String,
    },
    Tracked(String),
    /// Events were missed: reload everything.
    Resync,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct EventData {
    id: String,
    words: String,
    actor: String,
}

#[derive(Default)]
pub struct EventParser {
    /// The bytes of the unfinished line.
    line: Vec<u8>,
    kind: String,
    data: String,
}

impl EventParser {
    /// Returns the events that `chunk` completes, or `None` if an event exceeds the limit.
    pub fn read(&mut self, chunk: &[u8]) -> Option<Vec<InboxChange>> {
        let mut news = Vec::new();
        for byte in chunk {
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
                news.extend(self.take(&line));
            } else {
                self.line.push(*byte);
            }
            if self.line.len() + self.data.len() > MAX_EVENT_BYTES {
                return None;
            }
        }
        Some(news)
    }

    fn take(&mut self, line: &str) -> Option<InboxChange> {
        if line.is_empty() {
            let kind = std::mem::take(&mut self.kind);
            let data = std::mem::take(&mut self.data);
            return news(&kind, &data);
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut self.kind),
            "data" => self.data.push_str(value),
            // `id` and `retry` are for resuming, which is not used; a comment has no name.
            _ => {}
        }
        None
    }
}

/// Event kinds unknown to this version are ignored.
fn news(kind: &str, data: &str) -> Option<InboxChange> {
    let EventData { id, words, actor } = serde_json::from_str(data).unwrap_or_default();
    match kind {
        "resync" => Some(InboxChange::Resync),
        _ if id.is_empty() => None,
        "opened" => Some(InboxChange::Opened(id)),
        "noticed" => Some(InboxChange::Noticed(id)),
        "resolved" => Some(InboxChange::Resolved {
            id,
            words: by(words, &actor),
        }),
        "tracked" => Some(InboxChange::Tracked(id)),
        _ => None,
    }
}

fn by(words: String, actor: &str) -> String {
    if actor.is_empty() || words.contains(actor) {
        words
    } else {
        format!("{words} by {actor}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "retry: 2000\n\n: hello\n\nid: 1\nevent: opened\ndata: {\"id\":\"msg_1\",\"title\":\"x\"}\n\n\
        id: 2\r\nevent: resolved\r\ndata: {\"id\":\"msg_1\",\r\ndata: \"words\":\"answered Approve\",\"actor\":\"human:ann\"}\r\n\r\n\
        event: unheard-of\ndata: {\"id\":\"msg_2\"}\n\nevent: tracked\ndata: broken\n\nevent: resync\ndata: {}\n\n";

    #[test]
    fn events_are_the_same_for_any_chunk_size() {
        let words = "answered Approve by human:ann".to_owned();
        let expected = [
            InboxChange::Opened("msg_1".to_owned()),
            InboxChange::Resolved {
                id: "msg_1".to_owned(),
                words,
            },
            InboxChange::Resync,
        ];
        for size in [1, 2, 7, 64, 4096] {
            let mut events = EventParser::default();
            let news: Vec<InboxChange> = STREAM
                .as_bytes()
                .chunks(size)
                .flat_map(|chunk| events.read(chunk).unwrap())
                .collect();
            assert_eq!(news, expected, "chunks of {size}");
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut events = EventParser::default();
        let flood = vec![b'x'; MAX_EVENT_BYTES + 1];
        assert_eq!(events.read(&flood), None);
    }
}

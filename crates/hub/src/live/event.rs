//! Live events: a change in the inbox, rendered for pages and for API clients.

use std::sync::Arc;

use bytes::Bytes;
use countersign_core::Language;
use serde_json::Value;

#[derive(Debug)]
pub struct RenderedEvent {
    pub id: u64,
    pub kind: &'static str,
    /// The id of the message or run that changed.
    pub about: String,
    /// The complete SSE record for pages, with HTML in it, per language. The first one is for all other languages too.
    pub(super) web: Vec<(Language, Bytes)>,
    /// The complete SSE record for terminals and scripts.
    pub api: Bytes,
}

impl RenderedEvent {
    /// The record for a page in this language.
    pub fn web(&self, language: Language) -> Bytes {
        let own = self.web.iter().find(|(own, _)| *own == language);
        own.or(self.web.first())
            .map(|(_, record)| record.clone())
            .unwrap_or_default()
    }
}

#[derive(Debug, Clone)]
pub enum LiveEvent {
    Rendered(Arc<RenderedEvent>),
    /// Events were lost: the client must read its lists again.
    Resync {
        id: u64,
    },
}

impl LiveEvent {
    pub fn id(&self) -> u64 {
        match self {
            Self::Rendered(event) => event.id,
            Self::Resync { id } => *id,
        }
    }

    /// Size in the replay buffer.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Rendered(event) => event.web.iter().map(|(_, record)| record.len()).sum::<usize>() + event.api.len(),
            Self::Resync { .. } => 0,
        }
    }
}

/// A rendered event that has no id yet.
pub struct EventDraft {
    pub kind: &'static str,
    pub about: String,
    /// The data for pages, in one language or several; never empty.
    pub web: Vec<(Language, Value)>,
    pub api: Value,
}

impl EventDraft {
    pub fn numbered(self, id: u64) -> RenderedEvent {
        let web = self
            .web
            .iter()
            .map(|(language, data)| (*language, record(id, self.kind, data)));
        let web = web.collect();
        let api = record(id, self.kind, &self.api);
        RenderedEvent {
            id,
            kind: self.kind,
            about: self.about,
            web,
            api,
        }
    }
}

/// Formats one SSE record. Compact JSON has no line breaks, so it fits one `data:` line.
pub fn record(id: u64, kind: &str, data: &Value) -> Bytes {
    format!("id: {id}\nevent: {kind}\ndata: {data}\n\n").into()
}

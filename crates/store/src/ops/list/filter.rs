use countersign_core::Actor;

use crate::model::ListEntry;

/// Filters a list. An empty field matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListFilter {
    pub agent: Option<String>,
    pub project: Option<String>,
    pub tag: Option<String>,
    /// A value of `Content::kind_word`.
    pub kind: Option<String>,
    /// An actor who may resolve the message.
    pub resolver: Option<Actor>,
}

impl ListFilter {
    /// For the SQL, because the agent is a column. No agent has an empty id.
    pub(super) fn agent(&self) -> &str {
        self.agent.as_deref().unwrap_or_default()
    }

    /// Whether the other fields match, which only the text tells. An unreadable text matches none of them,
    /// but every resolver: people have to see that it is damaged.
    pub(super) fn matches(&self, entry: &ListEntry) -> bool {
        let Ok(item) = entry else {
            return self.project.is_none() && self.tag.is_none() && self.kind.is_none();
        };
        let content = &item.message.content;
        self.project
            .as_ref()
            .is_none_or(|project| content.agent.project.as_ref() == Some(project))
            && self.tag.as_ref().is_none_or(|tag| content.tags.contains(tag))
            && self.kind.as_ref().is_none_or(|kind| content.kind_word() == kind)
            && self
                .resolver
                .as_ref()
                .is_none_or(|actor| content.resolvers.contains(actor))
    }
}

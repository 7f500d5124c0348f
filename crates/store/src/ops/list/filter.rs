use countersign_core::Content;

/// Narrows a list down. What is not named fits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListFilter {
    pub agent: Option<String>,
    pub project: Option<String>,
    pub tag: Option<String>,
    /// In the word of `Content::kind_word`.
    pub kind: Option<String>,
}

impl ListFilter {
    /// For the SQL: an agent stands in the row. Nobody's id is empty.
    pub(super) fn agent(&self) -> &str {
        self.agent.as_deref().unwrap_or_default()
    }

    /// Whether the rest fits, which is known only from the text.
    pub(super) fn matches(&self, content: &Content) -> bool {
        self.project
            .as_ref()
            .is_none_or(|project| content.agent.project.as_ref() == Some(project))
            && self.tag.as_ref().is_none_or(|tag| content.tags.contains(tag))
            && self.kind.as_ref().is_none_or(|kind| content.kind_word() == kind)
    }
}

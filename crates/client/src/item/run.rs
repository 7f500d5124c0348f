//! Fields of a run's asks: the agent, its strategy and its run.

use countersign_protocol::api::inbox::ItemQuestion;

use super::ClientItem;

impl ClientItem {
    pub fn is_of_run(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.door == "runs")
    }

    /// The asker's display name. The id of a run's agent has the run's id appended.
    pub fn asker(&self) -> &str {
        let id = self.agent.id.as_str();
        if !self.is_of_run() {
            // An earlier hub sends no name.
            return Some(self.agent_name.as_str())
                .filter(|name| !name.is_empty())
                .unwrap_or(id);
        }
        let named = self.source.as_ref().and_then(|source| source.agent_name.as_deref());
        named
            .or_else(|| id.rsplit_once('#').map(|(name, _)| name))
            .unwrap_or(id)
    }

    /// The display name with the id, which commands take: `Codex · shop (furpenfildfi)`.
    pub fn asker_with_id(&self) -> String {
        match (self.asker(), self.agent.id.as_str()) {
            (name, id) if name == id => id.to_owned(),
            (name, id) => format!("{name} ({id})"),
        }
    }

    /// `run r1 of Topic writer`
    pub fn run_label(&self) -> Option<String> {
        let source = self.source.as_ref().filter(|_| self.is_of_run())?;
        let of = source
            .strategy
            .as_ref()
            .map(|strategy| format!(" of {strategy}"))
            .unwrap_or_default();
        Some(format!("run {}{of}", self.agent.run_id))
    }

    /// Whether an empty text is allowed as the answer.
    pub fn allows_empty(&self) -> bool {
        self.may_be_empty && matches!(self.question, Some(ItemQuestion::Text))
    }
}

#[cfg(test)]
pub mod tests {
    use serde_json::json;

    use crate::item::test_data::asked;
    use crate::item::tests::item;

    #[test]
    fn an_agent_of_a_run_is_called_by_its_name() {
        let ask = item(asked(&json!({"kind": "text"})));
        assert_eq!(
            (ask.asker(), ask.run_label().as_deref()),
            ("editor", Some("run r1 of Topic writer"))
        );
        assert!(ask.allows_empty());
        assert!(!item(asked(&json!({"kind": "select", "options": []}))).allows_empty());
    }

    #[test]
    fn an_agent_is_called_by_its_display_name() {
        let named = item(
            json!({"agent": {"id": "furpenfildfi", "run_id": "r", "runtime": "codex"},
            "agent_name": "Codex · shop", "question": {"kind": "text"}}),
        );
        assert_eq!(named.asker(), "Codex · shop");
        assert_eq!(named.asker_with_id(), "Codex · shop (furpenfildfi)");
    }

    #[test]
    fn the_id_of_another_agent_is_left_alone() {
        let other =
            item(json!({"agent": {"id": "a#b", "run_id": "r", "runtime": "cli"}, "question": {"kind": "text"}}));
        assert_eq!((other.asker(), other.run_label()), ("a#b", None));
        assert!(!other.allows_empty());
    }
}

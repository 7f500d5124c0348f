//! The filter of the waiting list.

use countersign_client::item::ClientItem;

use crate::args::InboxArgs;

#[derive(Debug, Clone, Default)]
pub struct InboxFilter {
    agent: Option<String>,
    project: Option<String>,
    tag: Option<String>,
    kind: Option<String>,
}

impl InboxFilter {
    pub fn of(args: &InboxArgs) -> Self {
        let InboxArgs {
            agent,
            project,
            tag,
            kind,
            ..
        } = args;
        Self {
            agent: agent.clone(),
            project: project.clone(),
            tag: tag.clone(),
            kind: kind.clone(),
        }
    }

    /// The filter as query parameters.
    pub fn query(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("agent", &self.agent),
            ("project", &self.project),
            ("tag", &self.tag),
            ("kind", &self.kind),
        ];
        all.into_iter()
            .filter_map(|(name, wanted)| Some((name, wanted.as_deref()?)))
            .collect()
    }

    /// Live events have not passed the hub's filter, so they are filtered here.
    pub fn admits(&self, item: &ClientItem) -> bool {
        let fits = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|wanted| wanted == is);
        fits(&self.agent, &item.agent.id)
            && fits(&self.project, item.agent.project.as_deref().unwrap_or_default())
            && fits(&self.kind, item.kind())
            && self.tag.as_ref().is_none_or(|tag| item.tags.contains(tag))
    }

    pub fn is_empty(&self) -> bool {
        self.query().is_empty()
    }

    /// The filter as text, for the head of the list.
    pub fn text(&self) -> String {
        self.query()
            .iter()
            .map(|(name, wanted)| format!("{name} {wanted}"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn live_events_pass_the_same_filter() {
        let item: ClientItem = serde_json::from_value(json!({
            "id": "msg_1", "type": "task", "status": "open", "title": "t", "priority": "normal", "tags": ["db"],
            "agent": {"id": "bot", "run_id": "r", "runtime": "cli", "project": "site"},
            "created_at": "2026-06-04T15:00:00.000Z",
        }))
        .unwrap();
        let args = |change: &dyn Fn(&mut InboxArgs)| {
            let mut args = InboxArgs::default();
            change(&mut args);
            InboxFilter::of(&args)
        };
        assert!(args(&|_| {}).admits(&item));
        assert!(args(&|args| args.tag = Some("db".to_owned())).admits(&item));
        assert!(!args(&|args| args.tag = Some("web".to_owned())).admits(&item));
        assert!(!args(&|args| args.agent = Some("other".to_owned())).admits(&item));
        let both = args(&|args| (args.project, args.kind) = (Some("site".to_owned()), Some("task".to_owned())));
        assert!(both.admits(&item));
        assert_eq!(both.text(), "project site, kind task");
    }
}

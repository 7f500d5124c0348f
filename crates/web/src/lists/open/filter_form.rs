//! Filters of a list by agent, project, tag and kind.

use countersign_core::Outcome;
use countersign_hub::inbox::asker::agent_label;
use countersign_hub::inbox::kind::{kind_label, kinds_to_decide};
use countersign_protocol::escape;
use countersign_store::model::PersonView;
use countersign_store::ops::list::ListFilter;

use crate::layout::form::FormFields;
use crate::lists::row::encoded;

/// The values of the filter form.
#[derive(Debug, Default, Clone)]
pub struct FilterForm {
    pub agent: String,
    pub project: String,
    pub tag: String,
    pub kind: String,
    /// In the history only: answered, declined and so on.
    pub status: String,
}

/// An active filter, with the URL of the list without it.
pub struct ActiveFilter {
    pub text: String,
    pub without: String,
}

impl FilterForm {
    /// Reads the form. Impossible names are not an error; they just match nothing.
    pub fn of(query: &FormFields) -> Self {
        let text = |name: &str| query.text(name).trim().to_owned();
        let [agent, project, tag, kind, status] = ["agent", "project", "tag", "kind", "status"].map(text);
        Self {
            agent,
            project,
            tag,
            kind,
            status,
        }
    }

    pub fn filter(&self) -> ListFilter {
        let non_empty = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        ListFilter {
            agent: non_empty(&self.agent),
            project: non_empty(&self.project),
            tag: non_empty(&self.tag),
            kind: non_empty(&self.kind),
        }
    }

    pub fn is_on(&self) -> bool {
        self.pairs().next().is_some()
    }

    pub fn active(&self, page: &str) -> Vec<ActiveFilter> {
        let active_filter = |(name, value): (&'static str, &str)| {
            let shown = match name {
                "kind" => kind_label(value).to_owned(),
                "agent" => agent_label(value),
                _ => value.to_owned(),
            };
            ActiveFilter {
                text: format!("{name}: {}", escape::escape(&shown)),
                without: self.address(page, Some(name), None),
            }
        };
        self.pairs().map(active_filter).collect()
    }

    /// The URL of this list, without one filter or with one more parameter.
    pub fn address(&self, page: &str, without: Option<&str>, more: Option<(&str, String)>) -> String {
        let params = self.pairs().filter(|(name, _)| Some(*name) != without);
        let params = params.map(|(name, value)| format!("{name}={}", encoded(value)));
        let more = more.map(|(name, value)| format!("{name}={}", encoded(&value)));
        let query: Vec<String> = params.chain(more).collect();
        if query.is_empty() {
            page.to_owned()
        } else {
            format!("{page}?{}", query.join("&"))
        }
    }

    fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("agent", &self.agent),
            ("project", &self.project),
            ("tag", &self.tag),
            ("kind", &self.kind),
            ("status", &self.status),
        ];
        all.into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name, value.as_str()))
    }

    /// The text fields: label, field name, id of the suggestion list, and value.
    pub fn names(&self) -> [(&'static str, &'static str, &'static str, &str); 3] {
        [
            ("Agent", "agent", "agents", &self.agent),
            ("Project", "project", "projects", &self.project),
            ("Tag", "tag", "tags", &self.tag),
        ]
    }

    /// False if a name has hidden characters; then the page spells the name out.
    pub fn shows(&self, name: &str) -> bool {
        escape::escape(name) == name
    }

    /// The kinds that need a decision.
    pub fn kinds(&self) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
        kinds_to_decide()
    }

    /// The outcomes that a decided item can have.
    pub fn outcomes(&self) -> [Outcome; 6] {
        Outcome::ALL
    }
}

/// Suggestions while typing: names on this page, except those with hidden characters, which could pass for others.
#[derive(Default)]
pub struct FilterSuggestions {
    pub agents: Vec<String>,
    pub projects: Vec<String>,
    pub tags: Vec<String>,
}

impl FilterSuggestions {
    pub fn by<'i>(items: impl Iterator<Item = &'i PersonView>) -> Self {
        let mut suggestions = Self::default();
        for item in items {
            let content = &item.message.content;
            suggestions.agents.push(content.agent.id.clone());
            suggestions.projects.extend(content.agent.project.clone());
            suggestions.tags.extend(content.tags.iter().cloned());
        }
        for names in [
            &mut suggestions.agents,
            &mut suggestions.projects,
            &mut suggestions.tags,
        ] {
            names.retain(|name| escape::escape(name) == *name);
            names.sort_unstable();
            names.dedup();
        }
        suggestions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removing_one_filter_keeps_the_others() {
        let filter_form = FilterForm::of(&FormFields::parse(
            b"agent=a%26b&tag=two+words&kind=&junk=1&agent=second",
        ));
        assert_eq!(
            filter_form.address("/inbox", None, None),
            "/inbox?agent=a%26b&tag=two%20words"
        );
        assert_eq!(
            filter_form.address("/inbox", Some("agent"), None),
            "/inbox?tag=two%20words"
        );
        let on = filter_form.address("/inbox", None, Some(("cursor", "2.7".to_owned())));
        assert_eq!(on, "/inbox?agent=a%26b&tag=two%20words&cursor=2.7");
        assert_eq!(filter_form.active("/inbox").len(), 2);
        assert_eq!(FilterForm::default().address("/inbox", None, None), "/inbox");
    }
}

//! Filters of a list by agent, project, tag and kind.

use countersign_core::Outcome;
use countersign_core::kind::{kind_label, kinds_to_decide};
use countersign_core::vocabulary::Ending;
use countersign_protocol::escape;
use countersign_store::model::{InboxOrder, PersonView};
use countersign_store::ops::list::ListFilter;

use crate::agents::KnownNames;
use crate::language::{say, t};
use crate::layout::form::FormFields;
use crate::layout::signed_in_user::SignedInUser;
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
    /// In the history only: words and filters, as in a search.
    pub q: String,
    /// In the inbox only: `newest`, `oldest` or `agent`; else the smart order.
    pub sort: String,
    /// In the inbox only: `all` shows what other people have to answer, too.
    pub show: String,
}

/// The parameters that order a list or widen it. They are no filters.
const ARRANGING: [&str; 2] = ["sort", "show"];
/// The orders of the inbox and their names.
const ORDERS: [(&str, &str); 4] = [
    ("", "Smart"),
    ("newest", "Newest first"),
    ("oldest", "Oldest first"),
    ("agent", "By agent"),
];

/// An entry of a menu.
pub struct MenuEntry {
    pub text: String,
    pub href: String,
    pub is_current: bool,
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
        let [agent, project, tag, kind, status, q] = ["agent", "project", "tag", "kind", "status", "q"].map(text);
        let [sort, show] = ARRANGING.map(text);
        Self {
            agent,
            project,
            tag,
            kind,
            status,
            q,
            sort,
            show,
        }
    }

    /// An unknown word is the smart order.
    pub fn order(&self) -> InboxOrder {
        match self.sort.as_str() {
            "newest" => InboxOrder::Newest,
            "oldest" => InboxOrder::Oldest,
            "agent" => InboxOrder::Agent,
            _ => InboxOrder::Smart,
        }
    }

    pub fn shows_all(&self) -> bool {
        self.show == "all"
    }

    /// The name of the order.
    pub fn order_name(&self) -> &'static str {
        ORDERS
            .iter()
            .find(|(sort, _)| *sort == self.sort)
            .map_or("Smart", |(_, name)| name)
    }

    /// The orders, each with the URL of the list in it.
    pub fn orders(&self) -> Vec<MenuEntry> {
        let entry = |(sort, name): (&str, &str)| MenuEntry {
            text: name.to_owned(),
            href: Self {
                sort: sort.to_owned(),
                ..self.clone()
            }
            .address("/inbox", None, None),
            is_current: name == self.order_name(),
        };
        ORDERS.map(entry).into()
    }

    /// The list of what the user may answer, and the list of everything.
    pub fn scopes(&self) -> [MenuEntry; 2] {
        [("Mine", ""), ("Everyone", "all")].map(|(text, show)| MenuEntry {
            text: text.to_owned(),
            href: Self {
                show: show.to_owned(),
                ..self.clone()
            }
            .address("/inbox", None, None),
            is_current: self.shows_all() == (show == "all"),
        })
    }

    pub fn filter(&self) -> ListFilter {
        let non_empty = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        ListFilter {
            agent: non_empty(&self.agent),
            project: non_empty(&self.project),
            tag: non_empty(&self.tag),
            kind: non_empty(&self.kind),
            resolver: None,
        }
    }

    /// The filter of the inbox page: people who may decide see their own items, unless they ask for everyone's.
    pub fn filter_for(&self, user: &SignedInUser) -> ListFilter {
        ListFilter {
            resolver: (user.may_decide() && !self.shows_all()).then(|| user.actor()),
            ..self.filter()
        }
    }

    pub fn is_on(&self) -> bool {
        self.filters().next().is_some()
    }

    /// The filters with words for people.
    pub fn active(&self, page: &str, names: &KnownNames) -> Vec<ActiveFilter> {
        let active_filter = |(name, value): (&'static str, &str)| {
            let shown = match name {
                "kind" => kind_label(value).to_owned(),
                "agent" => names.name(value),
                "status" => self.outcome_label(value),
                _ => value.to_owned(),
            };
            ActiveFilter {
                text: active_text(name, &escape::escape(&shown)),
                without: self.address(page, Some(name), None),
            }
        };
        self.filters().map(active_filter).collect()
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

    pub fn filters(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.pairs().filter(|(name, _)| !ARRANGING.contains(name))
    }

    /// The order and the scope, which the filter form keeps.
    pub fn arranging(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.pairs().filter(|(name, _)| ARRANGING.contains(name))
    }

    /// The URL of the list without any filter.
    pub fn unfiltered(&self, page: &str) -> String {
        Self {
            sort: self.sort.clone(),
            show: self.show.clone(),
            ..Self::default()
        }
        .address(page, None, None)
    }

    fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("agent", &self.agent),
            ("project", &self.project),
            ("tag", &self.tag),
            ("kind", &self.kind),
            ("status", &self.status),
            ("q", &self.q),
            ("sort", &self.sort),
            ("show", &self.show),
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

    fn outcome_label(&self, status: &str) -> String {
        let known = self.outcomes().into_iter().find(|(outcome, _)| *outcome == status);
        known.map_or(status, |(_, label)| label).to_owned()
    }

    /// The outcomes that a decided item can have, with the words of the pages.
    pub fn outcomes(&self) -> [(&'static str, &'static str); 6] {
        Outcome::ALL.map(|outcome| (outcome.as_str(), Ending::of(outcome, None).label))
    }
}

fn active_text(name: &str, value: &str) -> String {
    match name {
        "agent" => say!("agent: {value}", value = value),
        "project" => say!("project: {value}", value = value),
        "tag" => say!("tag: {value}", value = value),
        "kind" => say!("kind: {value}", value = t(value)),
        "status" => say!("outcome: {value}", value = t(value)),
        _ => say!("search: {value}", value = value),
    }
}

/// An agent that a filter can name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct SuggestedAgent {
    pub id: String,
    pub name: String,
}

/// Suggestions while typing: names on this page, except those with hidden characters, which could pass for others.
#[derive(Default)]
pub struct FilterSuggestions {
    pub agents: Vec<SuggestedAgent>,
    pub projects: Vec<String>,
    pub tags: Vec<String>,
}

impl FilterSuggestions {
    pub fn by<'i>(items: impl Iterator<Item = &'i PersonView>) -> Self {
        let mut suggestions = Self::default();
        for item in items {
            let content = &item.message.content;
            suggestions.agents.push(SuggestedAgent {
                id: content.agent.id.clone(),
                name: item.agent_name.clone(),
            });
            suggestions.projects.extend(content.agent.project.clone());
            suggestions.tags.extend(content.tags.iter().cloned());
        }
        let is_visible = |name: &String| escape::escape(name) == *name;
        suggestions.agents.sort_unstable();
        suggestions.agents.dedup();
        suggestions.agents.retain(|agent| is_visible(&agent.id));
        for names in [&mut suggestions.projects, &mut suggestions.tags] {
            names.sort_unstable();
            names.dedup();
            names.retain(is_visible);
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
        assert_eq!(filter_form.active("/inbox", &KnownNames::default()).len(), 2);
        assert_eq!(FilterForm::default().address("/inbox", None, None), "/inbox");
    }

    #[test]
    fn order_and_scope_stay_while_filters_change() {
        let form = FilterForm::of(&FormFields::parse(b"tag=a&sort=newest&show=all"));
        assert_eq!(form.order(), InboxOrder::Newest);
        assert_eq!(
            form.active("/inbox", &KnownNames::default()).len(),
            1,
            "an order is no filter"
        );
        assert_eq!(
            form.active("/inbox", &KnownNames::default())[0].without,
            "/inbox?sort=newest&show=all"
        );
        assert_eq!(form.unfiltered("/inbox"), "/inbox?sort=newest&show=all");
        let hrefs: Vec<_> = form.orders().into_iter().map(|entry| entry.href).collect();
        assert_eq!(hrefs[0], "/inbox?tag=a&show=all");
        assert_eq!(hrefs[3], "/inbox?tag=a&sort=agent&show=all");
        assert!(form.scopes()[1].is_current && form.scopes()[0].href == "/inbox?tag=a&sort=newest");
        assert_eq!(
            FilterForm::of(&FormFields::parse(b"sort=odd")).order(),
            InboxOrder::Smart
        );
    }
}

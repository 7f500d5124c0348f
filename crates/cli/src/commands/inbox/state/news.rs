//! What the hub tells by itself.

use super::super::feed::{Feed, News};
use super::{Effect, Link, State, Tab};

/// When more comes up at once, the list is read instead of every item.
const MOST_FRESH_READS: usize = 16;

impl State {
    pub(super) fn heard(&mut self, feed: Feed) -> Vec<Effect> {
        match feed {
            Feed::Live => self.connected(),
            Feed::Lost(why) => {
                self.link = Link::Lost(why);
                Vec::new()
            }
            Feed::News(News::Resync) => self.look_again(),
            Feed::News(News::Opened(id)) => self.came_up(id, Tab::Waiting),
            Feed::News(News::Noticed(id)) => self.came_up(id, Tab::Notices),
            Feed::News(News::Resolved { id, words }) => self.resolved(&id, &words),
            Feed::News(News::Tracked(id)) => self.tracked(id),
        }
    }

    /// The presets were read at the start; whoever comes back looks whether they are still the same.
    fn connected(&mut self) -> Vec<Effect> {
        let is_back = matches!(self.link, Link::Lost(_));
        self.link = Link::Live;
        let mut effects = self.look_again();
        effects.extend(is_back.then_some(Effect::Presets));
        effects
    }

    /// Everything in sight; what happened unheard is found this way.
    fn look_again(&mut self) -> Vec<Effect> {
        let mut tabs = vec![Tab::Waiting, Tab::Notices];
        if !tabs.contains(&self.tab) {
            tabs.push(self.tab);
        }
        let mut effects: Vec<Effect> = tabs.into_iter().flat_map(|tab| self.reload(tab)).collect();
        effects.extend(self.open.as_ref().map(|open| Effect::Read {
            id: open.id().to_owned(),
            fresh: false,
        }));
        effects
    }

    fn came_up(&mut self, id: String, tab: Tab) -> Vec<Effect> {
        if self.fresh_reads >= MOST_FRESH_READS {
            self.list_mut(tab).outdate();
            return Vec::new();
        }
        self.fresh_reads += 1;
        vec![Effect::Read { id, fresh: true }]
    }

    fn resolved(&mut self, id: &str, words: &str) -> Vec<Effect> {
        let now = self.now.elapsed;
        self.drafts.take(id);
        let removed = self.list_mut(Tab::Waiting).remove(id, Some(now));
        self.list_mut(Tab::Aside).remove(id, Some(now));
        let is_open = self.open.as_ref().is_some_and(|open| open.id() == id);
        if let (Some(seen), false) = (removed, is_open) {
            self.say(format!("{}: {words}", seen.item.title));
        }
        self.look_at(id)
    }

    /// Whether anybody waits for it is told in the list, too.
    fn tracked(&mut self, id: String) -> Vec<Effect> {
        let is_open = self.open.as_ref().is_some_and(|open| open.id() == id);
        if !is_open && self.list(Tab::Waiting).holds_cue(&id) {
            return self.came_up(id, Tab::Waiting);
        }
        self.look_at(&id)
    }

    fn look_at(&self, id: &str) -> Vec<Effect> {
        match &self.open {
            Some(open) if open.id() == id => vec![Effect::Read {
                id: id.to_owned(),
                fresh: false,
            }],
            Some(_) | None => Vec::new(),
        }
    }
}

//! One list of items. The cursor stays on its item while others come and go around it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::super::seen::Seen;
use super::{GUARD, Page};

const PAGE: usize = 100;
/// So many rows before the end the next ones are asked for.
const AHEAD: usize = 20;

#[derive(Debug, Default)]
pub struct List {
    rows: Vec<Arc<Seen>>,
    next: Option<String>,
    selected: Option<String>,
    loading: bool,
    loaded: bool,
    /// Something happened that the list on its way cannot know of.
    stale: bool,
    /// When another item came under the cursor by itself.
    shifted_at: Option<Duration>,
}

impl List {
    pub fn shown(&self, words: &str) -> Vec<&Arc<Seen>> {
        self.rows
            .iter()
            .filter(|seen| words.is_empty() || seen.mentions(words))
            .collect()
    }

    pub fn position(&self, words: &str) -> Option<usize> {
        let shown = self.shown(words);
        let selected = shown
            .iter()
            .position(|seen| Some(seen.id()) == self.selected.as_deref());
        selected.or_else(|| (!shown.is_empty()).then_some(0))
    }

    pub fn selected(&self, words: &str) -> Option<&Arc<Seen>> {
        self.shown(words).get(self.position(words)?).copied()
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn has_more(&self) -> bool {
        self.next.is_some()
    }

    pub fn is_loaded(&self) -> bool {
        self.loaded
    }

    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// Whether the item under the cursor has been there long enough to be meant.
    pub fn is_settled(&self, elapsed: Duration) -> bool {
        self.shifted_at.is_none_or(|at| elapsed.saturating_sub(at) >= GUARD)
    }

    pub fn go(&mut self, id: &str) {
        self.selected = Some(id.to_owned());
        self.shifted_at = None;
    }

    pub fn step(&mut self, rows: isize, words: &str) {
        let Some(position) = self.position(words) else { return };
        let target = position.saturating_add_signed(rows);
        let shown = self.shown(words);
        let id = shown.get(target).or(shown.last()).map(|seen| seen.id().to_owned());
        self.selected = id;
        self.shifted_at = None;
    }

    /// The item `rows` away from `id`. One that has left the list left its place to the item after it.
    pub fn beside(&self, id: &str, rows: isize, words: &str) -> Option<Arc<Seen>> {
        let shown = self.shown(words);
        let place = shown.iter().position(|seen| seen.id() == id);
        let target = match (place, self.position(words)) {
            (Some(place), _) => place.checked_add_signed(rows)?,
            (None, Some(cursor)) if rows > 0 => cursor,
            (None, Some(cursor)) => cursor.checked_add_signed(rows)?,
            (None, None) => return None,
        };
        shown.get(target).map(|seen| Arc::clone(seen))
    }

    /// How many rows to read to have the list anew; nothing while it is on its way already.
    pub fn begin(&mut self) -> Option<usize> {
        if self.loading {
            self.stale = true;
            return None;
        }
        (self.loading, self.stale) = (true, false);
        Some(self.rows.len().max(PAGE))
    }

    /// Where to read on, when the cursor comes near the end.
    pub fn begin_more(&mut self, words: &str) -> Option<(String, usize)> {
        let remaining = self
            .shown(words)
            .len()
            .saturating_sub(self.position(words).unwrap_or_default());
        if self.loading || remaining > AHEAD {
            return None;
        }
        let next = self.next.clone()?;
        self.loading = true;
        Some((next, PAGE))
    }

    pub fn failed(&mut self) {
        self.loading = false;
    }

    pub fn take(&mut self, page: Page, appends: bool, elapsed: Duration) {
        let before = self.selected.clone();
        (self.loading, self.loaded, self.next) = (false, true, page.next);
        if appends {
            let known: HashSet<String> = self.rows.iter().map(|seen| seen.id().to_owned()).collect();
            self.rows
                .extend(page.items.into_iter().filter(|seen| !known.contains(seen.id())));
        } else {
            self.replace(page.items);
        }
        self.pin();
        if before.is_some() && before != self.selected {
            self.shifted_at = Some(elapsed);
        }
    }

    /// When the item under the cursor is gone, the next one of those that stayed takes its place.
    fn replace(&mut self, rows: Vec<Arc<Seen>>) {
        let stayed: HashSet<&str> = rows.iter().map(|seen| seen.id()).collect();
        let place = self
            .rows
            .iter()
            .position(|seen| Some(seen.id()) == self.selected.as_deref())
            .unwrap_or_default();
        let (earlier, later) = self.rows.split_at(place.min(self.rows.len()));
        let mut heirs = later.iter().chain(earlier.iter().rev());
        let heir = heirs
            .find(|seen| stayed.contains(seen.id()))
            .map(|seen| seen.id().to_owned());
        self.selected = heir;
        self.rows = rows;
    }

    fn pin(&mut self) {
        if self.selected.is_none() {
            self.selected = self.rows.first().map(|seen| seen.id().to_owned());
        }
    }

    /// Into its place by the hub's order. Beyond the rows that were read, it comes when they are.
    pub fn insert(&mut self, seen: Arc<Seen>) -> bool {
        if self.rows.iter().any(|known| known.id() == seen.id()) {
            return false;
        }
        let place = self.rows.partition_point(|known| known.order() < seen.order());
        if place == self.rows.len() && self.next.is_some() {
            return false;
        }
        self.rows.insert(place, seen);
        self.pin();
        self.stale |= self.loading;
        true
    }

    /// What has just been read of an item that is in the list.
    pub fn renew(&mut self, seen: &Arc<Seen>) {
        if seen.is_open()
            && let Some(known) = self.rows.iter_mut().find(|known| known.id() == seen.id())
        {
            *known = Arc::clone(seen);
        }
    }

    pub fn holds_cue(&self, id: &str) -> bool {
        self.rows.iter().any(|seen| seen.id() == id && seen.item.is_cue())
    }

    /// Into a list that has the newest first.
    pub fn insert_newest_first(&mut self, seen: Arc<Seen>) -> bool {
        if self.rows.iter().any(|known| known.id() == seen.id()) {
            return false;
        }
        let age = |seen: &Seen| (seen.item.created_at.at(), seen.item.id.clone());
        let place = self.rows.partition_point(|known| age(known) > age(&seen));
        self.rows.insert(place, seen);
        self.pin();
        self.stale |= self.loading;
        true
    }

    /// `shifts_at` says when the item after it comes under the cursor without the person having asked for it.
    pub fn remove(&mut self, id: &str, shifts_at: Option<Duration>) -> Option<Arc<Seen>> {
        self.stale |= self.loading;
        let place = self.rows.iter().position(|seen| seen.id() == id)?;
        let removed = self.rows.remove(place);
        if self.selected.as_deref() == Some(id) {
            let heir = self.rows.get(place).or(self.rows.last());
            self.selected = heir.map(|seen| seen.id().to_owned());
            self.shifted_at = shifts_at;
        }
        Some(removed)
    }

    /// Read it when there is time.
    pub fn outdate(&mut self) {
        self.stale = true;
    }

    /// To be read before it is shown again.
    pub fn forget(&mut self) {
        self.loaded = false;
    }
}

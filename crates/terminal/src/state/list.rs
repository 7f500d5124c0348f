//! One list of items. The cursor stays on its item while rows are added and removed around it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::{EntriesPage, GUARD};
use crate::inbox_entry::InboxEntry;

const PAGE_SIZE: usize = 100;
/// The next page is loaded this many rows before the end.
const PREFETCH_ROWS: usize = 20;

#[derive(Debug, Default)]
pub struct ItemList {
    rows: Vec<Arc<InboxEntry>>,
    next: Option<String>,
    selected: Option<String>,
    loading: bool,
    loaded: bool,
    /// A change happened that the pending load may miss.
    stale: bool,
    /// The rows that a batch would take.
    marked: HashSet<String>,
    /// The time when another item moved under the cursor without a key press.
    shifted_at: Option<Duration>,
}

impl ItemList {
    pub fn shown(&self, search_text: &str) -> Vec<&Arc<InboxEntry>> {
        self.rows
            .iter()
            .filter(|entry| search_text.is_empty() || entry.mentions(search_text))
            .collect()
    }

    pub fn position(&self, search_text: &str) -> Option<usize> {
        let shown = self.shown(search_text);
        let selected = shown
            .iter()
            .position(|entry| Some(entry.id()) == self.selected.as_deref());
        selected.or_else(|| (!shown.is_empty()).then_some(0))
    }

    pub fn selected(&self, search_text: &str) -> Option<&Arc<InboxEntry>> {
        self.shown(search_text).get(self.position(search_text)?).copied()
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

    /// Whether the item under the cursor has been there long enough to be the intended one.
    pub fn is_settled(&self, elapsed: Duration) -> bool {
        self.shifted_at.is_none_or(|at| elapsed.saturating_sub(at) >= GUARD)
    }

    pub fn select(&mut self, id: &str) {
        self.selected = Some(id.to_owned());
        self.shifted_at = None;
    }

    pub fn step(&mut self, rows: isize, search_text: &str) {
        let Some(position) = self.position(search_text) else {
            return;
        };
        let target = position.saturating_add_signed(rows);
        let shown = self.shown(search_text);
        let id = shown.get(target).or(shown.last()).map(|entry| entry.id().to_owned());
        self.selected = id;
        self.shifted_at = None;
    }

    /// The item `rows` away from `id`. If `id` has left the list, the item after it counts as its position.
    pub fn neighbour_of(&self, id: &str, rows: isize, search_text: &str) -> Option<Arc<InboxEntry>> {
        let shown = self.shown(search_text);
        let index = shown.iter().position(|entry| entry.id() == id);
        let target = match (index, self.position(search_text)) {
            (Some(index), _) => index.checked_add_signed(rows)?,
            (None, Some(cursor)) if rows > 0 => cursor,
            (None, Some(cursor)) => cursor.checked_add_signed(rows)?,
            (None, None) => return None,
        };
        shown.get(target).map(|entry| Arc::clone(entry))
    }

    pub fn is_marked(&self, id: &str) -> bool {
        self.marked.contains(id)
    }

    pub fn marked_count(&self) -> usize {
        self.marked.len()
    }

    /// The marked rows, in the order of the list.
    pub fn marked(&self) -> Vec<Arc<InboxEntry>> {
        let marked = self.rows.iter().filter(|entry| self.is_marked(entry.id()));
        marked.map(Arc::clone).collect()
    }

    pub fn toggle_mark(&mut self, id: &str) {
        if !self.marked.remove(id) {
            self.marked.insert(id.to_owned());
        }
    }

    pub fn unmark(&mut self, id: &str) {
        self.marked.remove(id);
    }

    pub fn clear_marks(&mut self) {
        self.marked.clear();
    }

    pub fn entry(&self, id: &str) -> Option<Arc<InboxEntry>> {
        self.rows.iter().find(|entry| entry.id() == id).map(Arc::clone)
    }

    /// The number of rows to reload, or `None` while a load is pending.
    pub fn begin(&mut self) -> Option<usize> {
        if self.loading {
            self.stale = true;
            return None;
        }
        (self.loading, self.stale) = (true, false);
        Some(self.rows.len().max(PAGE_SIZE))
    }

    /// The cursor of the next page, if the end of the list is near.
    pub fn begin_more(&mut self, search_text: &str) -> Option<(String, usize)> {
        let remaining = self
            .shown(search_text)
            .len()
            .saturating_sub(self.position(search_text).unwrap_or_default());
        if self.loading || remaining > PREFETCH_ROWS {
            return None;
        }
        let next = self.next.clone()?;
        self.loading = true;
        Some((next, PAGE_SIZE))
    }

    pub fn failed(&mut self) {
        self.loading = false;
    }

    pub fn take(&mut self, page: EntriesPage, appends: bool, elapsed: Duration) {
        let before = self.selected.clone();
        (self.loading, self.loaded, self.next) = (false, true, page.next_cursor);
        if appends {
            let known: HashSet<String> = self.rows.iter().map(|entry| entry.id().to_owned()).collect();
            self.rows
                .extend(page.items.into_iter().filter(|entry| !known.contains(entry.id())));
        } else {
            self.replace(page.items);
        }
        self.select_default();
        if before.is_some() && before != self.selected {
            self.shifted_at = Some(elapsed);
        }
    }

    /// If the selected item is gone, the next remaining one is selected.
    fn replace(&mut self, rows: Vec<Arc<InboxEntry>>) {
        let stayed: HashSet<&str> = rows.iter().map(|entry| entry.id()).collect();
        let index = self
            .rows
            .iter()
            .position(|entry| Some(entry.id()) == self.selected.as_deref())
            .unwrap_or_default();
        let (earlier, later) = self.rows.split_at(index.min(self.rows.len()));
        let mut successors = later.iter().chain(earlier.iter().rev());
        let successor = successors
            .find(|entry| stayed.contains(entry.id()))
            .map(|entry| entry.id().to_owned());
        self.selected = successor;
        self.marked.retain(|id| stayed.contains(id.as_str()));
        self.rows = rows;
    }

    fn select_default(&mut self) {
        if self.selected.is_none() {
            self.selected = self.rows.first().map(|entry| entry.id().to_owned());
        }
    }

    /// Inserts in the hub's order. An item beyond the loaded rows comes with its page.
    pub fn insert(&mut self, entry: Arc<InboxEntry>) -> bool {
        if self.rows.iter().any(|known| known.id() == entry.id()) {
            return false;
        }
        let now = jiff::Timestamp::now();
        let index = self.rows.partition_point(|known| known.order(now) < entry.order(now));
        if index == self.rows.len() && self.next.is_some() {
            return false;
        }
        self.rows.insert(index, entry);
        self.select_default();
        self.stale |= self.loading;
        true
    }

    /// Replaces a row with the newly read item.
    pub fn renew(&mut self, entry: &Arc<InboxEntry>) {
        if entry.is_open()
            && let Some(known) = self.rows.iter_mut().find(|known| known.id() == entry.id())
        {
            *known = Arc::clone(entry);
        }
    }

    pub fn holds_cue(&self, id: &str) -> bool {
        self.rows.iter().any(|entry| entry.id() == id && entry.item.is_cue())
    }

    /// Inserts into a list with the newest first.
    pub fn insert_newest_first(&mut self, entry: Arc<InboxEntry>) -> bool {
        if self.rows.iter().any(|known| known.id() == entry.id()) {
            return false;
        }
        let age = |entry: &InboxEntry| (entry.item.created_at.at(), entry.item.id.clone());
        let index = self.rows.partition_point(|known| age(known) > age(&entry));
        self.rows.insert(index, entry);
        self.select_default();
        self.stale |= self.loading;
        true
    }

    /// `shifts_at` is the time of the change if the next item moves under the cursor without a key press.
    pub fn remove(&mut self, id: &str, shifts_at: Option<Duration>) -> Option<Arc<InboxEntry>> {
        self.stale |= self.loading;
        let index = self.rows.iter().position(|entry| entry.id() == id)?;
        let removed = self.rows.remove(index);
        self.marked.remove(id);
        // The rows after the loaded ones move up.
        self.stale |= self.next.is_some() && self.rows.len() <= PREFETCH_ROWS;
        if self.selected.as_deref() == Some(id) {
            let successor = self.rows.get(index).or(self.rows.last());
            self.selected = successor.map(|entry| entry.id().to_owned());
            self.shifted_at = shifts_at;
        }
        Some(removed)
    }

    /// Marks the list for a reload.
    pub fn mark_stale(&mut self) {
        self.stale = true;
    }

    /// Marks the list to be loaded before it is shown again.
    pub fn forget(&mut self) {
        self.loaded = false;
    }
}

use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::filter::ListFilter;
use super::open_messages::{OpenMessages, Place, ScanDirection};
use super::page::{ItemPage, page};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::{Cursor, InboxOrder, InboxWalk, ListEntry};
use crate::ops::rows;

/// The number of waiting agents that the smart order puts forward; each costs one read by key.
pub const MAX_WAITING: usize = 32;

#[derive(Debug, Clone)]
pub struct InboxPage {
    pub items: Vec<ListEntry>,
    /// The next page starts here. A page that is not full may have one too, if it reached its scan limit.
    pub next: Option<Cursor>,
    pub walk: InboxWalk,
}

impl InboxPage {
    pub(super) fn of(found: ItemPage<Place>, walk: InboxWalk) -> Self {
        let next = found.next.map(|(section, key, seq)| Cursor {
            section,
            key,
            seq,
            walk: Some(walk.clone()),
        });
        Self {
            items: found.items,
            next,
            walk,
        }
    }
}

/// Open asks and tasks, without those the viewer has snoozed.
pub struct Inbox {
    pub viewer: Option<String>,
    pub filter: ListFilter,
    pub order: InboxOrder,
    /// Messages whose agent waits right now; at most `MAX_WAITING` are used. Pages after the first keep to those of the
    /// first.
    pub waiting: Vec<MessageId>,
    pub after: Option<Cursor>,
    pub limit: i64,
}

impl Op for Inbox {
    type Out = InboxPage;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<InboxPage, StoreError> {
        let open = OpenMessages {
            viewer: self.viewer.as_deref(),
            filter: &self.filter,
            order: self.order,
            direction: ScanDirection::Forwards,
            walk: walk(x, self.after.as_ref(), &self.waiting, now).await?,
        };
        let after = self.after.as_ref().map(place);
        let found = page(x, &open, after.as_ref(), self.limit, now).await?;
        Ok(InboxPage::of(found, open.walk))
    }

    fn damage(found: &InboxPage) -> Vec<StoreError> {
        rows::damage(&found.items)
    }
}

pub(super) fn place(cursor: &Cursor) -> Place {
    (cursor.section, cursor.key, cursor.seq)
}

/// The walk that a cursor belongs to, or a new one.
pub(super) async fn walk<X: Exec>(
    x: &mut X,
    cursor: Option<&Cursor>,
    waiting: &[MessageId],
    now: Timestamp,
) -> Result<InboxWalk, StoreError> {
    const PLACE: &str = "SELECT rank, seq FROM message WHERE id = ?1 AND status = 'open'";
    if let Some(walk) = cursor.and_then(|cursor| cursor.walk.clone()) {
        return Ok(walk);
    }
    let mut places = Vec::new();
    // Some of them may be resolved meanwhile.
    for id in waiting.iter().take(4 * MAX_WAITING) {
        if places.len() == MAX_WAITING {
            break;
        }
        if let Some(mut row) = x.row(PLACE, &[id.as_str().into()]).await? {
            places.push((row.int(0).unwrap_or(i64::MAX), row.int(1)?));
        }
    }
    places.sort_unstable();
    Ok(InboxWalk {
        soon_before: now.plus(InboxWalk::SOON),
        waiting: places.into_iter().map(|(_, seq)| seq).collect(),
    })
}

//! The previous and next item of the list, so that a person can go through the list without returning to it.

use countersign_core::State;
use countersign_core::message::inbox_rank;
use countersign_hub::Hub;
use countersign_protocol::time::Timestamp;
use countersign_store::model::{Cursor, InboxOrder, InboxSection, InboxWalk, PersonView};
use countersign_store::ops::list::{Inbox, InboxBefore, InboxPage, ListFilter};

use crate::layout::page::PageError;
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::may_answer;

/// Items scanned for a neighbour: first a few nearby ones, then many more if all of those are for other people.
const SCAN_LIMITS: [i64; 2] = [50, 450];

#[derive(Default)]
pub struct Neighbours {
    pub previous: Option<Neighbour>,
    pub next: Option<Neighbour>,
    /// `3 of 12`; `None` if the item is not in the list any more.
    pub position: Option<String>,
}

pub struct Neighbour {
    pub href: String,
    pub title: String,
}

impl Neighbours {
    /// A decided item keeps its position: after a decision the person continues from there, and after the last item
    /// starts again with the skipped ones. A notice has no neighbours, because it is in another list.
    pub async fn of(hub: &Hub, user: &SignedInUser, item: &PersonView) -> Result<Self, PageError> {
        let wraps_around = match item.message.state {
            State::Open => item.message.hold.is_some(),
            State::Resolved(_) => true,
            State::Delivered => return Ok(Self::default()),
        };
        let search = NeighbourSearch { hub, user };
        let cursor = cursor(item, hub.store.clock().now());
        let before = search.nearest(Side::Before(cursor.clone())).await?;
        let after = search.nearest(Side::After(Some(cursor))).await?;
        let position = (!wraps_around).then(|| position(&before, &after)).flatten();
        let mut next = after.item;
        if next.is_none() && wraps_around {
            next = search.nearest(Side::After(None)).await?.item;
        }
        Ok(Self {
            previous: before.item.map(neighbour),
            next: next.map(neighbour),
            position,
        })
    }
}

/// The position of the item in the inbox. An agent that waits does not put its item forward here, because that may
/// change with every page.
fn cursor(item: &PersonView, now: Timestamp) -> Cursor {
    let walk = InboxWalk {
        soon_before: now.plus(InboxWalk::SOON),
        waiting: Vec::new(),
    };
    let message = &item.message;
    let section = walk.section(item.seq, message.expires_at);
    let key = match (section, message.expires_at) {
        (InboxSection::Soon, Some(at)) => at.as_millis(),
        (InboxSection::Soon | InboxSection::Waiting | InboxSection::Rest, _) => inbox_rank(message.content.priority),
    };
    Cursor {
        section,
        key,
        seq: item.seq,
        walk: Some(walk),
    }
}

/// Known only near the top of the list, because nothing beyond the scan is counted.
fn position(before: &NearestItem, after: &NearestItem) -> Option<String> {
    if before.has_more {
        return None;
    }
    let number = before.count + 1;
    let more = if after.has_more { "+" } else { "" };
    Some(format!("{number} of {}{more}", number + after.count))
}

/// The result of a search on one side of the item.
struct NearestItem {
    item: Option<PersonView>,
    /// Number of items that were scanned and are for this person.
    count: usize,
    /// There may be items beyond the scan.
    has_more: bool,
}

fn neighbour(item: PersonView) -> Neighbour {
    Neighbour {
        href: format!("/inbox/items/{}", item.message.id),
        title: item.message.content.title,
    }
}

enum Side {
    Before(Cursor),
    /// `None` starts at the top.
    After(Option<Cursor>),
}

impl Side {
    fn continue_from(self, cursor: Cursor) -> Self {
        match self {
            Self::Before(_) => Self::Before(cursor),
            Self::After(_) => Self::After(Some(cursor)),
        }
    }
}

/// A search in the list as one person sees it.
struct NeighbourSearch<'a> {
    hub: &'a Hub,
    user: &'a SignedInUser,
}

impl NeighbourSearch<'_> {
    async fn nearest(&self, mut side: Side) -> Result<NearestItem, PageError> {
        for limit in SCAN_LIMITS {
            let page = self.fetch_page(&side, limit).await?;
            let mut relevant = page.items.into_iter().flatten().filter(|item| self.is_relevant(item));
            let item = relevant.next();
            let count = usize::from(item.is_some()) + relevant.count();
            match page.next {
                Some(cursor) if item.is_none() => side = side.continue_from(cursor),
                next => {
                    return Ok(NearestItem {
                        item,
                        count,
                        has_more: next.is_some(),
                    });
                }
            }
        }
        Ok(NearestItem {
            item: None,
            count: 0,
            has_more: true,
        })
    }

    async fn fetch_page(&self, side: &Side, limit: i64) -> Result<InboxPage, PageError> {
        let viewer = Some(self.user.name.clone());
        let filter = ListFilter::default();
        Ok(match side {
            Side::Before(cursor) => {
                let before = Some(cursor.clone());
                self.hub
                    .store
                    .run(InboxBefore {
                        viewer,
                        filter,
                        before,
                        limit,
                    })
                    .await?
            }
            Side::After(cursor) => {
                self.hub
                    .store
                    .run(Inbox {
                        viewer,
                        filter,
                        order: InboxOrder::Smart,
                        waiting: Vec::new(),
                        after: cursor.clone(),
                        limit,
                    })
                    .await?
            }
        })
    }

    /// People who may decide get only items that they may answer now; viewers get all items.
    fn is_relevant(&self, item: &PersonView) -> bool {
        !self.user.may_decide() || (may_answer(item, self.user) && item.message.hold.is_none())
    }
}

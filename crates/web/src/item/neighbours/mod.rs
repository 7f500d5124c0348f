//! The previous and next item of the list, so that a person can go through the list without returning to it.

pub mod origin;

use countersign_core::State;
use countersign_hub::Hub;
use countersign_store::model::{Cursor, PersonView};
use countersign_store::ops::list::{Inbox, InboxBefore, InboxPage};

use self::origin::ListOrigin;
use crate::language::say;
use crate::layout::page::PageError;
use crate::layout::signed_in_user::SignedInUser;

/// Items scanned for a neighbour: first a few nearby ones, then many more if all of those are being answered.
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
    pub async fn of(hub: &Hub, user: &SignedInUser, origin: &ListOrigin, item: &PersonView) -> Result<Self, PageError> {
        let wraps_around = match item.message.state {
            State::Open => item.message.hold.is_some(),
            State::Resolved(_) => true,
            State::Delivered => return Ok(Self::default()),
        };
        let search = NeighbourSearch { hub, user, origin };
        let cursor = origin.cursor(item, hub.store.clock().now());
        let before = search.nearest(Side::Before(cursor.clone())).await?;
        let after = search.nearest(Side::After(Some(cursor))).await?;
        let position = (!wraps_around).then(|| position(&before, &after)).flatten();
        let mut next = after.item;
        if next.is_none() && wraps_around {
            next = search.nearest(Side::After(None)).await?.item;
        }
        Ok(Self {
            previous: before.item.map(|item| search.neighbour(item)),
            next: next.map(|item| search.neighbour(item)),
            position,
        })
    }
}

/// Known only near the top of the list, because nothing beyond the scan is counted.
fn position(before: &NearestItem, after: &NearestItem) -> Option<String> {
    if before.has_more {
        return None;
    }
    let number = before.count + 1;
    let more = if after.has_more { "+" } else { "" };
    Some(say!(
        "{number} of {total}",
        number = number,
        total = format!("{}{more}", number + after.count)
    ))
}

/// The result of a search on one side of the item.
struct NearestItem {
    item: Option<PersonView>,
    /// Number of items that were scanned and are for this person.
    count: usize,
    /// There may be items beyond the scan.
    has_more: bool,
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
    origin: &'a ListOrigin,
}

impl NeighbourSearch<'_> {
    fn neighbour(&self, item: PersonView) -> Neighbour {
        Neighbour {
            href: format!("/inbox/items/{}{}", item.message.id, self.origin.query()),
            title: item.message.content.title,
        }
    }

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
        let filter = self.origin.filter(self.user);
        let order = self.origin.order();
        Ok(match side {
            Side::Before(cursor) => {
                let before = Some(cursor.clone());
                self.hub
                    .store
                    .run(InboxBefore {
                        viewer,
                        filter,
                        order,
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
                        order,
                        waiting: Vec::new(),
                        after: cursor.clone(),
                        limit,
                    })
                    .await?
            }
        })
    }

    /// People who may decide go past the items that a person is answering.
    fn is_relevant(&self, item: &PersonView) -> bool {
        !self.user.may_decide() || item.message.hold.is_none()
    }
}

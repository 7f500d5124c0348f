//! The previous and next item of the list, so that a person can go through the list without returning to it.

use countersign_core::State;
use countersign_core::message::inbox_rank;
use countersign_hub::Hub;
use countersign_store::model::{Cursor, PersonView};
use countersign_store::ops::list::{Inbox, InboxBefore, InboxPage, ListFilter};

use crate::layout::page::PageError;
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::may_answer;

/// Items scanned for a neighbour: first a few nearby ones, then many more if all of those are for other people.
const SCAN_LIMITS: [i64; 2] = [20, 480];

#[derive(Default)]
pub struct Neighbours {
    pub previous: Option<Neighbour>,
    pub next: Option<Neighbour>,
}

pub struct Neighbour {
    pub href: String,
    pub title: String,
}

impl Neighbours {
    /// A resolved item keeps its position: after a decision the person continues from there, and after the last item
    /// starts again with the skipped ones. A notice has no neighbours, because it is in another list.
    pub async fn of(hub: &Hub, user: &SignedInUser, item: &PersonView) -> Result<Self, PageError> {
        let wraps_around = match item.message.state {
            State::Open => false,
            State::Resolved(_) => true,
            State::Delivered => return Ok(Self::default()),
        };
        let search = NeighbourSearch { hub, user };
        let cursor = Cursor {
            rank: inbox_rank(item.message.content.priority),
            seq: item.seq,
        };
        let previous = search.nearest(Side::Before(cursor.clone())).await?;
        let mut next = search.nearest(Side::After(Some(cursor))).await?;
        if next.is_none() && wraps_around {
            next = search.nearest(Side::After(None)).await?;
        }
        Ok(Self {
            previous: previous.map(neighbour),
            next: next.map(neighbour),
        })
    }
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
    async fn nearest(&self, mut side: Side) -> Result<Option<PersonView>, PageError> {
        for limit in SCAN_LIMITS {
            let page = self.fetch_page(&side, limit).await?;
            let found = page.items.into_iter().flatten().find(|item| self.is_relevant(item));
            match page.next {
                Some(cursor) if found.is_none() => side = side.continue_from(cursor),
                Some(_) | None => return Ok(found),
            }
        }
        Ok(None)
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
                        after: cursor.clone(),
                        limit,
                    })
                    .await?
            }
        })
    }

    /// People who may decide get only items that they may answer; viewers get all items.
    fn is_relevant(&self, item: &PersonView) -> bool {
        !self.user.may_decide() || may_answer(item, self.user)
    }
}

//! What stands before and after an item in the list, so that it can be gone through without going back to it.

use countersign_core::State;
use countersign_core::message::inbox_rank;
use countersign_store::model::{Cursor, PersonView};
use countersign_store::ops::list::{Inbox, InboxBefore, InboxPage, ListFilter};

use crate::app::Hub;
use crate::inbox::web::page::PageError;
use crate::inbox::web::row::may_answer;
use crate::inbox::web::visitor::SignedInUser;

/// Among how many a neighbour is looked for: those nearby first, and then, where all of them are for others, many more.
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
    /// What is over still has its place: whoever decided goes on from there, and at the end begins with what was passed
    /// over. A notice stands in another list.
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
    /// Of nothing: from the top.
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

/// The list as one person sees it.
struct NeighbourSearch<'a> {
    hub: &'a Hub,
    user: &'a SignedInUser,
}

impl NeighbourSearch<'_> {
    async fn nearest(&self, mut side: Side) -> Result<Option<PersonView>, PageError> {
        for limit in SCAN_LIMITS {
            let page = self.fetch_page(&side, limit).await?;
            let found = page.items.into_iter().find(|item| self.is_relevant(item));
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

    /// Whoever decides wants what is theirs to decide; whoever only looks wants to see all.
    fn is_relevant(&self, item: &PersonView) -> bool {
        !self.user.may_decide() || may_answer(item, self.user)
    }
}

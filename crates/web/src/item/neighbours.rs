//! What stands before and after an item in the list, so that it can be gone through without going back to it.

use countersign_core::State;
use countersign_core::message::inbox_rank;
use countersign_hub::Hub;
use countersign_store::model::{Cursor, Item};
use countersign_store::ops::list::{Filter, Inbox, InboxBefore, InboxPage};

use crate::frame::page::Failure;
use crate::frame::signed_in::Visitor;
use crate::lists::row::may_answer;

/// Among how many a neighbour is looked for: those nearby first, and then, where all of them are for others, many more.
const LOOKS: [i64; 2] = [20, 480];

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
    pub async fn of(hub: &Hub, visitor: &Visitor, item: &Item) -> Result<Self, Failure> {
        let begins_again = match item.message.state {
            State::Open => false,
            State::Resolved(_) => true,
            State::Delivered => return Ok(Self::default()),
        };
        let around = Around { hub, visitor };
        let place = Cursor {
            rank: inbox_rank(item.message.content.priority),
            seq: item.seq,
        };
        let previous = around.nearest(Side::Before(place.clone())).await?;
        let mut next = around.nearest(Side::After(Some(place))).await?;
        if next.is_none() && begins_again {
            next = around.nearest(Side::After(None)).await?;
        }
        Ok(Self {
            previous: previous.map(neighbour),
            next: next.map(neighbour),
        })
    }
}

fn neighbour(item: Item) -> Neighbour {
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
    fn on_from(self, place: Cursor) -> Self {
        match self {
            Self::Before(_) => Self::Before(place),
            Self::After(_) => Self::After(Some(place)),
        }
    }
}

/// The list as one person sees it.
struct Around<'a> {
    hub: &'a Hub,
    visitor: &'a Visitor,
}

impl Around<'_> {
    async fn nearest(&self, mut side: Side) -> Result<Option<Item>, Failure> {
        for limit in LOOKS {
            let page = self.look(&side, limit).await?;
            let found = page.items.into_iter().find(|item| self.fits(item));
            match page.next {
                Some(place) if found.is_none() => side = side.on_from(place),
                Some(_) | None => return Ok(found),
            }
        }
        Ok(None)
    }

    async fn look(&self, side: &Side, limit: i64) -> Result<InboxPage, Failure> {
        let viewer = Some(self.visitor.name.clone());
        let filter = Filter::default();
        Ok(match side {
            Side::Before(place) => {
                let before = Some(place.clone());
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
            Side::After(place) => {
                self.hub
                    .store
                    .run(Inbox {
                        viewer,
                        filter,
                        after: place.clone(),
                        limit,
                    })
                    .await?
            }
        })
    }

    /// Whoever decides wants what is theirs to decide; whoever only looks wants to see all.
    fn fits(&self, item: &Item) -> bool {
        !self.visitor.may_decide() || may_answer(item, self.visitor)
    }
}

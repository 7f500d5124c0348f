//! What stands before and after an item in the list, so that it can be gone through without going back to it.

use countersign_core::State;
use countersign_core::message::inbox_rank;
use countersign_store::model::{Cursor, Item};
use countersign_store::ops::list::{Filter, Inbox, InboxPage};

use crate::app::Hub;
use crate::inbox::web::page::Failure;
use crate::inbox::web::row::may_answer;
use crate::inbox::web::visitor::Visitor;

/// Among so many to each side a neighbour is looked for.
const NEAR: i64 = 20;
/// And among so many from the top, where there is none so near.
const FROM_TOP: i64 = 50;

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
        let around = Around { hub, visitor, item };
        let place = around.place();
        let near = Cursor { rank: place.rank, seq: place.seq.saturating_sub(NEAR + 1) };
        let (before, behind) = (around.list(Some(near), NEAR).await?, around.list(Some(place), NEAR).await?);
        let (mut previous, mut next) = (around.last_before(&before.items), around.first(&behind.items));
        if previous.is_none() || (next.is_none() && begins_again) {
            let top = around.list(None, FROM_TOP).await?;
            previous = previous.or_else(|| around.last_before(&top.items).filter(|_| around.is_reached_by(&top)));
            next = next.or_else(|| around.first(&top.items).filter(|_| begins_again));
        }
        Ok(Self { previous: previous.map(neighbour), next: next.map(neighbour) })
    }
}

fn neighbour(item: Item) -> Neighbour {
    Neighbour { href: format!("/inbox/items/{}", item.message.id), title: item.message.content.title }
}

fn place(item: &Item) -> Cursor {
    Cursor { rank: inbox_rank(item.message.content.priority), seq: item.seq }
}

/// One item as one person sees it in the list.
struct Around<'a> {
    hub: &'a Hub,
    visitor: &'a Visitor,
    item: &'a Item,
}

impl Around<'_> {
    fn place(&self) -> Cursor {
        place(self.item)
    }

    async fn list(&self, after: Option<Cursor>, limit: i64) -> Result<InboxPage, Failure> {
        let viewer = Some(self.visitor.name.clone());
        Ok(self.hub.store.run(Inbox { viewer, filter: Filter::default(), after, limit }).await?)
    }

    fn first(&self, items: &[Item]) -> Option<Item> {
        items.iter().find(|item| self.fits(item)).cloned()
    }

    fn last_before(&self, items: &[Item]) -> Option<Item> {
        items.iter().rfind(|item| self.is_before(item) && self.fits(item)).cloned()
    }

    /// Whether these are all that stand before the item: else the last of them is not the one right before it.
    fn is_reached_by(&self, top: &InboxPage) -> bool {
        top.next.is_none() || top.items.iter().any(|item| !self.is_before(item))
    }

    fn is_before(&self, other: &Item) -> bool {
        let (here, there) = (self.place(), place(other));
        (there.rank, there.seq) < (here.rank, here.seq)
    }

    /// Whoever decides wants what is theirs to decide; whoever only looks wants to see all.
    fn fits(&self, other: &Item) -> bool {
        other.seq != self.item.seq && (!self.visitor.may_decide() || may_answer(other, self.visitor))
    }
}

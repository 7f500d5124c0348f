//! The list that a person opened an item from: its filters, order and scope. Item links carry them, so that the next item
//! is the next one of that list.

use countersign_core::message::inbox_rank;
use countersign_hub::inbox::cursor::{parse_walk_text, walk_text};
use countersign_protocol::time::Timestamp;
use countersign_store::model::{Cursor, InboxOrder, InboxSection, InboxWalk, PersonView};
use countersign_store::ops::list::ListFilter;

use crate::layout::form::FormFields;
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::open::FilterForm;

/// The parameter with the walk of the list, for the items whose agent waited when the list was shown.
const WALK: &str = "walk";

pub struct ListOrigin {
    form: FilterForm,
    walk: Option<InboxWalk>,
}

/// The query that the item links of a list carry: `?tag=money&sort=newest`, or nothing for the plain inbox.
pub fn item_query(form: &FilterForm, walk: &InboxWalk) -> String {
    let has_walk = form.order() == InboxOrder::Smart && !walk.waiting.is_empty();
    form.address("", None, has_walk.then(|| (WALK, walk_text(walk))))
}

impl ListOrigin {
    /// Without parameters, as in a link from elsewhere, this is the plain inbox.
    pub fn of(query: &FormFields) -> Self {
        Self {
            form: FilterForm::of(query),
            walk: query.get(WALK).and_then(parse_walk_text),
        }
    }

    pub fn address(&self) -> String {
        self.form.address("/inbox", None, None)
    }

    /// The query of a link to another item of the list.
    pub fn query(&self) -> String {
        let walk = self.walk.as_ref().map(|walk| (WALK, walk_text(walk)));
        self.form.address("", None, walk)
    }

    pub fn order(&self) -> InboxOrder {
        self.form.order()
    }

    /// The same filter as the list page has.
    pub fn filter(&self, user: &SignedInUser) -> ListFilter {
        self.form.filter_for(user)
    }

    /// The position of the item in the list.
    pub fn cursor(&self, item: &PersonView, now: Timestamp) -> Cursor {
        let walk = self.walk.clone().unwrap_or_else(|| InboxWalk {
            soon_before: now.plus(InboxWalk::SOON),
            waiting: Vec::new(),
        });
        let message = &item.message;
        let section = walk.section(item.seq, message.expires_at);
        let place = walk.waiting.iter().position(|seq| *seq == item.seq);
        let key = match (section, message.expires_at, place) {
            (InboxSection::Soon, Some(at), _) => at.as_millis(),
            (InboxSection::Waiting, _, Some(place)) => i64::try_from(place).unwrap_or(i64::MAX),
            (InboxSection::Soon | InboxSection::Waiting | InboxSection::Rest, ..) => {
                inbox_rank(message.content.priority)
            }
        };
        Cursor {
            section,
            key,
            seq: item.seq,
            walk: Some(walk),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_carry_the_list_and_nothing_else() {
        let origin = |query: &str| ListOrigin::of(&FormFields::parse(query.as_bytes()));
        let waiting = origin("tag=a&sort=newest&walk=1780000000000.7-12&junk=1");
        assert_eq!(waiting.query(), "?tag=a&sort=newest&walk=1780000000000.7-12");
        assert_eq!(waiting.address(), "/inbox?tag=a&sort=newest");
        assert_eq!(origin("").query(), "");
        assert_eq!(origin("walk=nonsense&show=all").query(), "?show=all");
    }
}

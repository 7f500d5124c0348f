//! Headings between the rows of the inbox.

use countersign_core::asker::asker_name;
use countersign_core::message::inbox_rank;
use countersign_protocol::a2h::Priority;
use countersign_protocol::escape::escape;
use countersign_store::model::{InboxOrder, InboxSection, InboxWalk, PersonView};

use crate::language::t;
use crate::lists::row::{MessageRow, RowGroup};

/// The group of an item in this order. The scripts know the same groups (`assets/groups.js`).
pub fn group_of(item: &PersonView, order: InboxOrder, walk: &InboxWalk) -> Option<RowGroup> {
    let message = &item.message;
    let is_pressing = inbox_rank(message.content.priority) <= inbox_rank(Priority::High);
    let (id, heading) = match (order, walk.section(item.seq, message.expires_at)) {
        (InboxOrder::Newest | InboxOrder::Oldest, _) => return None,
        (InboxOrder::Agent, _) => {
            return Some(of_agent(
                &message.content.agent.id,
                asker_name(message, &item.agent_name),
            ));
        }
        (InboxOrder::Smart, InboxSection::Soon) => ("soon", t("Ends soon")),
        (InboxOrder::Smart, InboxSection::Waiting) => ("waiting", t("Waiting now")),
        (InboxOrder::Smart, InboxSection::Rest) if is_pressing => ("pressing", t("Urgent and high")),
        (InboxOrder::Smart, InboxSection::Rest) => ("rest", t("Everything else")),
    };
    Some(RowGroup {
        id: id.to_owned(),
        heading: heading.to_owned(),
        is_first: false,
    })
}

fn of_agent(id: &str, name: &str) -> RowGroup {
    RowGroup {
        id: format!("agent {id}"),
        heading: escape(name),
        is_first: false,
    }
}

/// Marks the first row of each group. A single group of everything needs no heading.
pub fn with_headings(mut rows: Vec<MessageRow>) -> Vec<MessageRow> {
    let mut current: Option<String> = None;
    let is_plain = rows
        .iter()
        .filter_map(|row| row.group.as_ref())
        .all(|group| group.id == "rest");
    for group in rows.iter_mut().filter_map(|row| row.group.as_mut()) {
        group.is_first = !is_plain && current.as_deref() != Some(group.id.as_str());
        current = Some(group.id.clone());
    }
    rows
}

//! Lists of open, snoozed and resolved messages. Pages use keyset pagination, never OFFSET.

mod by_seq;
mod counts;
mod decided;
mod filter;
mod history;
mod inbox;
mod inbox_before;
mod notices;
mod open_messages;
mod page;
mod snoozed;
mod terminal_messages;

pub use counts::{Counts, OldestOpen, OpenFor, WaitingCount};
pub use decided::{Decided, DecidedPage};
pub use filter::ListFilter;
pub use history::History;
pub use inbox::{Inbox, InboxPage, MAX_WAITING};
pub use inbox_before::InboxBefore;
pub use notices::{NoticePage, Notices};
pub use page::ItemPage;
pub use snoozed::ListSnoozed;

pub(super) use by_seq::items_by_seq;
pub(super) use counts::{oldest_open, open_count};
pub(super) use terminal_messages::{EARLIEST_END, OLDEST_TERMINAL, latest_decided, latest_of};

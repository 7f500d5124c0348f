//! Lists of open, snoozed and resolved messages. Pages use keyset pagination, never OFFSET.

mod aside;
mod counts;
mod decided;
mod ended;
mod filter;
mod history;
mod inbox;
mod inbox_before;
mod notices;
mod page;
mod waiting;

pub use aside::ListSnoozed;
pub use counts::Counts;
pub use decided::{Decided, DecidedPage};
pub use filter::ListFilter;
pub use history::History;
pub use inbox::{Inbox, InboxPage};
pub use inbox_before::InboxBefore;
pub use notices::{NoticePage, Notices};
pub use page::ItemPage;

pub(super) use ended::{EARLIEST_END, OLDEST_TERMINAL};
pub(super) use page::{PagedList, page};

//! Lists: what waits, what was put away, what is over. Pages seek; none skips.

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

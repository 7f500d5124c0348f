use countersign_protocol::time::Timestamp;

use super::filter::Filter;
use super::page::{Page, page};
use super::waiting::{Waiting, Way};
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};
use crate::model::Cursor;

pub type InboxPage = Page<Cursor>;

/// Open asks and tasks, urgent first, then the longest waiting, without what the viewer has set aside.
pub struct Inbox {
    pub viewer: Option<String>,
    pub filter: Filter,
    pub after: Option<Cursor>,
    pub limit: i64,
}

impl Op for Inbox {
    type Out = InboxPage;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<InboxPage, StoreError> {
        let waiting = Waiting {
            viewer: self.viewer.as_deref(),
            filter: &self.filter,
            way: Way::Forwards,
        };
        page(x, &waiting, self.after.as_ref(), self.limit, now).await
    }
}

use countersign_protocol::time::Timestamp;

use super::filter::Filter;
use super::inbox::InboxPage;
use super::page::page;
use super::waiting::{Waiting, Way};
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};
use crate::model::Cursor;

/// The inbox read backwards: what stands before a place in it, the nearest first; without a place, from its end.
pub struct InboxBefore {
    pub viewer: Option<String>,
    pub filter: Filter,
    pub before: Option<Cursor>,
    pub limit: i64,
}

impl Op for InboxBefore {
    type Out = InboxPage;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<InboxPage, StoreError> {
        let waiting = Waiting {
            viewer: self.viewer.as_deref(),
            filter: &self.filter,
            way: Way::Backwards,
        };
        page(x, &waiting, self.before.as_ref(), self.limit, now).await
    }
}

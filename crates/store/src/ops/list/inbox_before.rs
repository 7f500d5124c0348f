use countersign_protocol::time::Timestamp;

use super::filter::ListFilter;
use super::inbox::InboxPage;
use super::open_messages::{OpenMessages, ScanDirection};
use super::page::page;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::Cursor;

/// The inbox read backwards: the messages before a cursor, the nearest first; without a cursor, from the end.
pub struct InboxBefore {
    pub viewer: Option<String>,
    pub filter: ListFilter,
    pub before: Option<Cursor>,
    pub limit: i64,
}

impl Op for InboxBefore {
    type Out = InboxPage;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<InboxPage, StoreError> {
        let waiting = OpenMessages {
            viewer: self.viewer.as_deref(),
            filter: &self.filter,
            direction: ScanDirection::Backwards,
        };
        page(x, &waiting, self.before.as_ref(), self.limit, now).await
    }

    fn damage(found: &InboxPage) -> Vec<StoreError> {
        found.damage()
    }
}

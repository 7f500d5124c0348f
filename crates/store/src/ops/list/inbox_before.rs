use countersign_protocol::time::Timestamp;

use super::filter::ListFilter;
use super::inbox::{InboxPage, place, walk};
use super::open_messages::{OpenMessages, ScanDirection};
use super::page::page;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::{Cursor, InboxOrder};
use crate::ops::rows;

/// The inbox read backwards: the messages before a cursor, the nearest first; in the smart order without a cursor, from
/// the end.
pub struct InboxBefore {
    pub viewer: Option<String>,
    pub filter: ListFilter,
    pub order: InboxOrder,
    pub before: Option<Cursor>,
    pub limit: i64,
}

impl Op for InboxBefore {
    type Out = InboxPage;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<InboxPage, StoreError> {
        let open = OpenMessages {
            viewer: self.viewer.as_deref(),
            filter: &self.filter,
            order: self.order,
            direction: ScanDirection::Backwards,
            walk: walk(x, self.before.as_ref(), &[], now).await?,
        };
        let before = self.before.as_ref().map(place);
        let found = page(x, &open, before.as_ref(), self.limit, now).await?;
        Ok(InboxPage::of(found, open.walk))
    }

    fn damage(found: &InboxPage) -> Vec<StoreError> {
        rows::damage(&found.items)
    }
}

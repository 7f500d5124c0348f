use countersign_protocol::time::Timestamp;

use super::filter::ListFilter;
use super::open_messages::{OpenMessages, ScanDirection};
use super::page::{ItemPage, page};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::Cursor;

pub type InboxPage = ItemPage<Cursor>;

/// Open asks and tasks, urgent first, then the longest waiting, without those the viewer has snoozed.
pub struct Inbox {
    pub viewer: Option<String>,
    pub filter: ListFilter,
    pub after: Option<Cursor>,
    pub limit: i64,
}

impl Op for Inbox {
    type Out = InboxPage;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<InboxPage, StoreError> {
        let waiting = OpenMessages {
            viewer: self.viewer.as_deref(),
            filter: &self.filter,
            direction: ScanDirection::Forwards,
        };
        page(x, &waiting, self.after.as_ref(), self.limit, now).await
    }

    fn damage(found: &InboxPage) -> Vec<StoreError> {
        found.damage()
    }
}

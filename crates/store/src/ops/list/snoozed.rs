use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::SnoozedItem;
use crate::ops::agent::names;
use crate::ops::rows;

/// A person's snoozed messages that are still open, the soonest to return first.
pub struct ListSnoozed {
    pub person: String,
    pub limit: i64,
}

impl Op for ListSnoozed {
    type Out = Vec<SnoozedItem>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<SnoozedItem>, StoreError> {
        const SELECT: &str = rows::select_scanning!(
            ", s.until",
            "JOIN shelf s ON s.person = ?1 AND s.seq = m.seq ",
            "TRUE",
            "WHERE s.until > ?2 AND m.status = 'open' ORDER BY s.until, s.seq LIMIT ?3"
        );
        const UNTIL: usize = rows::MESSAGE;
        let mut snoozed = Vec::new();
        for mut row in x
            .rows(SELECT, &[(&self.person).into(), now.into(), self.limit.into()])
            .await?
        {
            // A damaged time does not keep the person from bringing the message back.
            let until = row.instant(UNTIL).unwrap_or(now);
            snoozed.push(SnoozedItem {
                item: rows::entry(row, rows::item_without_delivery)?,
                until,
            });
        }
        names::fill(x, snoozed.iter_mut().map(|snoozed| &mut snoozed.item)).await?;
        Ok(snoozed)
    }

    fn damage(found: &Vec<SnoozedItem>) -> Vec<StoreError> {
        rows::damage(found.iter().map(|snoozed| &snoozed.item))
    }
}

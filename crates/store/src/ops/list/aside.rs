use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};
use crate::model::AsideItem;
use crate::ops::rows;

/// What a person has set aside and is still open, the soonest to come back first.
pub struct Aside {
    pub person: String,
    pub limit: i64,
}

impl Op for Aside {
    type Out = Vec<AsideItem>;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<AsideItem>, StoreError> {
        const SELECT: &str = rows::select_looking!(
            "m.seq, s.until",
            "JOIN shelf s ON s.person = ?1 AND s.seq = m.seq ",
            "",
            "WHERE s.until > ?2 AND m.status = 'open' ORDER BY s.until, s.seq LIMIT ?3"
        );
        let mut aside = Vec::new();
        for mut row in x
            .rows(SELECT, &[(&self.person).into(), now.into(), self.limit.into()])
            .await?
        {
            let seq = row.int(rows::MESSAGE)?;
            let until = row.instant(rows::MESSAGE + 1)?;
            aside.push(AsideItem {
                item: rows::waiting_item(&mut row, seq)?,
                until,
            });
        }
        Ok(aside)
    }
}

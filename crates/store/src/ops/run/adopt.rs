//! Runs whose node is gone get another one.

use super::model::Run;
use super::read::{self, select_whole_runs};
use crate::error::StoreError;
use crate::exec::Exec;

/// At most `limit` of those that nobody moves, oldest first. From here on nothing that their last node writes counts.
pub(in crate::ops) async fn adopt<X: Exec>(x: &mut X, node: &str, limit: i64) -> Result<Vec<Run>, StoreError> {
    const NOBODYS: &str = "SELECT r.seq, r.node FROM run r WHERE r.status = 'running' \
         AND NOT EXISTS (SELECT 1 FROM node n WHERE n.id = r.node) ORDER BY r.seq LIMIT ?1";
    // Guarded by what was read: where a row has changed meanwhile, PostgreSQL looks at it again, but not at other tables.
    const ADOPT: &str = "UPDATE run SET node = ?1 WHERE seq = ?2 AND node = ?3 AND status = 'running'";
    const SELECT: &str = select_whole_runs!("WHERE r.seq = ?1");
    let mut adopted = Vec::new();
    for mut row in x.rows(NOBODYS, &[limit.into()]).await? {
        let (seq, last) = (row.int(0)?, row.text(1)?);
        if x.exec(ADOPT, &[node.into(), seq.into(), (&last).into()]).await? == 0 {
            continue;
        }
        if let Some(mut row) = x.row(SELECT, &[seq.into()]).await? {
            adopted.push(read::run(&mut row)?);
        }
    }
    Ok(adopted)
}

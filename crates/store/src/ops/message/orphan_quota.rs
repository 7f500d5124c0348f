//! The count of open messages without an agent row: those of removed agents. They are still to be decided.

use crate::error::StoreError;
use crate::exec::Exec;

/// Never below zero: messages left before the count existed are decided too.
pub async fn add<X: Exec>(x: &mut X, change: i64) -> Result<(), StoreError> {
    const ADD: &str = "INSERT INTO setting (name, value) VALUES ('left_open', CAST(CAST(?1 AS BIGINT) AS TEXT)) \
         ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(setting.value AS BIGINT) + CAST(?1 AS BIGINT) AS TEXT)";
    const SUBTRACT: &str = "UPDATE setting SET value = CASE WHEN CAST(value AS BIGINT) > ?1 \
         THEN CAST(CAST(value AS BIGINT) - ?1 AS TEXT) ELSE '0' END WHERE name = 'left_open'";
    match change {
        0 => Ok(()),
        1.. => x.exec(ADD, &[change.into()]).await.map(drop),
        ..=-1 => x.exec(SUBTRACT, &[change.saturating_neg().into()]).await.map(drop),
    }
}

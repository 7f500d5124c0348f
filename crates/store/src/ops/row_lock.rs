//! Row locks until the end of the transaction, by an UPDATE that changes nothing.
//!
//! An operation on an agent or a person locks its row, so that a concurrent removal cannot leave a token or a secret
//! behind. SQLite has no `FOR UPDATE`; there the single writer excludes all others anyway, and the UPDATE only tests
//! whether the row exists.

use crate::error::StoreError;
use crate::exec::Exec;

pub async fn agent<X: Exec>(x: &mut X, id: &str) -> Result<bool, StoreError> {
    Ok(x.exec("UPDATE agent SET open = open WHERE id = ?1", &[id.into()])
        .await?
        == 1)
}

pub async fn person<X: Exec>(x: &mut X, name: &str) -> Result<bool, StoreError> {
    Ok(x.exec("UPDATE person SET role = role WHERE name = ?1", &[name.into()])
        .await?
        == 1)
}

/// Locks all owners in one statement: locked one by one, two transactions could deadlock.
pub async fn owners<X: Exec>(x: &mut X) -> Result<Vec<String>, StoreError> {
    const HOLD: &str = "UPDATE person SET role = role WHERE role = 'owner' RETURNING name";
    x.rows(HOLD, &[])
        .await?
        .into_iter()
        .map(|mut row| row.text(0))
        .collect()
}

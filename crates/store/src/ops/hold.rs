//! Holding a row to the end of the transaction, by a write that changes nothing in it.
//!
//! Whoever acts for an agent or a person holds it, so that nobody can remove it in between and leave a token or a secret
//! behind. `FOR UPDATE` would be the word for it, but SQLite does not know it; there the one writer holds everything
//! anyway, and this is only a look whether the row is there.

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

/// All owners at once, in the order every statement finds them: two who each held one would wait for the other.
pub async fn owners<X: Exec>(x: &mut X) -> Result<Vec<String>, StoreError> {
    const HOLD: &str = "UPDATE person SET role = role WHERE role = 'owner' RETURNING name";
    x.rows(HOLD, &[])
        .await?
        .into_iter()
        .map(|mut row| row.text(0))
        .collect()
}

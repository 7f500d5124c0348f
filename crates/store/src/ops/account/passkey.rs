//! Passkeys. `body` is opaque to the store.

use countersign_core::Actor;
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row};
use crate::model::Passkey;
use crate::ops::message::audit;
use crate::ops::row_lock;

fn passkey(row: &mut Row) -> Result<Passkey, StoreError> {
    Ok(Passkey {
        id: row.blob(0)?,
        person: row.text(1)?,
        name: row.text(2)?,
        body: row.text(3)?,
        created_at: row.instant(4)?,
        used_at: row.opt_instant(5)?,
    })
}

pub const MAX_PASSKEYS: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddPasskeyOutcome {
    Added,
    /// The id is already in use, or the person does not exist.
    Refused,
    /// The person has the maximum number of passkeys.
    TooManyPasskeys,
}

pub struct AddPasskey {
    pub person: String,
    pub id: Vec<u8>,
    pub name: String,
    pub body: String,
}

impl Op for AddPasskey {
    type Out = AddPasskeyOutcome;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<AddPasskeyOutcome, StoreError> {
        const COUNT: &str = "SELECT COUNT(*) FROM passkey WHERE person = ?1";
        const INSERT: &str = "INSERT INTO passkey (id, person, name, body, created_at) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (id) DO NOTHING";
        if !row_lock::person(x, &self.person).await? {
            return Ok(AddPasskeyOutcome::Refused);
        }
        let held = x
            .row(COUNT, &[(&self.person).into()])
            .await?
            .map_or(Ok(0), |mut row| row.int(0))?;
        if usize::try_from(held).is_ok_and(|held| held >= MAX_PASSKEYS) {
            return Ok(AddPasskeyOutcome::TooManyPasskeys);
        }
        let params = [
            self.id.as_slice().into(),
            (&self.person).into(),
            (&self.name).into(),
            (&self.body).into(),
            now.into(),
        ];
        if x.exec(INSERT, &params).await? == 0 {
            return Ok(AddPasskeyOutcome::Refused);
        }
        let actor = Actor::human(&self.person);
        audit::append_about_person(x, &self.person, actor.as_str(), "person.passkey_added", now).await?;
        Ok(AddPasskeyOutcome::Added)
    }
}

/// All passkeys of one person, oldest first.
pub struct Passkeys {
    pub person: String,
}

impl Op for Passkeys {
    type Out = Vec<Passkey>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<Passkey>, StoreError> {
        const SELECT: &str = "SELECT id, person, name, body, created_at, used_at FROM passkey WHERE person = ?1 \
             ORDER BY created_at, id LIMIT 1000";
        x.rows(SELECT, &[(&self.person).into()])
            .await?
            .iter_mut()
            .map(passkey)
            .collect()
    }
}

pub struct FindPasskey {
    pub id: Vec<u8>,
}

impl Op for FindPasskey {
    type Out = Option<Passkey>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Passkey>, StoreError> {
        const SELECT: &str = "SELECT id, person, name, body, created_at, used_at FROM passkey WHERE id = ?1";
        x.row(SELECT, &[self.id.as_slice().into()])
            .await?
            .map(|mut row| passkey(&mut row))
            .transpose()
    }
}

/// Stores the new signature counter after a sign-in. Returns whether the passkey still exists.
pub struct UsePasskey {
    pub id: Vec<u8>,
    pub body: String,
}

impl Op for UsePasskey {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const USE: &str = "UPDATE passkey SET body = ?1, used_at = ?2 WHERE id = ?3";
        Ok(
            x.exec(USE, &[(&self.body).into(), now.into(), self.id.as_slice().into()])
                .await?
                == 1,
        )
    }
}

/// Returns whether the person had this passkey.
pub struct RemovePasskey {
    pub person: String,
    pub id: Vec<u8>,
    pub actor: String,
}

impl Op for RemovePasskey {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const REMOVE: &str = "DELETE FROM passkey WHERE id = ?1 AND person = ?2";
        row_lock::person(x, &self.person).await?;
        if x.exec(REMOVE, &[self.id.as_slice().into(), (&self.person).into()])
            .await?
            == 0
        {
            return Ok(false);
        }
        audit::append_about_person(x, &self.person, &self.actor, "person.passkey_removed", now).await?;
        Ok(true)
    }
}

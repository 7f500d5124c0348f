//! The challenge between the two steps of a passkey ceremony. Anonymous callers may begin one, so they are limited in
//! number and lifetime.

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

pub const MAX_CEREMONIES: i64 = 10_000;
/// Per person; more at once is never needed.
pub const MAX_CEREMONIES_PER_PERSON: i64 = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceremony {
    /// `None` for a sign-in, where the passkey identifies the person.
    pub person: Option<String>,
    pub body: String,
}

/// Begins a ceremony. Deletes expired ones, and the ones that expire soonest if the total or per-person limit is
/// reached.
pub struct BeginCeremony {
    pub id: String,
    pub person: Option<String>,
    pub body: String,
    pub expires_at: Timestamp,
}

impl Op for BeginCeremony {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        const FORGET: &str = "DELETE FROM ceremony WHERE expires_at < ?1";
        const MAKE_ROOM: &str = "DELETE FROM ceremony WHERE (expires_at, id) <= (SELECT expires_at, id FROM ceremony \
             ORDER BY expires_at DESC, id DESC LIMIT 1 OFFSET ?1)";
        const INSERT: &str = "INSERT INTO ceremony (id, person, body, expires_at) VALUES (?1, ?2, ?3, ?4)";
        x.exec(FORGET, &[now.into()]).await?;
        x.exec(MAKE_ROOM, &[(MAX_CEREMONIES - 1).into()]).await?;
        let params = [
            (&self.id).into(),
            self.person.as_ref().into(),
            (&self.body).into(),
            self.expires_at.into(),
        ];
        if let Some(person) = &self.person {
            make_room_for(x, person).await?;
        }
        x.exec(INSERT, &params).await.map(drop)
    }
}

async fn make_room_for<X: Exec>(x: &mut X, person: &str) -> Result<(), StoreError> {
    const MAKE_ROOM: &str = "DELETE FROM ceremony WHERE person = ?1 AND (expires_at, id) <= (SELECT expires_at, id \
         FROM ceremony WHERE person = ?1 ORDER BY expires_at DESC, id DESC LIMIT 1 OFFSET ?2)";
    x.exec(MAKE_ROOM, &[person.into(), (MAX_CEREMONIES_PER_PERSON - 1).into()])
        .await
        .map(drop)
}

/// Whether the ceremony exists and has not expired. A read, so that anonymous callers cannot load the writer.
pub struct HasCeremony {
    pub id: String,
}

impl Op for HasCeremony {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const SELECT: &str = "SELECT expires_at FROM ceremony WHERE id = ?1";
        let Some(mut row) = x.row(SELECT, &[(&self.id).into()]).await? else {
            return Ok(false);
        };
        Ok(row.instant(0)? >= now)
    }
}

/// Takes the ceremony: it can be used once, and not after its expiry.
pub struct TakeCeremony {
    pub id: String,
}

impl Op for TakeCeremony {
    type Out = Option<Ceremony>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<Ceremony>, StoreError> {
        const TAKE: &str = "DELETE FROM ceremony WHERE id = ?1 RETURNING person, body, expires_at";
        let Some(mut row) = x.row(TAKE, &[(&self.id).into()]).await? else {
            return Ok(None);
        };
        if row.instant(2)? < now {
            return Ok(None);
        }
        Ok(Some(Ceremony {
            person: row.opt_text(0)?,
            body: row.text(1)?,
        }))
    }
}

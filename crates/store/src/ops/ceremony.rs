//! The challenge between the two steps of a passkey. Anybody may begin one, so they are few and live shortly.

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

pub const MAX_CEREMONIES: i64 = 10_000;
/// Of one person: nobody adds more passkeys at once.
pub const MAX_CEREMONIES_PER_PERSON: i64 = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceremony {
    /// Nobody yet, when a passkey is to say who signs in.
    pub person: Option<String>,
    pub body: String,
}

/// Also drops what has expired, and what was to expire first where there are too many, in all or of this person.
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

/// Whether it could be taken now. Anybody may ask; the writer is for those who have begun one.
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

/// Gives it once, and not after it has expired.
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

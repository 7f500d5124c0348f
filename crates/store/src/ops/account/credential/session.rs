//! Browser sessions of signed-in people.

use countersign_core::Actor;
use countersign_protocol::time::Timestamp;

use super::{CredentialKind, NewCredential, insert};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::ops::account::setting::{self, Setting};
use crate::ops::message::audit;
use crate::ops::row_lock;

#[derive(Debug, Clone)]
pub struct NewSession {
    pub hash: [u8; 32],
    /// Shown to the person in lists: the browser and the machine.
    pub label: String,
    pub expires_at: Timestamp,
}

/// The person's row is locked. Deletes the person's expired sessions too, which would otherwise pile up.
pub(in crate::ops) async fn start<X: Exec>(
    x: &mut X,
    person: &str,
    session: &NewSession,
    now: Timestamp,
) -> Result<(), StoreError> {
    const FORGET: &str = "DELETE FROM credential WHERE kind = 'session' AND subject = ?1 AND expires_at < ?2";
    x.exec(FORGET, &[person.into(), now.into()]).await?;
    let credential = NewCredential {
        hash: session.hash,
        kind: CredentialKind::Session,
        subject: person.to_owned(),
        label: session.label.clone(),
        expires_at: Some(session.expires_at),
    };
    insert(x, &credential, now).await?;
    audit::append_about_person(x, person, Actor::human(person).as_str(), "person.signed_in", now).await
}

/// Starts a session after a password or passkey check. Returns whether the person still exists.
pub struct StartSession {
    pub person: String,
    pub session: NewSession,
}

impl Op for StartSession {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        if !row_lock::person(x, &self.person).await? {
            return Ok(false);
        }
        start(x, &self.person, &self.session, now).await?;
        Ok(true)
    }
}

/// Ends all sessions if they were made at another place (scheme and port) than the hub has now. Returns how many.
pub struct EndSessionsOfOtherPlace {
    pub place: String,
    pub actor: String,
}

const PLACE_SETTING: &str = "session_place";

impl Op for EndSessionsOfOtherPlace {
    type Out = u64;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<u64, StoreError> {
        const PEOPLE: &str = "SELECT DISTINCT subject FROM credential WHERE kind = 'session' ORDER BY subject";
        const END: &str = "DELETE FROM credential WHERE kind = 'session'";
        let name = PLACE_SETTING.to_owned();
        let before = Setting { name }.run(x, now).await?;
        if before.as_deref() == Some(self.place.as_str()) {
            return Ok(0);
        }
        setting::put(x, PLACE_SETTING, &self.place).await?;
        for mut row in x.rows(PEOPLE, &[]).await? {
            audit::append_about_person(x, &row.text(0)?, &self.actor, "person.sessions_ended", now).await?;
        }
        x.exec(END, &[]).await
    }
}

/// Ends every session of a person but one. Returns how many were ended.
pub struct EndOtherSessions {
    pub person: String,
    pub keep: [u8; 32],
    pub actor: String,
}

impl Op for EndOtherSessions {
    type Out = u64;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<u64, StoreError> {
        const END: &str = "DELETE FROM credential WHERE kind = 'session' AND subject = ?1 AND hash <> ?2";
        // The lock orders a concurrent sign-in before or after this.
        row_lock::person(x, &self.person).await?;
        let ended = x
            .exec(END, &[(&self.person).into(), self.keep.as_slice().into()])
            .await?;
        if ended > 0 {
            audit::append_about_person(x, &self.person, &self.actor, "person.sessions_ended", now).await?;
        }
        Ok(ended)
    }
}

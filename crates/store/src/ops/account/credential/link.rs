//! One-time sign-in links.

use countersign_protocol::time::Timestamp;

use super::session::{self, NewSession};
use super::{CredentialKind, NewCredential, insert};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::ops::message::audit;
use crate::ops::row_lock;

/// A link that an owner passes on. Other links, such as the one printed at startup, have labels of their own.
const INVITATION: &str = "invitation";

/// Adds a link for an existing person and ends earlier invitations. Returns whether the person exists.
pub struct AddLink {
    pub person: String,
    pub hash: [u8; 32],
    pub expires_at: Timestamp,
    pub actor: String,
}

impl Op for AddLink {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const END: &str = "DELETE FROM credential WHERE kind = 'signin' AND subject = ?1 AND label = ?2";
        if !row_lock::person(x, &self.person).await? {
            return Ok(false);
        }
        x.exec(END, &[(&self.person).into(), INVITATION.into()]).await?;
        let link = NewCredential {
            hash: self.hash,
            kind: CredentialKind::SignIn,
            subject: self.person.clone(),
            label: INVITATION.to_owned(),
            expires_at: Some(self.expires_at),
        };
        insert(x, &link, now).await?;
        audit::append_about_person(x, &self.person, &self.actor, "person.link_made", now).await?;
        Ok(true)
    }
}

/// The person whom a link signs in, if it is valid now. A read, so that anonymous callers cannot load the writer.
pub struct PersonOfLink {
    pub link: [u8; 32],
}

impl Op for PersonOfLink {
    type Out = Option<String>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<String>, StoreError> {
        const SELECT: &str = "SELECT expires_at, subject FROM credential WHERE hash = ?1 AND kind = 'signin'";
        let Some(mut row) = x.row(SELECT, &[self.link.as_slice().into()]).await? else {
            return Ok(None);
        };
        let is_valid = row.opt_instant(0)?.is_some_and(|expires_at| expires_at >= now);
        Ok(Some(row.text(1)?).filter(|_| is_valid))
    }
}

/// Redeems a one-time link and starts a session. Returns the person.
pub struct RedeemLink {
    pub link: [u8; 32],
    pub session: NewSession,
}

impl Op for RedeemLink {
    type Out = Option<String>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<String>, StoreError> {
        const WHOSE: &str = "SELECT subject FROM credential WHERE hash = ?1 AND kind = 'signin'";
        const TAKE: &str = "DELETE FROM credential WHERE hash = ?1 AND kind = 'signin' AND expires_at >= ?2";
        let link = self.link.as_slice();
        let Some(mut row) = x.row(WHOSE, &[link.into()]).await? else {
            return Ok(None);
        };
        let person = row.text(0)?;
        // Lock order: the person first, then the credential, as in a removal.
        if !row_lock::person(x, &person).await? || x.exec(TAKE, &[link.into(), now.into()]).await? == 0 {
            return Ok(None);
        }
        session::start(x, &person, &self.session, now).await?;
        Ok(Some(person))
    }
}

//! Who a token stands for. Only hashes are kept: a token is 256 random bits, so a plain SHA-256 is enough.

use countersign_core::Actor;
use countersign_core::access::Principal;
use countersign_protocol::time::Timestamp;

use super::{audit, hold};
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Agent,
    Person,
    /// Opens the hub to a person once, then is gone.
    SignIn,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Person => "person",
            Self::SignIn => "signin",
        }
    }
}

#[derive(Debug, Clone)]
pub struct NewCredential {
    pub hash: [u8; 32],
    pub kind: Kind,
    pub subject: String,
    pub label: String,
    pub expires_at: Option<Timestamp>,
}

pub async fn insert<X: Exec>(x: &mut X, credential: &NewCredential, now: Timestamp) -> Result<(), StoreError> {
    const INSERT: &str = "INSERT INTO credential (hash, kind, subject, label, created_at, expires_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let params = [
        credential.hash.as_slice().into(),
        credential.kind.as_str().into(),
        (&credential.subject).into(),
        (&credential.label).into(),
        now.into(),
        credential.expires_at.into(),
    ];
    x.exec(INSERT, &params).await.map(drop)
}

/// Replaces whatever the subject held under this label.
pub struct Relabel(pub NewCredential);

impl Op for Relabel {
    type Out = ();
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        const DROP: &str = "DELETE FROM credential WHERE kind = ?1 AND subject = ?2 AND label = ?3";
        let credential = &self.0;
        // Two that replace the same label at once would not see each other's; a subject that is not there needs no order.
        match credential.kind {
            Kind::Agent => hold::agent(x, &credential.subject).await?,
            Kind::Person | Kind::SignIn => hold::person(x, &credential.subject).await?,
        };
        let params = [credential.kind.as_str().into(), (&credential.subject).into(), (&credential.label).into()];
        x.exec(DROP, &params).await?;
        insert(x, credential, now).await
    }
}

pub struct Authenticate {
    pub hash: [u8; 32],
}

/// A valid credential: whom it stands for, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    pub principal: Principal,
    pub expires_at: Option<Timestamp>,
}

impl Op for Authenticate {
    type Out = Option<Credential>;
    const MODE: Mode = Mode::Read;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<Credential>, StoreError> {
        const SELECT: &str = "SELECT c.kind, c.subject, c.expires_at, p.role FROM credential c \
             LEFT JOIN person p ON c.kind = 'person' AND p.name = c.subject WHERE c.hash = ?1";
        let Some(mut row) = x.row(SELECT, &[self.hash.as_slice().into()]).await? else { return Ok(None) };
        let expires_at = row.opt_instant(2)?;
        if expires_at.is_some_and(|expires_at| now > expires_at) {
            return Ok(None);
        }
        let role = row.opt_text(3)?.and_then(|role| role.parse().ok());
        let (kind, subject) = (row.text(0)?, row.text(1)?);
        let principal = if kind == Kind::Agent.as_str() {
            Some(Principal::Agent { id: subject })
        } else {
            role.filter(|_| kind == Kind::Person.as_str()).map(|role| Principal::Person { name: subject, role })
        };
        Ok(principal.map(|principal| Credential { principal, expires_at }))
    }
}

/// Uses a one-time link up, and leaves a token in its place. Says whom it stands for.
pub struct RedeemSignIn {
    pub hash: [u8; 32],
    pub token_hash: [u8; 32],
}

impl Op for RedeemSignIn {
    type Out = Option<String>;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<String>, StoreError> {
        const WHOSE: &str = "SELECT subject FROM credential WHERE hash = ?1 AND kind = 'signin'";
        const TAKE: &str = "DELETE FROM credential WHERE hash = ?1 AND kind = 'signin' AND expires_at >= ?2";
        let link = self.hash.as_slice();
        let Some(mut row) = x.row(WHOSE, &[link.into()]).await? else { return Ok(None) };
        let subject = row.text(0)?;
        // First the person, then what belongs to them: in the order in which a removal takes them.
        if !hold::person(x, &subject).await? || x.exec(TAKE, &[link.into(), now.into()]).await? == 0 {
            return Ok(None);
        }
        let credential = NewCredential {
            hash: self.token_hash,
            kind: Kind::Person,
            subject: subject.clone(),
            label: "sign-in".to_owned(),
            expires_at: None,
        };
        insert(x, &credential, now).await?;
        let actor = Actor::human(&subject);
        audit::append_operation(x, actor.as_str(), actor.as_str(), "person.signed_in", now).await?;
        Ok(Some(subject))
    }
}

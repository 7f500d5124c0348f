//! Storing credentials, and authentication by them.

use countersign_core::access::{Principal, Role};
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::ops::row_lock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialKind {
    Agent,
    Person,
    /// Signs a person in once, then is deleted.
    SignIn,
    /// A session in a person's browser.
    Session,
    /// For the agents in a person's terminals.
    Terminal,
}

impl CredentialKind {
    const ALL: [Self; 5] = [Self::Agent, Self::Person, Self::SignIn, Self::Session, Self::Terminal];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Person => "person",
            Self::SignIn => "signin",
            Self::Session => "session",
            Self::Terminal => "terminal",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

#[derive(Debug, Clone)]
pub struct NewCredential {
    pub hash: [u8; 32],
    pub kind: CredentialKind,
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

/// Replaces the subject's credential with this label, and this same credential under another label.
pub struct ReplaceCredential(pub NewCredential);

impl Op for ReplaceCredential {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        const DROP: &str = "DELETE FROM credential WHERE hash = ?4 OR (kind = ?1 AND subject = ?2 AND label = ?3)";
        let credential = &self.0;
        // Serializes replacements of the same label, which would not see each other. A missing subject needs no order.
        match credential.kind {
            CredentialKind::Agent => row_lock::agent(x, &credential.subject).await?,
            CredentialKind::Person | CredentialKind::SignIn | CredentialKind::Session | CredentialKind::Terminal => {
                row_lock::person(x, &credential.subject).await?
            }
        };
        let kind = credential.kind.as_str().into();
        let hash = credential.hash.as_slice().into();
        x.exec(
            DROP,
            &[kind, (&credential.subject).into(), (&credential.label).into(), hash],
        )
        .await?;
        insert(x, credential, now).await
    }
}

pub struct Authenticate {
    pub hash: [u8; 32],
}

/// A valid credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    pub principal: Principal,
    pub kind: CredentialKind,
    pub expires_at: Option<Timestamp>,
    /// Whether its agent still has signing keys that are older than this token: see `ConfirmRotation`.
    pub confirms_rotation: bool,
}

impl Op for Authenticate {
    type Out = Option<Credential>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<Credential>, StoreError> {
        const SELECT: &str = "SELECT c.kind, c.subject, c.expires_at, p.role, \
             (SELECT COUNT(*) FROM signing_key k WHERE c.kind = 'agent' AND k.agent_id = c.subject \
             AND k.created_at < c.created_at AND k.retires_at >= ?2) FROM credential c \
             LEFT JOIN person p ON c.kind IN ('person', 'session', 'terminal') AND p.name = c.subject WHERE c.hash = ?1";
        let Some(mut row) = x.row(SELECT, &[self.hash.as_slice().into(), now.into()]).await? else {
            return Ok(None);
        };
        let expires_at = row.opt_instant(2)?;
        if expires_at.is_some_and(|expires_at| now > expires_at) {
            return Ok(None);
        }
        let (Some(kind), subject) = (CredentialKind::parse(&row.text(0)?), row.text(1)?) else {
            return Ok(None);
        };
        let role = row.opt_text(3)?.and_then(|role| role.parse().ok());
        let confirms_rotation = row.int(4)? > 0;
        let principal = match kind {
            CredentialKind::Agent => Some(Principal::Agent { id: subject }),
            CredentialKind::Person | CredentialKind::Session => {
                role.map(|role| Principal::Person { name: subject, role })
            }
            // The person must still exist.
            CredentialKind::Terminal => role.map(|_: Role| Principal::Terminal { person: subject }),
            CredentialKind::SignIn => None,
        };
        Ok(principal.map(|principal| Credential {
            principal,
            kind,
            expires_at,
            confirms_rotation,
        }))
    }
}

//! A person's credentials: listing them and ending single ones.

use std::fmt::Write;

use countersign_protocol::time::Timestamp;

use super::CredentialKind;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::CredentialSummary;
use crate::ops::message::audit;
use crate::ops::row_lock;

/// The number of hash bytes in an id.
const ID_BYTES: usize = 8;

/// The id that names a credential in lists.
pub fn id_of(hash: &[u8]) -> String {
    hash.iter().take(ID_BYTES).fold(String::new(), |mut id, byte| {
        // Writing to a String never fails.
        let _ = write!(id, "{byte:02x}");
        id
    })
}

/// `None` if the text is not a valid id.
fn hash_start(id: &str) -> Option<[u8; ID_BYTES]> {
    if id.len() != 2 * ID_BYTES || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(id, 16).ok().map(u64::to_be_bytes)
}

/// The credentials of a person, newest first, without expired ones.
pub struct ListCredentials {
    pub person: String,
    pub kind: CredentialKind,
}

impl Op for ListCredentials {
    type Out = Vec<CredentialSummary>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<CredentialSummary>, StoreError> {
        const SELECT: &str = "SELECT hash, label, created_at, expires_at FROM credential \
             WHERE kind = ?1 AND subject = ?2 AND (expires_at IS NULL OR expires_at >= ?3) \
             ORDER BY created_at DESC, hash LIMIT 1000";
        let params = [self.kind.as_str().into(), (&self.person).into(), now.into()];
        let mut held = Vec::new();
        for mut row in x.rows(SELECT, &params).await? {
            held.push(CredentialSummary {
                id: id_of(&row.blob(0)?),
                label: row.text(1)?,
                created_at: row.instant(2)?,
                expires_at: row.opt_instant(3)?,
            });
        }
        Ok(held)
    }
}

/// Ends one listed credential. Returns whether it existed.
pub struct EndCredential {
    pub person: String,
    pub kind: CredentialKind,
    pub id: String,
    pub actor: String,
}

impl Op for EndCredential {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const END: &str = "DELETE FROM credential WHERE kind = ?1 AND subject = ?2 AND substr(hash, 1, 8) = ?3";
        let event = match self.kind {
            CredentialKind::Session => "person.session_ended",
            CredentialKind::Person => "person.token_ended",
            CredentialKind::SignIn => "person.link_ended",
            CredentialKind::Terminal => "person.terminal_token_ended",
            // An agent's tokens end by rotation.
            CredentialKind::Agent => return Ok(false),
        };
        let Some(start) = hash_start(&self.id) else {
            return Ok(false);
        };
        row_lock::person(x, &self.person).await?;
        let params = [
            self.kind.as_str().into(),
            (&self.person).into(),
            start.as_slice().into(),
        ];
        if x.exec(END, &params).await? == 0 {
            return Ok(false);
        }
        audit::append_about_person(x, &self.person, &self.actor, event, now).await?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_decodes_to_the_start_of_its_hash() {
        let hash: [u8; 32] = std::array::from_fn(|place| u8::try_from(place * 7).unwrap());
        assert_eq!(id_of(&hash), "00070e151c232a31");
        assert_eq!(hash_start(&id_of(&hash)).unwrap(), hash[..ID_BYTES]);
    }

    #[test]
    fn invalid_id_decodes_to_nothing() {
        for text in [
            "",
            "00",
            "00070e151c232a3",
            "00070e151c232a311",
            "+0070e151c232a31",
            "zz070e151c232a31",
            "éééééééé",
        ] {
            assert_eq!(hash_start(text), None, "{text}");
        }
    }
}

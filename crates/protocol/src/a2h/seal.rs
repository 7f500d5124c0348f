//! The seal token: an agent's state, encrypted with AES-256-GCM under a key that the hub never sees.
//!
//! `PREFIX.<nonce>.<ciphertext>.<tag>`, each part base64url without padding. Both names of the protocol have a prefix,
//! and their tokens are not bound to an owner; tokens with the third prefix, our own, are.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::wire_enum::wire_enum;
use crate::jcs;

pub const KEY_BYTES: usize = 32;
pub const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;

/// Larger than the largest message of any hub.
pub const MAX_TOKEN_BYTES: usize = 1024 * 1024;

wire_enum!(
    /// The prefix before the first dot.
    SealForm { A2h = "A2HSEALv1", Ma2h = "MA2HSEALv1", Bound = "CSEALv2" }
);

/// The owner of a bound token: it opens only for the agent and message it was sealed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedFor<'a> {
    pub agent_id: &'a str,
    pub idempotency_key: &'a str,
}

impl SealedFor<'_> {
    /// A JSON array, so that different pairs never have the same bytes.
    fn bytes(&self) -> String {
        jcs::canonical(&json!([self.agent_id, self.idempotency_key]))
    }
}

/// The format of a token and, for bound tokens, the owner (used as associated data).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealBinding<'a> {
    A2h,
    Ma2h,
    Bound(SealedFor<'a>),
}

impl SealBinding<'_> {
    fn form(&self) -> SealForm {
        match self {
            Self::A2h => SealForm::A2h,
            Self::Ma2h => SealForm::Ma2h,
            Self::Bound(_) => SealForm::Bound,
        }
    }

    fn bytes(&self) -> String {
        match self {
            Self::A2h | Self::Ma2h => String::new(),
            Self::Bound(owner) => owner.bytes(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("the sealed token is longer than {MAX_TOKEN_BYTES} bytes: store the state elsewhere and seal its name")]
    TooLong,
    #[error("the sealed token does not begin with A2HSEALv1, MA2HSEALv1 or CSEALv2: it is not a sealed token")]
    UnknownPrefix,
    #[error("the sealed token's {0} is malformed: the token was truncated or changed")]
    Malformed(&'static str),
    #[error("the sealed token does not open: it was changed, or sealed with another key or for another message")]
    DoesNotOpen,
    #[error("the sealed token belongs to one agent and message: name the agent id and the idempotency key to open it")]
    NeedsOwner,
    #[error("the sealed token is not bound to a message, so it may come from another one: open it without an owner")]
    NotBound,
    #[error("the state could not be sealed")]
    DoesNotSeal,
}

/// A parsed token, not yet authenticated.
#[derive(Clone, PartialEq, Eq)]
pub struct SealToken {
    form: SealForm,
    nonce: [u8; NONCE_BYTES],
    ciphertext: Vec<u8>,
    tag: [u8; TAG_BYTES],
}

impl SealToken {
    /// Accepts only the canonical spelling, as displayed by [`SealToken`].
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        if text.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::TooLong);
        }
        let mut parts = text.split('.');
        let form = parts
            .next()
            .and_then(|prefix| prefix.parse().ok())
            .ok_or(TokenError::UnknownPrefix)?;
        let mut part = |name| {
            let decoded = parts.next().and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
            decoded.ok_or(TokenError::Malformed(name))
        };
        let nonce = part("nonce")?;
        let ciphertext = part("ciphertext")?;
        let tag = part("tag")?;
        if parts.next().is_some() {
            return Err(TokenError::Malformed("end"));
        }
        Ok(Self {
            form,
            nonce: nonce.try_into().map_err(|_| TokenError::Malformed("nonce"))?,
            ciphertext,
            tag: tag.try_into().map_err(|_| TokenError::Malformed("tag"))?,
        })
    }

    pub fn form(&self) -> SealForm {
        self.form
    }

    /// Never use a nonce twice with the same key.
    pub fn seal(
        key: &[u8; KEY_BYTES],
        nonce: [u8; NONCE_BYTES],
        plaintext: &[u8],
        binding: SealBinding<'_>,
    ) -> Result<Self, TokenError> {
        let mut ciphertext = plaintext.to_vec();
        let sealed = cipher(key).and_then(|cipher| {
            let nonce = Nonce::assume_unique_for_key(nonce);
            cipher
                .seal_in_place_separate_tag(nonce, Aad::from(binding.bytes()), &mut ciphertext)
                .ok()
        });
        let tag = sealed
            .and_then(|tag| tag.as_ref().try_into().ok())
            .ok_or(TokenError::DoesNotSeal)?;
        let token = Self {
            form: binding.form(),
            nonce,
            ciphertext,
            tag,
        };
        if token.length() > MAX_TOKEN_BYTES {
            Err(TokenError::TooLong)
        } else {
            Ok(token)
        }
    }

    /// With an owner, an unbound token is refused: the hub could have taken it from another message.
    pub fn open(&self, key: &[u8; KEY_BYTES], owner: Option<SealedFor<'_>>) -> Result<Vec<u8>, TokenError> {
        let bound_to = match (self.form, owner) {
            (SealForm::Bound, Some(owner)) => owner.bytes(),
            (SealForm::Bound, None) => return Err(TokenError::NeedsOwner),
            (SealForm::A2h | SealForm::Ma2h, None) => String::new(),
            (SealForm::A2h | SealForm::Ma2h, Some(_)) => return Err(TokenError::NotBound),
        };
        let cipher = cipher(key).ok_or(TokenError::DoesNotOpen)?;
        let nonce = Nonce::assume_unique_for_key(self.nonce);
        let mut plaintext = vec![0; self.ciphertext.len()];
        cipher
            .open_separate_gather(nonce, Aad::from(bound_to), &self.ciphertext, &self.tag, &mut plaintext)
            .map_err(|_| TokenError::DoesNotOpen)?;
        Ok(plaintext)
    }

    fn length(&self) -> usize {
        let encoded = |bytes: usize| (bytes * 4).div_ceil(3);
        self.form.as_str().len() + 3 + encoded(NONCE_BYTES) + encoded(self.ciphertext.len()) + encoded(TAG_BYTES)
    }
}

fn cipher(key: &[u8; KEY_BYTES]) -> Option<LessSafeKey> {
    UnboundKey::new(&AES_256_GCM, key).ok().map(LessSafeKey::new)
}

impl fmt::Display for SealToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        write!(
            f,
            "{}.{}.{}.{}",
            self.form,
            encode(&self.nonce),
            encode(&self.ciphertext),
            encode(&self.tag)
        )
    }
}

/// Omits the ciphertext, which is long and useless without the key.
impl fmt::Debug for SealToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealToken({}, {} bytes)", self.form, self.ciphertext.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [7; 32];
    const NONCE: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    const PLAINTEXT: &str = r#"{"step":3,"note":"é","list":[1.5,null]}"#;
    const OWNER: SealedFor<'_> = SealedFor {
        agent_id: "acme/deployer",
        idempotency_key: "idem_1",
    };

    // Created with Node's crypto: createCipheriv("aes-256-gcm", key, nonce).
    const PARTS: &str =
        ".AAECAwQFBgcICQoL.Y6OaBHh5-3NEnsfyjSwJ2NsedSc6TlVdf70XmLSMXCvrQyiX-6NsgA.5KEzKbg-81DNhE2H8Oge-Q";
    // The same, with setAAD(JSON.stringify(["acme/deployer", "idem_1"])) and another plaintext.
    const BOUND: &str = "CSEALv2.AAECAwQFBgcICQoL.Y6OaBHh5-3NEzw.Hpiu-3f78BJ6lBGBNeindw";

    fn open(text: &str, owner: Option<SealedFor<'_>>) -> Result<Vec<u8>, TokenError> {
        SealToken::parse(text)?.open(&KEY, owner)
    }

    #[test]
    fn tokens_match_those_of_another_implementation() {
        for (binding, prefix) in [(SealBinding::A2h, "A2HSEALv1"), (SealBinding::Ma2h, "MA2HSEALv1")] {
            let token = SealToken::seal(&KEY, NONCE, PLAINTEXT.as_bytes(), binding).unwrap();
            assert_eq!(token.to_string(), format!("{prefix}{PARTS}"));
            assert_eq!(open(&token.to_string(), None).unwrap(), PLAINTEXT.as_bytes());
        }
        let bound = SealToken::seal(&KEY, NONCE, br#"{"step":3}"#, SealBinding::Bound(OWNER)).unwrap();
        assert_eq!(bound.to_string(), BOUND);
        assert_eq!(open(BOUND, Some(OWNER)).unwrap(), br#"{"step":3}"#);
    }

    #[test]
    fn a_bound_token_opens_only_for_its_owner() {
        let others = [
            SealedFor {
                agent_id: "acme/other",
                ..OWNER
            },
            SealedFor {
                idempotency_key: "idem_2",
                ..OWNER
            },
            SealedFor {
                agent_id: "idem_1",
                idempotency_key: "acme/deployer",
            },
            SealedFor {
                agent_id: "acme/deployer\",\"idem_1",
                idempotency_key: "",
            },
        ];
        for other in others {
            assert_eq!(open(BOUND, Some(other)), Err(TokenError::DoesNotOpen), "{other:?}");
        }
        assert_eq!(open(BOUND, None), Err(TokenError::NeedsOwner));
        assert_eq!(
            open(&format!("A2HSEALv1{PARTS}"), Some(OWNER)),
            Err(TokenError::NotBound)
        );
    }

    #[test]
    fn a_changed_prefix_is_noticed() {
        let stripped = BOUND.replace("CSEALv2", "A2HSEALv1");
        assert_eq!(open(&stripped, None), Err(TokenError::DoesNotOpen));
        assert_eq!(
            open(&format!("CSEALv2{PARTS}"), Some(OWNER)),
            Err(TokenError::DoesNotOpen)
        );
    }

    #[test]
    fn every_changed_character_is_noticed() {
        let text = format!("A2HSEALv1{PARTS}");
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(open(&changed, None).is_err(), "{changed}");
            assert!(open(&text[..at], None).is_err());
        }
        assert_eq!(
            SealToken::parse(&text).unwrap().open(&[8; 32], None),
            Err(TokenError::DoesNotOpen)
        );
    }

    #[test]
    fn a_broken_token_is_refused_with_its_reason() {
        let tag = "AAAAAAAAAAAAAAAAAAAAAA";
        let table = [
            (String::new(), TokenError::UnknownPrefix),
            (format!("AHCPSEALv1{PARTS}"), TokenError::UnknownPrefix),
            (format!("a2hsealv1{PARTS}"), TokenError::UnknownPrefix),
            (format!(" A2HSEALv1{PARTS}"), TokenError::UnknownPrefix),
            ("A2HSEALv1".to_owned(), TokenError::Malformed("nonce")),
            (format!("A2HSEALv1.AAEC.AA.{tag}"), TokenError::Malformed("nonce")),
            (
                format!("A2HSEALv1.AAECAwQFBgcICQoL.A.{tag}"),
                TokenError::Malformed("ciphertext"),
            ),
            (
                format!("A2HSEALv1.AAECAwQFBgcICQoL.AA==.{tag}"),
                TokenError::Malformed("ciphertext"),
            ),
            ("A2HSEALv1.AAECAwQFBgcICQoL.AA".to_owned(), TokenError::Malformed("tag")),
            (
                "A2HSEALv1.AAECAwQFBgcICQoL.AA.AAAA".to_owned(),
                TokenError::Malformed("tag"),
            ),
            (
                format!("A2HSEALv1.AAECAwQFBgcICQoL.AA.{tag}."),
                TokenError::Malformed("end"),
            ),
            ("A".repeat(MAX_TOKEN_BYTES + 1), TokenError::TooLong),
        ];
        for (text, reason) in table {
            assert_eq!(SealToken::parse(&text), Err(reason), "{}", &text[..text.len().min(80)]);
        }
    }

    #[test]
    fn a_sealed_token_is_never_too_long_to_open() {
        let fits = (MAX_TOKEN_BYTES - 9 - 3 - 16 - 22) / 4 * 3;
        let token = SealToken::seal(&KEY, NONCE, &vec![b' '; fits], SealBinding::A2h).unwrap();
        assert_eq!(token.to_string().len(), token.length());
        assert!(open(&token.to_string(), None).is_ok());
        let over = SealToken::seal(&KEY, NONCE, &vec![b' '; fits + 3], SealBinding::A2h);
        assert_eq!(over, Err(TokenError::TooLong));
    }
}

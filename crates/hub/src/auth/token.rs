//! Tokens and keys: 256 random bits with a prefix for their kind, so that scanners can recognise a leaked one.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::Digest;
use countersign_protocol::webhooks;
use countersign_store::ops::account::credential::CredentialKind;

/// A new token. Its text is shown once; only the hash is stored.
pub struct Token {
    pub text: String,
    pub hash: [u8; 32],
}

impl Token {
    pub fn new(kind: CredentialKind) -> Result<Self, getrandom::Error> {
        let text = format!("{}{}", prefix(kind), random_text()?);
        let hash = hash_token(&text);
        Ok(Self { text, hash })
    }
}

fn prefix(kind: CredentialKind) -> &'static str {
    match kind {
        CredentialKind::Agent => "csa_",
        CredentialKind::Person => "csp_",
        CredentialKind::SignIn => "css_",
        CredentialKind::Session => "csb_",
        CredentialKind::Terminal => "cst_",
    }
}

/// Whether a text has the form of a token of this kind; any other text needs no look-up.
pub fn looks_like(kind: CredentialKind, text: &str) -> bool {
    text.strip_prefix(prefix(kind)).is_some_and(is_random_text)
}

pub fn hash_token(text: &str) -> [u8; 32] {
    Digest::of(text.as_bytes()).into_bytes()
}

/// The hash of a session token. Browsers send a cookie to every port of a machine, so on a hub without a public address
/// the hash covers the place of the hub: the session is good there and nowhere else.
pub fn hash_session(place: Option<&str>, token: &str) -> [u8; 32] {
    match place {
        Some(place) => hash_token(&format!("session\n{place}\n{token}")),
        None => hash_token(token),
    }
}

pub fn new_signing_key() -> Result<String, getrandom::Error> {
    Ok(webhooks::encode_secret(&random_key()?))
}

/// A random key in URL-safe base64.
pub fn random_text() -> Result<String, getrandom::Error> {
    Ok(URL_SAFE_NO_PAD.encode(random_key()?))
}

pub fn is_random_text(text: &str) -> bool {
    text.len() == 43
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

pub fn random_key() -> Result<[u8; 32], getrandom::Error> {
    let mut key = [0; 32];
    getrandom::fill(&mut key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_hash_differs_by_place() {
        let hash = hash_session(Some("http:7422"), "csb_a");
        assert_eq!(hash, hash_session(Some("http:7422"), "csb_a"));
        assert_ne!(hash, hash_session(Some("http:7423"), "csb_a"));
        assert_ne!(hash, hash_session(Some("http:7422"), "csb_b"));
        assert_eq!(hash_session(None, "csb_a"), hash_token("csb_a"));
    }

    #[test]
    fn token_looks_like_its_own_kind_only() {
        let link = Token::new(CredentialKind::SignIn).unwrap().text;
        assert!(looks_like(CredentialKind::SignIn, &link) && !looks_like(CredentialKind::Session, &link));
        for other in [
            "",
            "css_",
            &link[..46],
            &format!("{link}x"),
            &link.replace("css_", "css:"),
            "favicon.ico",
        ] {
            assert!(!looks_like(CredentialKind::SignIn, other), "{other}");
        }
    }
}

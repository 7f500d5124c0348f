//! Tokens and keys: 256 random bits with a prefix that says what they are, so that a leaked one can be recognised.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::Digest;
use countersign_protocol::webhooks;
use countersign_store::ops::credential::Kind;

/// Shown once to whoever asked for it; only its hash is stored.
pub struct Token {
    pub text: String,
    pub hash: [u8; 32],
}

impl Token {
    pub fn new(kind: Kind) -> Result<Self, getrandom::Error> {
        let text = format!("{}{}", prefix(kind), random_text()?);
        let hash = hash_token(&text);
        Ok(Self { text, hash })
    }
}

fn prefix(kind: Kind) -> &'static str {
    match kind {
        Kind::Agent => "csa_",
        Kind::Person => "csp_",
        Kind::SignIn => "css_",
        Kind::Session => "csb_",
        Kind::Terminal => "cst_",
    }
}

/// Whether a text could be a token of this kind. What could not needs no look-up.
pub fn looks_like(kind: Kind, text: &str) -> bool {
    text.strip_prefix(prefix(kind)).is_some_and(is_random_text)
}

pub fn hash_token(text: &str) -> [u8; 32] {
    Digest::of(text.as_bytes()).into_bytes()
}

pub fn new_signing_key() -> Result<String, getrandom::Error> {
    Ok(webhooks::encode_secret(&random_key()?))
}

/// A random key in letters that need no escaping anywhere.
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
    fn a_token_looks_like_its_kind_and_no_other() {
        let link = Token::new(Kind::SignIn).unwrap().text;
        assert!(looks_like(Kind::SignIn, &link) && !looks_like(Kind::Session, &link));
        for other in [
            "",
            "css_",
            &link[..46],
            &format!("{link}x"),
            &link.replace("css_", "css:"),
            "favicon.ico",
        ] {
            assert!(!looks_like(Kind::SignIn, other), "{other}");
        }
    }
}

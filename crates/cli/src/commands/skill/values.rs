//! The values of a skill, each checked on its own. They appear in tables and in commands that people copy, so only
//! characters without meaning to a shell or Markdown are allowed.

use anyhow::{Context, Result, bail};
use countersign_core::access::{check_agent_id, check_person_name};
use countersign_protocol::a2h::{CallbackAuth, RUNTIMES};
use reqwest::Url;

use super::secret::{is_random_name, looks_secret};
use crate::args::{self, SignatureAlgArg};

/// Skill names have at most 64 characters, and `-notify` is the longest suffix.
const MAX_APP_CHARS: usize = 64 - "-notify".len();
const MAX_URL_CHARS: usize = 500;
const MAX_VARIABLE_CHARS: usize = 64;
const MAX_NAME_CHARS: usize = 100;

/// The error does not repeat the value: a secret must not appear on a screen or in a log.
fn no_secret(text: &str) -> Result<()> {
    if looks_secret(text) {
        bail!("this looks like a secret; a skill holds only the names of environment variables");
    }
    Ok(())
}

/// A name that can be the prefix of a skill's name.
pub fn app(text: &str) -> Result<String> {
    no_secret(text)?;
    let is_valid = text.split('-').all(|word| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    });
    if !is_valid || text.len() > MAX_APP_CHARS {
        bail!(
            "the name of an app has 1 to {MAX_APP_CHARS} lower case letters, digits and single hyphens, as in acme-shop"
        );
    }
    Ok(text.to_owned())
}

/// The address of a hub, without a trailing slash.
pub fn hub(text: &str) -> Result<String> {
    let url = address(text)?;
    if url.query().is_some() || url.fragment().is_some() {
        bail!("the address of a hub has no ? and no #");
    }
    if url.scheme() == "http" && !is_loopback(&url) {
        bail!("the agent's token goes to the hub: use https; http is only for a hub on this machine");
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// The URL is kept verbatim, because the signature covers it.
pub fn callback(text: &str) -> Result<String> {
    let url = address(text)?;
    if url.scheme() == "http" && !is_loopback(&url) {
        bail!("a callback goes over https; http is only for this machine");
    }
    if url.query().is_some() || url.fragment().is_some() {
        bail!("a callback has no ? and no # here: that part is often a secret, and a skill is public");
    }
    if url
        .path_segments()
        .is_some_and(|mut segments| segments.any(is_random_name))
    {
        bail!(
            "a part of the path looks random, like a secret, and a skill is public: use a path that may be \
             known, as in /a2h/resume; pushes are trusted by their signature"
        );
    }
    Ok(text.to_owned())
}

fn address(text: &str) -> Result<Url> {
    no_secret(text)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || ":/._~%+=,?&[]-#@".contains(c);
    if text.len() > MAX_URL_CHARS || !text.chars().all(plain) {
        bail!("an address has at most {MAX_URL_CHARS} characters, and none that a shell acts on");
    }
    let url = Url::parse(text).context("this is not a URL")?;
    if !matches!(url.scheme(), "https" | "http") || url.host().is_none() {
        bail!("an address starts with https:// or http://");
    }
    if !url.username().is_empty() || url.password().is_some() || text.contains('@') {
        bail!("an address here has no user name and no password: a skill is public");
    }
    Ok(url)
}

pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let ip = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

/// `host`, or `host:port` if the address names a port, as the owner approves it.
pub fn host_of(address: &str) -> Result<String> {
    let url = Url::parse(address).context("this is not a URL")?;
    let host = url.host_str().context("the address names no host")?;
    Ok(url
        .port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

pub fn agent(text: &str) -> Result<String> {
    no_secret(text)?;
    check_agent_id(text)?;
    if text.starts_with('-') {
        bail!("an agent's id cannot start with -, because the commands would take it for a flag");
    }
    Ok(text.to_owned())
}

pub fn runtime(text: &str) -> Result<String> {
    if !RUNTIMES.contains(&text) {
        bail!("a runtime is one of {}", RUNTIMES.join(", "));
    }
    Ok(text.to_owned())
}

pub fn project(text: &str) -> Result<String> {
    plain_name(text).context("a project has 1 to 100 letters, digits or . _ / : -, as in acme-shop")
}

pub fn signature_alg(text: &str) -> Result<SignatureAlgArg> {
    SignatureAlgArg::parse(text).context("an algorithm is hmac-sha256 or ed25519")
}

/// `hmac=NAME`, `bearer=NAME` or `apikey=NAME`. The name is public, the secret stays at the hub.
pub fn callback_auth(text: &str) -> Result<CallbackAuth> {
    let auth = args::callback_auth(text).map_err(anyhow::Error::msg)?;
    plain_name(&auth.reference)
        .context("a secret's name has 1 to 100 letters, digits or . _ / : -, as in acme-hook")?;
    Ok(auth)
}

fn plain_name(text: &str) -> Result<String> {
    no_secret(text)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/:-".contains(c);
    if text.is_empty() || text.len() > MAX_NAME_CHARS || !text.chars().all(plain) || text.starts_with('-') {
        bail!("this is not a plain name");
    }
    Ok(text.to_owned())
}

/// One person, by name. Wildcards and groups do not exist.
pub fn resolver(text: &str) -> Result<String> {
    no_secret(text)?;
    let name = text.strip_prefix("human:").unwrap_or_default();
    if check_person_name(name).is_err() {
        bail!("name one person, as in human:alice: there are no wildcards and no groups");
    }
    Ok(text.to_owned())
}

/// Several people, separated by spaces or commas, without duplicates.
pub fn resolvers(text: &str) -> Result<Vec<String>> {
    let mut named: Vec<String> = Vec::new();
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        let person = resolver(word)?;
        if !named.contains(&person) {
            named.push(person);
        }
    }
    if named.is_empty() {
        bail!("name at least one person: without one only the agent itself could answer");
    }
    Ok(named)
}

pub fn variable(text: &str) -> Result<String> {
    no_secret(text)?;
    let upper = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    let first = text.bytes().next().is_some_and(upper);
    if !first || text.len() > MAX_VARIABLE_CHARS || !text.bytes().all(|byte| upper(byte) || byte.is_ascii_digit()) {
        bail!("give the name of an environment variable, as in ACME_TOKEN, never its value");
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_values_pass_as_they_are() {
        assert_eq!(app("acme-shop2").unwrap(), "acme-shop2");
        assert_eq!(hub("https://hub.example/base/").unwrap(), "https://hub.example/base");
        assert_eq!(hub("http://[::1]:7422").unwrap(), "http://[::1]:7422");
        assert_eq!(
            callback("https://Hooks.example/a/b").unwrap(),
            "https://Hooks.example/a/b"
        );
        assert_eq!(callback("http://127.0.0.1:8080/x").unwrap(), "http://127.0.0.1:8080/x");
        assert_eq!(agent("acme/deployer").unwrap(), "acme/deployer");
        assert_eq!(variable("ACME_TOKEN_2").unwrap(), "ACME_TOKEN_2");
        assert_eq!(project("acme/shop").unwrap(), "acme/shop");
        assert_eq!(
            callback_auth("bearer=env:ACME_HOOK").unwrap().reference,
            "env:ACME_HOOK"
        );
        assert_eq!(
            resolvers("human:ann, human:bob human:ann").unwrap(),
            ["human:ann", "human:bob"]
        );
        assert_eq!(host_of("https://hooks.example/x").unwrap(), "hooks.example");
        assert_eq!(host_of("http://127.0.0.1:8080/x").unwrap(), "127.0.0.1:8080");
    }

    #[test]
    fn wildcards_groups_and_agents_are_no_people() {
        for text in [
            "human:*",
            "human:",
            "*",
            "alice",
            "agent:bot",
            "human:a b",
            "human:$(id)",
            "",
        ] {
            assert!(resolver(text).is_err(), "{text}");
        }
        assert!(resolvers(" , ").is_err());
    }

    #[test]
    fn characters_with_a_meaning_to_shell_or_markdown_are_refused() {
        for text in ["acme`id`", "Acme", "a--b", "-a", "a-", "", &"a".repeat(58)] {
            assert!(app(text).is_err(), "{text}");
        }
        for text in [
            "https://a.example/$(id)",
            "https://a.example/`x`",
            "https://a.example/'",
            "https://a.example/|",
            "ftp://a.example",
        ] {
            assert!(hub(text).is_err() && callback(text).is_err(), "{text}");
        }
        for text in ["a b", "$x", "-rf", "a;b", "a|b", "a#b", ""] {
            assert!(agent(text).is_err(), "{text}");
        }
        assert!(callback("http://hooks.example/x").is_err());
        for text in ["a b", "$x", "-x", "", "a`b`", &"a".repeat(101)] {
            assert!(project(text).is_err(), "{text}");
            assert!(callback_auth(&format!("hmac={text}")).is_err(), "{text}");
        }
        assert!(callback_auth("basic=x").is_err() && runtime("mainframe").is_err() && signature_alg("rsa").is_err());
    }

    #[test]
    fn a_token_goes_over_https() {
        for text in [
            "http://hub.example",
            "http://10.0.0.5:7422",
            "http://localhost.example/",
        ] {
            assert!(hub(text).unwrap_err().to_string().contains("use https"), "{text}");
        }
    }

    #[test]
    fn a_secret_address_is_refused_as_callback() {
        for part in [
            "?key=abc",
            "?",
            "#abc",
            "9f1c2a3b-1111-4222-8333-0123456789ab",
            "x/Zk3Tq8vB1nLw5RyP/y",
        ] {
            let text = callback(&format!("https://hooks.example/{part}"))
                .unwrap_err()
                .to_string();
            assert!(!text.contains("hooks.example") && !text.contains("abc"), "{text}");
        }
    }

    #[test]
    fn secrets_are_refused_and_not_repeated() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let refusals = [
            variable(secret),
            agent(secret),
            hub(&format!("https://hub.example/{secret}")),
            callback(&format!("https://hooks.example/?key={secret}")),
            callback("https://user:pass@hooks.example/"),
            hub("https://token@hub.example"),
            variable("acme_token"),
            project(secret),
        ];
        for refusal in refusals {
            let text = format!("{:#}", refusal.unwrap_err());
            assert!(!text.contains("MfKQ") && !text.contains("pass@"), "{text}");
        }
    }
}

//! Who may open the socket. With a token, a person who may decide. Without one, a program on this machine that nobody can have
//! been tricked into: no page of a browser, no name that is not this machine's, nothing that came through a proxy.

use axum::http::{HeaderMap, header};
use countersign_core::Actor;
use countersign_core::access::{Principal, Role};
use countersign_store::ops::admin::people::ListPeople;

use crate::app::Hub;
use crate::auth::{Peer, not_for_terminals};
use crate::config::{Commands, Config};
use crate::problem::Problem;
use crate::serve::owner_of;

/// Any of them means that somebody else asked.
const RELAYED: [&str; 3] = ["forwarded", "via", "x-real-ip"];
const RELAYED_PREFIX: &str = "x-forwarded-";

/// Whom a connection acts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub person: String,
    pub is_owner: bool,
    /// Nothing for this machine's own user.
    pub token: Option<String>,
}

impl Caller {
    pub fn actor(&self) -> Actor {
        Actor::human(&self.person)
    }
}

pub async fn admit(hub: &Hub, headers: &HeaderMap, peer: Peer, token: Option<String>) -> Result<Caller, Problem> {
    check_origin(headers, &hub.config.runs.allowed_origins)?;
    match token {
        Some(token) => by_token(hub, token).await,
        None => {
            check_local(headers, peer, &hub.config)?;
            this_machine(hub).await
        }
    }
}

/// Whether it still may, after credentials have ended.
pub async fn readmit(hub: &Hub, caller: &Caller) -> Result<Caller, Problem> {
    match &caller.token {
        Some(token) => by_token(hub, token.clone()).await,
        None => this_machine(hub).await,
    }
}

async fn by_token(hub: &Hub, token: String) -> Result<Caller, Problem> {
    match hub.credentials.authenticate(&hub.store, &token).await? {
        Some(Principal::Person {
            name,
            role: role @ (Role::Owner | Role::Resolver),
        }) => Ok(Caller {
            person: name,
            is_owner: role == Role::Owner,
            token: Some(token),
        }),
        Some(Principal::Person { role: Role::Viewer, .. }) => Err(refuse("a viewer decides nothing; ask an owner")),
        Some(Principal::Agent { .. }) => Err(refuse("this socket is for people; use a person's token")),
        Some(Principal::Terminal { .. }) => Err(not_for_terminals()),
        None => Err(need_token("this token is not valid")),
    }
}

async fn this_machine(hub: &Hub) -> Result<Caller, Problem> {
    let person = owner_of(&hub.store.run(ListPeople).await?);
    Ok(Caller {
        person,
        is_owner: true,
        token: None,
    })
}

fn refuse(message: &str) -> Problem {
    Problem::NotAuthorized {
        message: message.to_owned(),
    }
}

/// Every browser says which page opens a socket; a native client says nothing.
fn check_origin(headers: &HeaderMap, allowed: &[String]) -> Result<(), Problem> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let is_allowed =
        |origin: &header::HeaderValue| allowed.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes());
    if origins.all(is_allowed) {
        return Ok(());
    }
    Err(refuse(
        "pages may open this socket only if the operator names their origin in runs.allowed_origins",
    ))
}

fn check_local(headers: &HeaderMap, peer: Peer, config: &Config) -> Result<(), Problem> {
    if let Some(why) = beyond_this_machine(headers, peer, config) {
        return Err(need_token(&why));
    }
    // Every account of this machine, and whatever a tunnel lets in, could run programs as the hub's user.
    if config.runs.commands != Commands::Off {
        return Err(refuse(
            "a token is needed here, because runs may start programs (runs.commands)",
        ));
    }
    if !is_this_machine(headers) {
        return Err(refuse("without a token, connect to 127.0.0.1, localhost or [::1]"));
    }
    Ok(())
}

/// Why the other end may be somewhere else.
fn beyond_this_machine(headers: &HeaderMap, peer: Peer, config: &Config) -> Option<String> {
    let is_relayed = |name: &&str| RELAYED.contains(name) || name.starts_with(RELAYED_PREFIX);
    let why = if !config.listen.ip().is_loopback() {
        "this hub listens beyond this machine (listen)"
    } else if config.public_url.is_some() {
        "this hub is reached from outside (public_url)"
    } else if !config.trusted_proxies.is_empty() {
        "this hub stands behind a proxy (trusted_proxies)"
    } else if !peer.0.to_canonical().is_loopback() {
        "you are not on this machine"
    } else if headers.contains_key(header::ORIGIN) {
        "a page opens this socket (Origin)"
    } else {
        let header = headers.keys().map(header::HeaderName::as_str).find(is_relayed)?;
        return Some(format!("the request came through a proxy ({header})"));
    };
    Some(why.to_owned())
}

fn need_token(why: &str) -> Problem {
    let message = format!(
        "{why}: send a person's token as `Authorization: Bearer …`, `X-API-Key: …`, or `?token=…` in the address of the socket"
    );
    Problem::TokenNeeded { message }
}

/// A page that made its own name point here still asks for it by that name.
fn is_this_machine(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    let host = host.to_str().unwrap_or_default().to_ascii_lowercase();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        Some(_) | None => host.as_str(),
    };
    matches!(name, "127.0.0.1" | "localhost" | "[::1]")
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;
    use crate::config::{ConfigFile, Overrides};

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let line = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        lines.iter().map(line).collect()
    }

    fn local(lines: &[(&'static str, &str)], peer: &str, change: impl FnOnce(&mut ConfigFile)) -> bool {
        let mut file = ConfigFile::default();
        change(&mut file);
        let config = Config::resolve(file, Overrides::default()).unwrap();
        check_local(&headers(lines), Peer(peer.parse().unwrap()), &config).is_ok()
    }

    #[test]
    fn this_machine_is_known_by_its_three_names_and_no_other() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:7422",
            "localhost",
            "LOCALHOST:1",
            "[::1]",
            "[::1]:7422",
        ] {
            assert!(is_this_machine(&headers(&[("host", host)])), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.",
            "::1",
            "127.0.0.2",
            "localhost:x",
            "a@localhost",
        ] {
            assert!(!is_this_machine(&headers(&[("host", host)])), "{host}");
        }
        let mut twice = headers(&[("host", "localhost")]);
        twice.append(header::HOST, HeaderValue::from_static("evil.example"));
        assert!(!is_this_machine(&twice) && !is_this_machine(&HeaderMap::new()));
    }

    #[test]
    fn an_origin_must_be_named_to_the_letter() {
        let allowed = ["https://app.example".to_owned()];
        assert!(check_origin(&HeaderMap::new(), &[]).is_ok());
        assert!(check_origin(&headers(&[("origin", "https://app.example")]), &allowed).is_ok());
        for origin in [
            "https://app.example:444",
            "http://app.example",
            "null",
            "",
            "https://app.example/",
        ] {
            assert!(
                check_origin(&headers(&[("origin", origin)]), &allowed).is_err(),
                "{origin}"
            );
        }
    }

    #[test]
    fn without_a_token_only_a_program_of_this_machine_comes_in() {
        let host = ("host", "127.0.0.1:7422");
        assert!(local(&[host], "127.0.0.1", |_| {}) && local(&[host], "::ffff:127.0.0.1", |_| {}));
        assert!(!local(&[host], "192.0.2.7", |_| {}));
        for relayed in [
            "forwarded",
            "x-forwarded-for",
            "x-forwarded-anything",
            "via",
            "x-real-ip",
        ] {
            assert!(!local(&[host, (relayed, "x")], "127.0.0.1", |_| {}), "{relayed}");
        }
        assert!(!local(&[host, ("origin", "https://app.example")], "127.0.0.1", |_| {}));
        assert!(!local(&[host], "127.0.0.1", |file| file.public_url =
            Some("https://hub.example".to_owned())));
        assert!(!local(&[host], "127.0.0.1", |file| file.trusted_proxies =
            Some(vec!["10.0.0.1".to_owned()])));
        assert!(!local(&[host], "127.0.0.1", |file| file.runs.commands = Some(Commands::Ask)));
        assert!(!local(&[host], "127.0.0.1", |file| {
            file.listen = Some("0.0.0.0:7422".to_owned());
            file.allow_plain_http = Some(true);
        }));
    }
}

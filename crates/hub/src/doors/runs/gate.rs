//! Admission to the run socket. With a token: a person who may decide. Without one: only a program of the hub's own user
//! on this machine. Web pages, host names of other machines (DNS rebinding) and proxied requests are refused.

use axum::http::{HeaderMap, header};
use countersign_config::{Commands, Config};
use countersign_core::Actor;
use countersign_core::access::{Principal, Role};
use countersign_store::ops::admin::people::ListPeople;

use super::same_user;
use crate::Hub;
use crate::auth::local_owner_of;
use crate::http::callers::not_for_terminals;
use crate::http::client_addr::Endpoints;
use crate::http::host::is_this_machine;
use crate::problem::Problem;

/// Headers that show a proxied request.
const PROXY_HEADERS: [&str; 3] = ["forwarded", "via", "x-real-ip"];
const PROXY_HEADER_PREFIX: &str = "x-forwarded-";

/// The person that a connection acts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketCaller {
    pub person: String,
    pub is_owner: bool,
    /// `None` for the local user of this machine.
    pub token: Option<String>,
}

impl SocketCaller {
    pub fn actor(&self) -> Actor {
        Actor::human(&self.person)
    }
}

pub async fn admit(
    hub: &Hub,
    headers: &HeaderMap,
    endpoints: Option<Endpoints>,
    token: Option<String>,
) -> Result<SocketCaller, Problem> {
    check_origin(headers, &hub.config.runs.allowed_origins)?;
    match token {
        Some(token) => by_token(hub, token).await,
        None => {
            let endpoints = check_local(headers, endpoints, &hub.config)?;
            same_user::verify(endpoints).await.map_err(need_token)?;
            local_owner(hub).await
        }
    }
}

/// Checks an admitted caller again after a revocation.
pub async fn readmit(hub: &Hub, caller: &SocketCaller) -> Result<SocketCaller, Problem> {
    match &caller.token {
        Some(token) => by_token(hub, token.clone()).await,
        None => local_owner(hub).await,
    }
}

async fn by_token(hub: &Hub, token: String) -> Result<SocketCaller, Problem> {
    match hub.auth.credentials.authenticate(&hub.store, &token).await? {
        Some(Principal::Person {
            name,
            role: role @ (Role::Owner | Role::Resolver),
        }) => Ok(SocketCaller {
            person: name,
            is_owner: role == Role::Owner,
            token: Some(token),
        }),
        Some(Principal::Person { role: Role::Viewer, .. }) => {
            Err(refuse("viewers cannot decide; ask an owner for another role"))
        }
        Some(Principal::Agent { .. }) => Err(refuse("this socket is for people; use a person's token")),
        Some(Principal::Terminal { .. }) => Err(not_for_terminals()),
        None => Err(need_token("this token is not valid")),
    }
}

async fn local_owner(hub: &Hub) -> Result<SocketCaller, Problem> {
    let person = local_owner_of(&hub.store.run(ListPeople).await?);
    Ok(SocketCaller {
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

/// Browsers always send `Origin`; native clients send none.
fn check_origin(headers: &HeaderMap, allowed: &[String]) -> Result<(), Problem> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let is_allowed =
        |origin: &header::HeaderValue| allowed.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes());
    if origins.all(is_allowed) {
        return Ok(());
    }
    Err(refuse(
        "web pages may open this socket only if runs.allowed_origins has their origin",
    ))
}

/// The connection of a client that may come without a token, as far as configuration and headers tell.
fn check_local(headers: &HeaderMap, endpoints: Option<Endpoints>, config: &Config) -> Result<Endpoints, Problem> {
    if let Some(why) = token_reason(config) {
        return Err(need_token(why));
    }
    let local = endpoints.filter(|endpoints| endpoints.client.ip().to_canonical().is_loopback());
    let Some(endpoints) = local else {
        return Err(need_token("you are not on this machine"));
    };
    if headers.contains_key(header::ORIGIN) {
        return Err(need_token("a web page opens this socket (Origin)"));
    }
    if let Some(header) = proxy_header(headers) {
        return Err(need_token(&format!("the request came through a proxy ({header})")));
    }
    if !is_this_machine(headers) {
        return Err(refuse("without a token, connect to 127.0.0.1, localhost or [::1]"));
    }
    Ok(endpoints)
}

/// The setting for which every client of this hub needs a token.
fn token_reason(config: &Config) -> Option<&'static str> {
    if !config.listen.ip().is_loopback() {
        Some("this hub listens beyond this machine (listen)")
    } else if config.public_url.is_some() {
        Some("this hub is reachable from outside (public_url)")
    } else if !config.trusted_proxies.is_empty() {
        Some("this hub is behind a proxy (trusted_proxies)")
    } else if config.runs.commands != Commands::Off {
        Some("runs may start programs (runs.commands)")
    } else if config.llm.has_models() {
        Some("runs may call models (llm)")
    } else if config.runs.require_token {
        Some("this hub always wants a token (runs.require_token)")
    } else {
        None
    }
}

fn proxy_header(headers: &HeaderMap) -> Option<&str> {
    let is_proxy_header = |name: &&str| PROXY_HEADERS.contains(name) || name.starts_with(PROXY_HEADER_PREFIX);
    headers.keys().map(header::HeaderName::as_str).find(is_proxy_header)
}

fn need_token(why: &str) -> Problem {
    let message = format!(
        "{why}: send a person's token as `Authorization: Bearer …`, `X-API-Key: …`, or, if headers are out of reach, \
         `?token=…` in the URL of the socket; the hub's own user finds one in hub.json"
    );
    Problem::TokenNeeded { message }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use axum::http::{HeaderName, HeaderValue};

    use super::*;
    use countersign_config::{ConfigFile, Overrides};

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
        let endpoints = Endpoints {
            client: (peer.parse::<IpAddr>().unwrap(), 50_000).into(),
            hub: ([127, 0, 0, 1], 7422).into(),
        };
        check_local(&headers(lines), Some(endpoints), &config).is_ok()
    }

    #[test]
    fn origin_must_match_exactly() {
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
    fn without_a_token_only_local_programs_are_admitted() {
        let host = ("host", "127.0.0.1:7422");
        assert!(local(&[host], "127.0.0.1", |_| {}) && local(&[host], "::ffff:127.0.0.1", |_| {}));
        assert!(!local(&[host], "192.0.2.7", |_| {}));
        for header in [
            "forwarded",
            "x-forwarded-for",
            "x-forwarded-anything",
            "via",
            "x-real-ip",
        ] {
            assert!(!local(&[host, (header, "x")], "127.0.0.1", |_| {}), "{header}");
        }
        assert!(!local(&[host, ("origin", "https://app.example")], "127.0.0.1", |_| {}));
        assert!(!local(&[host], "127.0.0.1", |file| file.public_url =
            Some("https://hub.example".to_owned())));
        assert!(!local(&[host], "127.0.0.1", |file| file.trusted_proxies =
            Some(vec!["10.0.0.1".to_owned()])));
        assert!(!local(&[host], "127.0.0.1", |file| file.runs.commands = Some(Commands::Ask)));
        assert!(!local(&[host], "127.0.0.1", |file| file.runs.require_token = Some(true)));
        assert!(!local(&[host], "127.0.0.1", |file| file.llm.base_url =
            Some("https://models.example/v1".to_owned())));
        assert!(!local(&[host], "127.0.0.1", |file| {
            file.listen = Some("0.0.0.0:7422".to_owned());
            file.allow_plain_http = Some(true);
        }));
    }
}

//! The `Host` check. A web page can point its own name at the address of the hub (DNS rebinding) and then reads replies
//! as if the hub were its own site. Its requests carry that name, so a hub that knows its names refuses all others.

use std::net::IpAddr;

use axum::http::{HeaderMap, Request, header};
use countersign_config::Config;
use url::Url;

use crate::problem::Problem;

/// Names of this machine; a page from elsewhere cannot have them.
const LOOPBACK_NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];
const MAX_SHOWN_CHARS: usize = 100;

/// The host names that the hub answers for.
pub struct AllowedHosts {
    /// `None` if the hub cannot know its names.
    names: Option<Vec<String>>,
}

impl AllowedHosts {
    /// A hub on loopback knows its names: those of this machine and of its `public_url`. Beyond loopback, and behind a
    /// proxy without a `public_url`, it knows only what `allowed_hosts` has.
    pub fn from_config(config: &Config) -> Self {
        let is_known =
            config.listen.ip().is_loopback() && (config.trusted_proxies.is_empty() || config.public_url.is_some());
        let is_checked = is_known || !config.allowed_hosts.is_empty();
        let public = config.public_url.as_deref().and_then(|url| Url::parse(url).ok());
        let public = public.and_then(|url| url.host_str().map(str::to_owned));
        let names = || config.allowed_hosts.iter().cloned().chain(public).collect();
        Self {
            names: is_checked.then(names),
        }
    }

    /// Checks `Host`, and the authority of HTTP/2 or of an absolute request target. Browsers always send one of them, so
    /// a request without any, as of a simple probe, is let through.
    pub fn check<B>(&self, request: &Request<B>) -> Result<(), Problem> {
        let Some(names) = &self.names else { return Ok(()) };
        let hosts = request.headers().get_all(header::HOST).iter();
        let hosts = hosts.map(|host| host.to_str().unwrap_or_default());
        let authority = request.uri().authority().map(|authority| authority.as_str());
        let is_foreign = |host: &&str| {
            let name = name_of(host);
            !LOOPBACK_NAMES.contains(&name.as_str()) && !is_ip_address(&name) && !names.contains(&name)
        };
        match hosts.chain(authority).find(is_foreign) {
            None => Ok(()),
            Some(host) => Err(misdirected(host)),
        }
    }
}

fn misdirected(host: &str) -> Problem {
    let shown: String = host.chars().take(MAX_SHOWN_CHARS).collect();
    Problem::Misdirected {
        message: format!(
            "this hub does not answer for the host name {shown:?}; use its own address, or set public_url or \
             allowed_hosts in its configuration"
        ),
    }
}

/// Whether the request names this machine as its one `Host`.
pub fn is_this_machine(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    is_loopback_name(host.to_str().unwrap_or_default())
}

/// Whether a host, with or without a port, is a name of this machine.
pub fn is_loopback_name(host: &str) -> bool {
    LOOPBACK_NAMES.contains(&name_of(host).as_str())
}

/// The host in lower case, without its port.
fn name_of(host: &str) -> String {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        Some(_) | None => host,
    };
    name.to_ascii_lowercase()
}

/// An address needs no name, so a page that names one is a page of that very machine.
fn is_ip_address(name: &str) -> bool {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    bare.unwrap_or(name).parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use countersign_config::{ConfigFile, Overrides};

    fn hosts(change: impl FnOnce(&mut ConfigFile)) -> AllowedHosts {
        let mut file = ConfigFile::default();
        change(&mut file);
        AllowedHosts::from_config(&Config::resolve(file, Overrides::default()).unwrap())
    }

    fn is_answered(hosts: &AllowedHosts, host: &str) -> bool {
        hosts
            .check(&Request::builder().header(header::HOST, host).body(()).unwrap())
            .is_ok()
    }

    #[test]
    fn only_three_host_names_count_as_this_machine() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:7422",
            "localhost",
            "LOCALHOST:1",
            "[::1]",
            "[::1]:7422",
        ] {
            let headers = HeaderMap::from_iter([(header::HOST, host.parse().unwrap())]);
            assert!(is_this_machine(&headers), "{host}");
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
            let headers = HeaderMap::from_iter([(header::HOST, host.parse().unwrap())]);
            assert!(!is_this_machine(&headers), "{host}");
        }
        let mut twice = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("localhost"))]);
        twice.append(header::HOST, HeaderValue::from_static("evil.example"));
        assert!(!is_this_machine(&twice) && !is_this_machine(&HeaderMap::new()));
    }

    #[test]
    fn hub_on_loopback_answers_for_its_own_names_and_for_addresses() {
        let local = hosts(|_| {});
        for host in [
            "localhost:7422",
            "127.0.0.1",
            "[::1]:7422",
            "192.0.2.7:7422",
            "[2001:db8::7]",
        ] {
            assert!(is_answered(&local, host), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:7422",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "",
            "a@localhost",
        ] {
            assert!(!is_answered(&local, host), "{host}");
        }
        let absent = Request::builder().body(()).unwrap();
        assert!(local.check(&absent).is_ok(), "a probe without a host");
    }

    #[test]
    fn every_host_of_a_request_counts() {
        let local = hosts(|_| {});
        let http2 = |uri: &str| Request::builder().uri(uri).body(()).unwrap();
        assert!(local.check(&http2("http://localhost:7422/inbox")).is_ok());
        assert!(local.check(&http2("http://evil.example/inbox")).is_err());
        let mut twice = http2("/inbox");
        for host in ["localhost", "evil.example"] {
            twice.headers_mut().append(header::HOST, HeaderValue::from_static(host));
        }
        assert!(local.check(&twice).is_err());
    }

    #[test]
    fn public_url_and_allowed_hosts_add_names() {
        let public = hosts(|file| {
            file.public_url = Some("https://Hub.Example:8443".to_owned());
            file.trusted_proxies = Some(vec!["127.0.0.1".to_owned()]);
        });
        assert!(is_answered(&public, "hub.example") && is_answered(&public, "localhost:7422"));
        assert!(!is_answered(&public, "evil.example"));
        let named = hosts(|file| file.allowed_hosts = vec!["Hub.lan".to_owned()]);
        assert!(is_answered(&named, "hub.lan:7422") && !is_answered(&named, "evil.example"));
    }

    #[test]
    fn hub_that_cannot_know_its_names_answers_for_all() {
        let beyond = |file: &mut ConfigFile| {
            file.listen = Some("0.0.0.0:7422".to_owned());
            file.allow_plain_http = Some(true);
        };
        assert!(is_answered(&hosts(beyond), "box.lan:7422"));
        let proxied = hosts(|file| file.trusted_proxies = Some(vec!["127.0.0.1".to_owned()]));
        assert!(is_answered(&proxied, "hub.example"));
        let named = hosts(|file| {
            beyond(file);
            file.allowed_hosts = vec!["box.lan".to_owned()];
        });
        assert!(is_answered(&named, "box.lan:7422") && !is_answered(&named, "evil.example"));
    }
}

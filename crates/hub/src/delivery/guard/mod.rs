//! The address guard: which targets a push may have, and the normal form of hosts for comparing approvals with URLs.

mod ranges;

use std::net::IpAddr;

use url::{Host, Url};

pub use ranges::check;

/// Why a push target is refused. Names the kind of address, never the address itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TargetRefused {
    #[error("the host is {0}, which a push may not reach")]
    Address(&'static str),
    #[error("a callback URL must use https")]
    NotHttps,
    #[error("a callback URL must not contain a user name or a password")]
    UserInfo,
    #[error("a callback URL needs a host and a port other than 0")]
    NoHost,
}

/// Checks a URL before name resolution. IP literals are checked here, because no look-up follows for them; the `url`
/// crate has normalised their decimal, hexadecimal and octal spellings.
pub fn check_url(url: &Url, allow_loopback: bool) -> Result<(), TargetRefused> {
    let host = url.host().ok_or(TargetRefused::NoHost)?;
    match url.scheme() {
        "https" => {}
        "http" if allow_loopback && is_this_machine(&host) => {}
        _ => return Err(TargetRefused::NotHttps),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(TargetRefused::UserInfo);
    }
    if url.port_or_known_default().is_none_or(|port| port == 0) {
        return Err(TargetRefused::NoHost);
    }
    match host {
        Host::Domain(_) => Ok(()),
        Host::Ipv4(ip) => check(IpAddr::V4(ip), allow_loopback),
        Host::Ipv6(ip) => check(IpAddr::V6(ip), allow_loopback),
    }
}

/// Loopback addresses, `localhost` and names under it.
fn is_this_machine(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => IpAddr::V6(*ip).to_canonical().is_loopback(),
    }
}

/// `host:port` of a callback URL, the key of approvals and delivery workers.
pub fn callback_host(url: &str) -> Result<String, String> {
    let url = Url::parse(url).map_err(|error| format!("is not a URL: {error}"))?;
    host_and_port(&url).map_err(|refused| refused.to_string())
}

/// As [`check_url`], for doors that refuse a bad callback at submit.
pub fn check_callback_url(url: &str, allow_loopback: bool) -> Result<(), String> {
    let url = Url::parse(url).map_err(|error| format!("is not a URL: {error}"))?;
    check_url(&url, allow_loopback).map_err(|refused| refused.to_string())
}

pub(super) fn host_and_port(url: &Url) -> Result<String, TargetRefused> {
    if !matches!(url.scheme(), "https" | "http") {
        return Err(TargetRefused::NotHttps);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(TargetRefused::UserInfo);
    }
    let host = url.host().ok_or(TargetRefused::NoHost)?;
    let port = url
        .port_or_known_default()
        .filter(|port| *port != 0)
        .ok_or(TargetRefused::NoHost)?;
    Ok(format!("{}:{port}", normalised(&host).ok_or(TargetRefused::NoHost)?))
}

/// Normalises the host of an approval for storage. Without a port it covers every port.
pub fn normalise_binding(text: &str) -> Result<String, String> {
    let wrong = || format!("{text:?} is not a host; write a name, name:port, an IPv4 address or an [IPv6] address");
    let (name, port) = split_port(text).ok_or_else(wrong)?;
    // The host parser would decode some of these; an approved host must be written plainly.
    if name.contains(['/', '\\', '?', '#', '@', '%', '*']) || name.contains(char::is_whitespace) {
        return Err(wrong());
    }
    let host = Host::parse(name).map_err(|_| wrong())?;
    let borrowed = match &host {
        Host::Domain(name) => Host::Domain(name.as_str()),
        Host::Ipv4(ip) => Host::Ipv4(*ip),
        Host::Ipv6(ip) => Host::Ipv6(*ip),
    };
    let name = normalised(&borrowed).ok_or_else(wrong)?;
    Ok(port.map_or(name.clone(), |port| format!("{name}:{port}")))
}

/// Splits at the colon outside brackets. A bare IPv6 address has several colons and is refused.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let name_end = text.find(']').map_or(0, |at| at + 1);
    let Some(colon) = text[name_end..].find(':').map(|at| at + name_end) else {
        return Some((text, None));
    };
    let digits = &text[colon + 1..];
    let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let port = digits.parse::<u16>().ok().filter(|port| plain && *port != 0)?;
    Some((&text[..colon], Some(port)))
}

/// The parser has applied lower case, IDNA and canonical numbers; a trailing dot names the same host.
fn normalised(host: &Host<&str>) -> Option<String> {
    let text = match host {
        Host::Domain(name) => name.strip_suffix('.').unwrap_or(name).to_owned(),
        Host::Ipv4(_) | Host::Ipv6(_) => host.to_string(),
    };
    (!text.is_empty() && !text.ends_with('.')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_and_approval_normalise_to_the_same_host() {
        let table = [
            ("https://Hooks.Example/x?y", "HOOKS.example", "hooks.example:443"),
            ("https://hooks.example.:8443/", "hooks.example.", "hooks.example:8443"),
            ("https://bücher.example/", "BÜCHER.example", "xn--bcher-kva.example:443"),
            ("http://127.1:80/", "0x7f.1", "127.0.0.1:80"),
            ("https://[2606:4700:0::1]/", "[2606:4700::0:1]", "[2606:4700::1]:443"),
        ];
        for (url, binding, host) in table {
            assert_eq!(callback_host(url).as_deref(), Ok(host), "{url}");
            let every_port = host.rsplit_once(':').unwrap().0;
            assert_eq!(normalise_binding(binding).as_deref(), Ok(every_port), "{binding}");
            let port = host.rsplit_once(':').unwrap().1;
            assert_eq!(
                normalise_binding(&format!("{binding}:{port}")).as_deref(),
                Ok(host),
                "{binding}"
            );
        }
    }

    #[test]
    fn invalid_host_cannot_be_approved() {
        for text in [
            "",
            ".",
            "a b",
            "https://a.example",
            "a.example/x",
            "a.example:",
            "a.example:0",
            "a.example:+1",
            "a.example:65536",
            "a:b@c",
            "user@a.example",
            "::1",
            "[::1",
            "[::1]x",
            "*.example",
            "a%2eexample",
            ":443",
            "a.example:1:2",
            "a..",
        ] {
            assert!(
                normalise_binding(text).is_err(),
                "{text:?} gave {:?}",
                normalise_binding(text)
            );
        }
    }

    #[test]
    fn invalid_callback_url_has_no_host() {
        for url in [
            "",
            "hooks.example",
            "ftp://a.example/",
            "file:///etc/passwd",
            "https://",
            "https://u:p@a.example/",
            "https://a.example:0/",
            "javascript:alert(1)",
            "https://a b/",
        ] {
            assert!(callback_host(url).is_err(), "{url}");
        }
    }
}

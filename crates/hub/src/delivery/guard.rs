//! The address guard: which targets a push may have, and the normal form of hosts for comparing approvals with URLs.
//! Everything outside the public internet is refused (SSRF protection).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};
use url::{Host, Url};

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(head: [u16; 3], length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(head[0], head[1], head[2], 0, 0, 0, 0, 0), length)
}

const BLOCKED_V4: [(Ipv4Net, &str); 17] = [
    (v4(0, 0, 0, 0, 8), "an address of this network"),
    (v4(10, 0, 0, 0, 8), "a private address"),
    (v4(100, 64, 0, 0, 10), "a carrier's shared address"),
    (v4(127, 0, 0, 0, 8), "a loopback address"),
    // The Azure metadata service, although the address looks public.
    (v4(168, 63, 129, 16, 32), "a metadata address"),
    (v4(169, 254, 169, 254, 32), "a metadata address"),
    (v4(169, 254, 0, 0, 16), "a link-local address"),
    (v4(172, 16, 0, 0, 12), "a private address"),
    (v4(192, 0, 0, 0, 24), "a protocol assignment"),
    (v4(192, 0, 2, 0, 24), "a documentation address"),
    (v4(192, 88, 99, 0, 24), "a 6to4 relay"),
    (v4(192, 168, 0, 0, 16), "a private address"),
    (v4(198, 18, 0, 0, 15), "a benchmarking address"),
    (v4(198, 51, 100, 0, 24), "a documentation address"),
    (v4(203, 0, 113, 0, 24), "a documentation address"),
    (v4(224, 0, 0, 0, 4), "a multicast address"),
    (v4(240, 0, 0, 0, 4), "a reserved or broadcast address"),
];

const GLOBAL_UNICAST: Ipv6Net = v6([0x2000, 0, 0], 3);

/// Blocked ranges inside global unicast, and some outside of it for a clearer error.
const BLOCKED_V6: [(Ipv6Net, &str); 13] = [
    (v6([0x2001, 0, 0], 32), "a Teredo address"),
    (v6([0x2001, 0x2, 0], 48), "a benchmarking address"),
    (v6([0x2001, 0, 0], 23), "a protocol assignment"),
    (v6([0x2001, 0xdb8, 0], 32), "a documentation address"),
    (v6([0x2002, 0, 0], 16), "a 6to4 address"),
    (v6([0x3fff, 0, 0], 20), "a documentation address"),
    (v6([0x64, 0xff9b, 0], 96), "a NAT64 address"),
    (v6([0x64, 0xff9b, 1], 48), "a NAT64 address"),
    (v6([0xfc00, 0, 0], 7), "a unique local address"),
    (v6([0xfe80, 0, 0], 10), "a link-local address"),
    (v6([0xfec0, 0, 0], 10), "a site-local address"),
    (v6([0xff00, 0, 0], 8), "a multicast address"),
    // The unspecified address and deprecated IPv4-compatible addresses.
    (v6([0, 0, 0], 96), "an IPv4-compatible address"),
];

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

/// Checks a URL before name resolution, and returns its `host:port`. IP literals are checked here, because no look-up
/// follows for them; the `url` crate has normalised their decimal, hexadecimal and octal spellings.
pub(crate) fn check_url(url: &Url, allow_loopback: bool) -> Result<String, TargetRefused> {
    if !matches!(url.scheme(), "https" | "http") {
        return Err(TargetRefused::NotHttps);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(TargetRefused::UserInfo);
    }
    let host = url.host().ok_or(TargetRefused::NoHost)?;
    let port = url.port_or_known_default().filter(|port| *port != 0);
    let port = port.ok_or(TargetRefused::NoHost)?;
    let name = normalised(&host).ok_or(TargetRefused::NoHost)?;
    if url.scheme() == "http" && !(allow_loopback && is_this_machine(&host)) {
        return Err(TargetRefused::NotHttps);
    }
    match host {
        Host::Domain(_) => {}
        Host::Ipv4(ip) => check(IpAddr::V4(ip), allow_loopback)?,
        Host::Ipv6(ip) => check(IpAddr::V6(ip), allow_loopback)?,
    }
    Ok(format!("{name}:{port}"))
}

/// The `host:port` of a callback URL that a push may reach: the key of approvals and delivery workers.
pub fn callback_host(url: &str, allow_loopback: bool) -> Result<String, String> {
    let url = Url::parse(url).map_err(|error| format!("is not a URL: {error}"))?;
    check_url(&url, allow_loopback).map_err(|refused| refused.to_string())
}

/// Loopback addresses, `localhost` and names under it.
fn is_this_machine(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => name.trim_end_matches('.').rsplit('.').next() == Some("localhost"),
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => IpAddr::V6(*ip).to_canonical().is_loopback(),
    }
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

/// Whether a push may connect to this address. `allow_loopback` opens loopback only.
pub fn check(ip: IpAddr, allow_loopback: bool) -> Result<(), TargetRefused> {
    // An IPv4-mapped IPv6 address reaches the same machine.
    let ip = ip.to_canonical();
    if ip.is_loopback() {
        return if allow_loopback {
            Ok(())
        } else {
            Err(TargetRefused::Address("a loopback address"))
        };
    }
    let blocked = match ip {
        IpAddr::V4(ip) => BLOCKED_V4
            .iter()
            .find(|(net, _)| net.contains(&ip))
            .map(|(_, name)| *name),
        IpAddr::V6(ip) => blocked_v6(ip),
    };
    blocked.map_or(Ok(()), |name| Err(TargetRefused::Address(name)))
}

fn blocked_v6(ip: Ipv6Addr) -> Option<&'static str> {
    let named = BLOCKED_V6
        .iter()
        .find(|(net, _)| net.contains(&ip))
        .map(|(_, name)| *name);
    named.or_else(|| (!GLOBAL_UNICAST.contains(&ip)).then_some("a non-public address"))
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
            assert_eq!(callback_host(url, true).as_deref(), Ok(host), "{url}");
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
            assert!(callback_host(url, true).is_err(), "{url}");
        }
    }

    #[test]
    fn loopback_and_plain_http_are_refused_unless_allowed() {
        for (url, reason) in [
            ("https://127.1/", TargetRefused::Address("a loopback address")),
            ("https://0x7f000001/", TargetRefused::Address("a loopback address")),
            (
                "https://[::ffff:10.0.0.1]/",
                TargetRefused::Address("a private address"),
            ),
            ("http://127.0.0.1/", TargetRefused::NotHttps),
            ("http://localhost/", TargetRefused::NotHttps),
            ("http://hooks.example/", TargetRefused::NotHttps),
        ] {
            assert_eq!(callback_host(url, false), Err(reason.to_string()), "{url}");
        }
        assert!(
            callback_host("http://hooks.example/", true).is_err(),
            "only this machine"
        );
        assert!(
            callback_host("https://10.0.0.1/", true).is_err(),
            "only loopback is allowed"
        );
    }

    fn checked(ip: &str, allow_loopback: bool) -> Result<(), TargetRefused> {
        check(ip.parse().unwrap(), allow_loopback)
    }

    #[test]
    fn public_addresses_are_allowed() {
        for ip in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.32.0.1",
            "223.255.255.255",
        ] {
            assert_eq!(checked(ip, false), Ok(()), "{ip}");
        }
        for ip in ["2606:4700::1111", "2a00:1450::1", "2001:200::1", "::ffff:1.1.1.1"] {
            assert_eq!(checked(ip, false), Ok(()), "{ip}");
        }
    }

    #[test]
    fn edges_of_every_blocked_range_are_blocked() {
        for (net, name) in BLOCKED_V4 {
            for ip in [net.network(), net.broadcast()] {
                assert!(check(IpAddr::V4(ip), false).is_err(), "{ip} is {name}");
                assert!(
                    check(IpAddr::V6(ip.to_ipv6_mapped()), false).is_err(),
                    "mapped {ip} is {name}"
                );
            }
        }
        for (net, name) in BLOCKED_V6 {
            for ip in [net.network(), net.broadcast()] {
                assert!(check(IpAddr::V6(ip), false).is_err(), "{ip} is {name}");
            }
        }
        for ip in [
            "::",
            "::7f00:1",
            "100::1",
            "5f00::1",
            "4000::1",
            "1fff::1",
            "fd00:ec2::254",
        ] {
            assert!(checked(ip, false).is_err(), "{ip}");
        }
    }

    #[test]
    fn development_flag_opens_loopback_only() {
        for ip in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(
                checked(ip, false),
                Err(TargetRefused::Address("a loopback address")),
                "{ip}"
            );
            assert_eq!(checked(ip, true), Ok(()), "{ip}");
        }
        for ip in [
            "10.0.0.1",
            "169.254.169.254",
            "0.0.0.0",
            "::",
            "fe80::1",
            "fd00::1",
            "64:ff9b::7f00:1",
        ] {
            assert!(checked(ip, true).is_err(), "{ip}");
        }
    }
}

//! The hub's address as browsers open it.

use url::{Host, Url};

/// A loopback IP is replaced by `localhost`: a passkey belongs to a name, never to an IP address, and browsers do not send
/// the cookies of one to the other.
pub fn browser_url(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else {
        return url.to_owned();
    };
    let is_this_machine = match parsed.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(_)) | None => false,
    };
    if is_this_machine && parsed.set_host(Some("localhost")).is_err() {
        return url.to_owned();
    }
    parsed.as_str().trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loopback_address_becomes_localhost() {
        assert_eq!(browser_url("http://127.0.0.1:7422"), "http://localhost:7422");
        assert_eq!(browser_url("http://[::1]:7422"), "http://localhost:7422");
        assert_eq!(browser_url("https://hub.example"), "https://hub.example");
        assert_eq!(browser_url("https://10.0.0.5:8443"), "https://10.0.0.5:8443");
        assert_eq!(browser_url(""), "");
    }
}

//! The address under which a page was opened.

use url::{Host, Url};

/// True for a loopback IP address, under which passkeys do not work.
pub fn is_loopback_ip(host: &str) -> bool {
    Url::parse(&format!("http://{host}")).is_ok_and(|url| match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(_)) | None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_ip_addresses_count() {
        assert!(is_loopback_ip("127.0.0.1:7422") && is_loopback_ip("[::1]:7422"));
        assert!(!is_loopback_ip("localhost:7422") && !is_loopback_ip("10.0.0.5") && !is_loopback_ip(""));
    }
}

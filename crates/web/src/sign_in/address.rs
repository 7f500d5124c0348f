//! Where people open the hub.

use url::{Host, Url};

/// Whether a page was opened under a number of this machine, where its passkeys do not work.
pub fn is_loopback_number(host: &str) -> bool {
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
    fn only_numbers_of_this_machine_are_such() {
        assert!(is_loopback_number("127.0.0.1:7422") && is_loopback_number("[::1]:7422"));
        assert!(!is_loopback_number("localhost:7422") && !is_loopback_number("10.0.0.5") && !is_loopback_number(""));
    }
}

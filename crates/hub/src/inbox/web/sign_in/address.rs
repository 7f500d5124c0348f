//! The address at which people open the hub.

use url::{Host, Url};

use crate::app::Hub;

impl Hub {
    /// The URL that people open in a browser. A passkey belongs to a host name and never to an IP address, and cookies
    /// of one are not sent to the other; so a loopback address becomes `localhost`.
    pub fn browser_url(&self) -> &str {
        self.browser_url.get_or_init(|| with_host_name(self.url()))
    }
}

fn with_host_name(url: &str) -> String {
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
    fn loopback_address_becomes_localhost() {
        assert_eq!(with_host_name("http://127.0.0.1:7422"), "http://localhost:7422");
        assert_eq!(with_host_name("http://[::1]:7422"), "http://localhost:7422");
        assert_eq!(with_host_name("https://hub.example"), "https://hub.example");
        assert_eq!(with_host_name("https://10.0.0.5:8443"), "https://10.0.0.5:8443");
        assert_eq!(with_host_name(""), "");
    }

    #[test]
    fn only_loopback_ip_addresses_count() {
        assert!(is_loopback_ip("127.0.0.1:7422") && is_loopback_ip("[::1]:7422"));
        assert!(!is_loopback_ip("localhost:7422") && !is_loopback_ip("10.0.0.5") && !is_loopback_ip(""));
    }
}

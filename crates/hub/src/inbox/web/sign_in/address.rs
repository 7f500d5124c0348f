//! Where people open the hub.

use url::{Host, Url};

use crate::app::Hub;

impl Hub {
    /// What people open in a browser. A passkey belongs to a name and never to an IP address, and the cookies of the one
    /// are not sent to the other; so this machine is always called `localhost`.
    pub fn browser_url(&self) -> &str {
        self.browser_url.get_or_init(|| named(self.url()))
    }
}

fn named(url: &str) -> String {
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
    fn this_machine_is_called_by_its_name() {
        assert_eq!(named("http://127.0.0.1:7422"), "http://localhost:7422");
        assert_eq!(named("http://[::1]:7422"), "http://localhost:7422");
        assert_eq!(named("https://hub.example"), "https://hub.example");
        assert_eq!(named("https://10.0.0.5:8443"), "https://10.0.0.5:8443");
        assert_eq!(named(""), "");
    }

    #[test]
    fn only_numbers_of_this_machine_are_such() {
        assert!(is_loopback_number("127.0.0.1:7422") && is_loopback_number("[::1]:7422"));
        assert!(!is_loopback_number("localhost:7422") && !is_loopback_number("10.0.0.5") && !is_loopback_number(""));
    }
}

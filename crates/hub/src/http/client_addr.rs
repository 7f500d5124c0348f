//! The client address of a request, and both ends of its connection.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, Request};
use countersign_config::TrustedProxies;

use crate::Hub;

const FORWARDED_FOR: &str = "x-forwarded-for";
/// Longer chains of proxies are a misconfiguration or an attack.
const MAX_PROXIES: usize = 16;

/// Both ends of the TCP connection of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoints {
    pub client: SocketAddr,
    pub hub: SocketAddr,
}

impl Endpoints {
    /// Adds the addresses to the request, only for sign-in and the run socket, to spare other requests the cost.
    pub fn attach_to<B>(self, mut request: Request<B>) -> Request<B> {
        let path = request.uri().path();
        if path.starts_with("/signin") || path == "/ws" {
            request.extensions_mut().insert(self);
        }
        request
    }
}

/// The address of the connection. Clients can write any header, so forwarding headers count only when a trusted proxy
/// sends them; as an extractor this gives the client behind that proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddr(pub IpAddr);

impl ClientAddr {
    /// A request without a connection, as in tests, gets the unspecified address.
    fn from_extensions(extensions: &Extensions) -> Self {
        let endpoints: Option<&Endpoints> = extensions.get();
        Self(endpoints.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |endpoints| endpoints.client.ip()))
    }

    /// Every proxy appends its client on the right. So the first address from the right that is not a trusted proxy is
    /// the client, and anything left of it is unverified. If that entry is not an address, the proxy counts as the
    /// client.
    fn behind_proxies(self, proxies: &TrustedProxies, headers: &HeaderMap) -> Self {
        if !proxies.contains(self.0) {
            return self;
        }
        let lines = headers.get_all(FORWARDED_FOR).iter().rev();
        let names = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
        let mut hops = names.take(MAX_PROXIES).map(parse_address);
        let client = hops.find(|hop| hop.is_none_or(|address| !proxies.contains(address)));
        client.flatten().map_or(self, Self)
    }
}

fn parse_address(name: &[u8]) -> Option<IpAddr> {
    let address: IpAddr = std::str::from_utf8(name).ok()?.trim().parse().ok()?;
    Some(address.to_canonical())
}

impl FromRequestParts<Arc<Hub>> for ClientAddr {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Infallible> {
        Ok(Self::from_extensions(&parts.extensions).behind_proxies(&hub.config.trusted_proxies, &parts.headers))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// The client address when `peer` connects with these header lines.
    fn client(peer: &str, lines: &[&str]) -> IpAddr {
        let proxies = TrustedProxies::parse(&["127.0.0.1".to_owned(), "10.0.3.0/24".to_owned()]).unwrap();
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED_FOR, HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        ClientAddr(address(peer)).behind_proxies(&proxies, &headers).0
    }

    #[test]
    fn trusted_proxy_names_the_client() {
        assert_eq!(client("127.0.0.1", &["192.0.2.7"]), address("192.0.2.7"));
        assert_eq!(client("::ffff:127.0.0.1", &["192.0.2.7"]), address("192.0.2.7"));
        assert_eq!(client("127.0.0.1", &["2001:db8::7"]), address("2001:db8::7"));
        assert_eq!(client("127.0.0.1", &["::ffff:192.0.2.7"]), address("192.0.2.7"));
    }

    #[test]
    fn untrusted_peer_cannot_name_a_client() {
        assert_eq!(client("192.0.2.66", &["192.0.2.7"]), address("192.0.2.66"));
        assert_eq!(client("127.0.0.2", &["192.0.2.7"]), address("127.0.0.2"));
    }

    #[test]
    fn chained_proxies_are_skipped_from_the_right() {
        assert_eq!(client("127.0.0.1", &["192.0.2.7, 10.0.3.9"]), address("192.0.2.7"));
        assert_eq!(
            client("127.0.0.1", &["192.0.2.7", "10.0.3.9,10.0.3.8"]),
            address("192.0.2.7"),
            "in two header lines"
        );
    }

    #[test]
    fn forged_header_entries_are_ignored() {
        for invented in [
            "198.51.100.1",
            "10.0.3.9",
            "nonsense",
            "",
            "\u{fc}",
            &"198.51.100.1, ".repeat(1000),
        ] {
            assert_eq!(
                client("127.0.0.1", &[&format!("{invented}, 192.0.2.7")]),
                address("192.0.2.7"),
                "{invented}"
            );
            assert_eq!(
                client("127.0.0.1", &[invented, "192.0.2.7"]),
                address("192.0.2.7"),
                "{invented}"
            );
        }
    }

    #[test]
    fn without_a_client_address_the_proxy_counts() {
        let endless = "10.0.3.9, ".repeat(1000) + "10.0.3.9";
        let none: [&[&str]; 7] = [
            &[],
            &[""],
            &["unknown"],
            &["192.0.2.7, unknown"],
            &["192.0.2.7:443"],
            &["127.0.0.1, 10.0.3.9"],
            &["192.0.2.7", &endless],
        ];
        for lines in none {
            assert_eq!(client("127.0.0.1", lines), address("127.0.0.1"), "{lines:?}");
        }
    }
}

//! Trusted proxies, whose forwarding headers name the client address.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::ConfigError;

const KEY: &str = "trusted_proxies";

/// The networks of the operator's own proxies; empty by default.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    pub fn parse(texts: &[String]) -> Result<Self, ConfigError> {
        texts
            .iter()
            .map(|text| parse_network(text))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `address` may be an IPv4-mapped IPv6 address, as a listener on `[::]` sees it.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

fn parse_network(text: &str) -> Result<IpNet, ConfigError> {
    let network = text
        .parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    let Ok(network) = network else {
        let message = format!("{text:?} is not a network; write it as 127.0.0.1, 10.0.3.0/24 or 2001:db8::/64");
        return Err(ConfigError::invalid(KEY, message));
    };
    if network.prefix_len() == 0 {
        return Err(ConfigError::invalid(
            KEY,
            format!("{text} covers all addresses; name only the networks of your proxies"),
        ));
    }
    if matches!(network, IpNet::V6(v6) if v6.addr().to_ipv4_mapped().is_some()) {
        return Err(ConfigError::invalid(
            KEY,
            format!("{text} is IPv4 written as IPv6; write it as IPv4"),
        ));
    }
    Ok(network)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(texts: &[&str]) -> Result<TrustedProxies, String> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        TrustedProxies::parse(&texts).map_err(|error| error.to_string())
    }

    #[test]
    fn only_named_networks_are_trusted() {
        let proxies = parsed(&["127.0.0.1", "10.0.3.0/24", "2001:db8::/64"]).unwrap();
        for inside in ["127.0.0.1", "::ffff:127.0.0.1", "10.0.3.255", "2001:db8::7"] {
            assert!(proxies.contains(inside.parse().unwrap()), "{inside}");
        }
        for outside in ["127.0.0.2", "10.0.4.0", "::1", "2001:db8:0:1::7"] {
            assert!(!proxies.contains(outside.parse().unwrap()), "{outside}");
        }
        assert!(!TrustedProxies::default().contains("127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn invalid_proxy_network_is_refused_with_its_text() {
        for wrong in [
            "",
            "proxy.example",
            "10.0.3.0/33",
            "10.0.3",
            "0.0.0.0/0",
            "::/0",
            "::ffff:10.0.3.0/120",
        ] {
            let error_text = parsed(&["127.0.0.1", wrong]).unwrap_err();
            assert!(
                error_text.starts_with("trusted_proxies: ") && error_text.contains(wrong),
                "{error_text}"
            );
        }
    }
}

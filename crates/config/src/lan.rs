//! `serve --lan`: the address of this machine in its own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use crate::ConfigError;

/// Reserved for documentation, so no machine has it. Connecting a UDP socket sends nothing; it only chooses the address
/// that packets would be sent from.
const ANY_OTHER_NETWORK: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 0, 2, 1), 9);
const ALTERNATIVES: &str = "use a tunnel or a proxy that serves TLS, and give its address with --public-url";

/// The address of the network that this machine uses by default.
pub fn own_lan_address() -> Result<IpAddr, ConfigError> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0));
    let address = socket.and_then(|socket| {
        socket.connect(ANY_OTHER_NETWORK)?;
        socket.local_addr()
    });
    match address {
        Ok(address) if !address.ip().is_loopback() && !address.ip().is_unspecified() => Ok(address.ip()),
        Ok(_) | Err(_) => {
            let message =
                format!("this machine has no network address; connect it, give --lan=ADDR, or {ALTERNATIVES}");
            Err(ConfigError::invalid("--lan", message))
        }
    }
}

/// The address to listen on besides loopback. A certificate made here proves nothing to strangers, so only a private
/// network will do.
pub fn check_lan(ip: IpAddr, listen: SocketAddr, has_address: bool) -> Result<SocketAddr, ConfigError> {
    let refuse = |message: String| Err(ConfigError::invalid("--lan", message));
    if has_address {
        return refuse("the configuration has a public_url or a certificate already; leave --lan out".to_owned());
    }
    if !listen.ip().is_loopback() || listen.port() == 0 {
        return refuse(format!(
            "listens besides loopback and on the same port, so --listen must be loopback with a port, not {listen}"
        ));
    }
    if !is_private(ip) {
        return refuse(format!("{ip} is not an address of a private network; {ALTERNATIVES}"));
    }
    Ok(SocketAddr::new(ip, listen.port()))
}

fn is_private(ip: IpAddr) -> bool {
    match ip {
        // 100.64.0.0/10 is used by private overlay networks.
        IpAddr::V4(ip) => {
            let [first, second, ..] = ip.octets();
            ip.is_private() || ip.is_loopback() || (first == 100 && second & 0xc0 == 64)
        }
        IpAddr::V6(ip) => ip == Ipv6Addr::LOCALHOST || ip.is_unique_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(ip: &str, listen: &str, has_address: bool) -> Result<String, String> {
        check_lan(ip.parse().unwrap(), listen.parse().unwrap(), has_address)
            .map(|address| address.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn only_a_private_address_is_opened() {
        let on_loopback = |ip| checked(ip, "127.0.0.1:7422", false);
        assert_eq!(on_loopback("192.168.1.5").unwrap(), "192.168.1.5:7422");
        assert_eq!(on_loopback("fd00::5").unwrap(), "[fd00::5]:7422");
        assert!(on_loopback("100.100.1.2").is_ok());
        for public in ["203.0.113.5", "0.0.0.0", "100.128.0.1", "2001:db8::1", "::"] {
            let error = on_loopback(public).unwrap_err();
            assert!(error.contains("tunnel") && error.contains(public), "{error}");
        }
    }

    #[test]
    fn it_goes_with_a_hub_on_loopback_that_has_no_other_address() {
        assert!(checked("192.168.1.5", "192.168.1.5:7422", false).is_err());
        assert!(checked("192.168.1.5", "127.0.0.1:0", false).is_err());
        assert!(
            checked("192.168.1.5", "127.0.0.1:7422", true)
                .unwrap_err()
                .contains("leave --lan out")
        );
    }
}
